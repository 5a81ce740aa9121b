"""Questions about runs of turns: which of four descriptions says what the speaker wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prompts.tasks.items import SceneView, TaskItem
from prompts.tasks.model import Options
from prompts.tasks.option_order import chosen_options
from quality.persuasion.question_check import OptionQuestion
from quality.persuasion.runs_of_turns import RunOfTurns, SpokenTurn, runs_of_turns
from quality.persuasion.spoken_dialogues import FACE_ACT, INTENTION
from scenarios.dialogue import History
from scenarios.schemes.dimension import Dimension
from scenarios.spec import Scenario


@dataclass(frozen=True, slots=True)
class IntentionQuestion:
    """One question with its options."""

    id: str
    run: RunOfTurns
    context: History
    """What was said before the run."""
    labels: tuple[str, ...]
    """The labels behind the options, in the order of the options."""
    options: tuple[str, ...]
    """As they are shown."""
    face_act: str
    """The one that the right intention belongs to."""

    @property
    def right(self) -> int:
        """The place of the right option, from 0."""
        return self.labels.index(self.run.intention)

    @property
    def checked(self) -> OptionQuestion:
        """The question as the checker of options takes it."""
        return OptionQuestion(
            self.id,
            self.run.role,
            self.options,
            self.labels,
            self.right,
            self.run.intention,
            self.face_act,
        )


def names_of(scenario: Scenario) -> dict[str, str]:
    """Return what the wording of options takes from a scenario: the texts in its data."""
    return {name: text for name, text in scenario.data.items() if isinstance(text, str)}


def intention_questions(
    dialogue: str,
    turns: Sequence[SpokenTurn],
    dimension: Dimension,
    options: Options,
    names: Mapping[str, str],
    *,
    drawn_by: str = "",
) -> Iterator[IntentionQuestion]:
    """Yield a question about every run of turns of a dialogue.

    Args:
        dialogue: its id.
        turns: with the intentions that count.
        dimension: the intentions.
        options: how many wrong ones are listed, and by which rules.
        names: what placeholders in the wording of options stand for.
        drawn_by: decides with the place of the run which options are listed, and their order;
            empty: the dialogue does.
    """
    by_id = {label.id: label for label in dimension.labels}
    said: History = tuple((turn.role, turn.text) for turn in turns)
    scene = SceneView("", "", "", "", "", "")
    for run in runs_of_turns(turns):
        if run.intention not in by_id:
            continue
        place = f"{run.first}-{run.last}"
        name = f"{dialogue}/{place}"
        order = f"{drawn_by or dialogue}/{place}"
        item = TaskItem(name, scene, (), right={INTENTION: run.intention}, drawn_by=order)
        labels = chosen_options(dimension, options, item)
        yield IntentionQuestion(
            id=name,
            run=run,
            context=said[: run.first],
            labels=labels,
            options=tuple(by_id[label].worded(names) for label in labels),
            face_act=by_id[run.intention].applies.get(FACE_ACT, ("",))[0],
        )
