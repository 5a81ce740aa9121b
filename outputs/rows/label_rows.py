"""Rows that teach to label: what a task asks about a dialogue, and the labels as its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from outputs.dataset.columns import (
    PROVENANCE,
    TURN,
    LabelValues,
    Reading,
    Row,
    is_labelled,
    label_columns,
    provenance,
)
from outputs.dataset.manifest import Column
from outputs.dataset.scenes import Scenes
from outputs.formats.shape import RowFormat
from outputs.kinds.aspects import ASPECTS, TASK_OF, Aspect, drawn_by
from outputs.kinds.system_prompt import SHORT, SystemPrompt
from outputs.rows.discretion import reveals
from outputs.rows.learnt_once import LearntOnce
from outputs.selecting.left_out import NO_REASON, TELLING_REASON, UNLABELLED, UNREASONED
from outputs.selecting.selection import SelectedDialogue
from prompts.environment import Templates
from prompts.question import Message
from prompts.tasks.answers import labels_answer
from prompts.tasks.asked import misfits
from prompts.tasks.items import SceneView, TaskItem, shown, standing_question
from prompts.tasks.model import GOAL, Task
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.dialogue import History, TacticLabel, Turn
from scenarios.schemes.model import Scheme
from scenarios.spec import Fact

ASPECT = Column("aspect", "text", "What is seen: utterance, cumulative, conversation.")


@dataclass
class LabelRows:
    """What a task asks a model, and the labels as its answer; the private fact is never shown.

    Source: HIPO, section 5 (fine-tuning).
    """

    scheme: Scheme
    templates: Templates
    row_format: RowFormat
    aspects: tuple[Aspect, ...] = ASPECTS
    rationale: bool = False
    """Whether the answer gives the generator's reason before each label of the utterance; rows without
    one are left out, those of conversations among them: nobody gave a reason for the goal."""
    system: SystemPrompt = SHORT
    goal_of_lines: bool = False
    """Whether the goal is asked for where a single line and its question are shown, which tell next
    to nothing of it."""
    keeps_repeats: bool = False
    """Whether rows that say what an earlier one says stay, since their number tells something."""
    subset: str = field(default="label", init=False)
    rows_left_out: Counter[str] = field(default_factory=Counter, init=False)
    """By reason."""
    _scenes: Scenes = field(default_factory=Scenes, init=False)

    def __post_init__(self) -> None:
        self._tasks = label_tasks(self.aspects, self.system, goal_of_lines=self.goal_of_lines)
        self._prompts = task_prompts(
            self.templates, self.scheme, self._tasks, rationale=self.rationale
        )
        self._asked_of = cache(self._find_asked_of)
        self._once = LearntOnce()
        self._labels = label_columns(self.scheme)
        self._values = LabelValues(self.scheme)
        self._is_labelled = is_labelled(self.scheme)

    @property
    def reading(self) -> Reading:
        """What has to be read."""
        return Reading(rationales=self.rationale)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        return (*PROVENANCE, TURN, ASPECT, *self._labels, *self.row_format.example_columns)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield one row per labelled utterance and aspect, and one for the conversation."""
        for selected in batch:
            yield from self._of_dialogue(selected)

    @property
    def repeats(self) -> int:
        """Rows left out that say what an earlier one says."""
        return self._once.repeats

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return why a dialogue gave no row; empty where its rows repeat others."""
        if not any(map(self._is_labelled, selected.dialogue.turns)):
            return UNLABELLED
        return UNREASONED if self.rationale else ""

    def _of_dialogue(self, selected: SelectedDialogue) -> Iterator[Row]:
        turns = selected.dialogue.turns
        targets = [place for place, turn in enumerate(turns) if self._is_labelled(turn)]
        if not targets:
            return
        base, history = provenance(selected), selected.dialogue.history()
        scene = self._scenes.view(selected)
        for place in targets:
            turn = turns[place]
            labels = self._values.of(selected, turn)
            for aspect in self.aspects:
                if aspect != "conversation" and aspect in self._prompts:
                    item = _item(selected, scene, aspect, history, place)
                    learnt = self._learnt(selected, aspect, item, turn)
                    if learnt is not None:
                        known = {"id": item.id, **base, "turn": turn.index, "aspect": aspect}
                        yield {**known, **labels, **learnt}
        if "conversation" in self._prompts:
            if self.rationale:
                self.rows_left_out[NO_REASON] += 1
                return
            item = _item(selected, scene, "conversation", history)
            learnt = self._learnt(selected, "conversation", item, None)
            if learnt is not None:
                known = {"id": item.id, **base, "turn": None, "aspect": "conversation"}
                yield {**known, **self._values.of(selected, None), **learnt}

    def _learnt(
        self, selected: SelectedDialogue, aspect: Aspect, item: TaskItem, turn: Turn | None
    ) -> Row | None:
        """Return the columns of question and answer; None where the row is to be left out."""
        (part,) = self._prompts[aspect].questions(item)
        asked = self.system.over(part.question.messages)
        answer = self._answer(selected, aspect, asked, turn)
        if answer is None:
            return None
        case, seen = selected.dialogue.case, shown(item, self._tasks[aspect].sees)
        scene = (case.scenario, case.scenario_fingerprint, case.language)
        said = (item.role, seen.history, seen.question, seen.utterance)
        if not (self.keeps_repeats or self._once.is_new((aspect, scene, said, answer))):
            return None
        return {**self.row_format.example(asked, answer)}  # of a plugin it may be no mapping

    def _answer(
        self,
        selected: SelectedDialogue,
        aspect: Aspect,
        asked: Sequence[Message],
        turn: Turn | None,
    ) -> str | None:
        """Return what is learnt, or None where reasons are lacking or would tell too much."""
        goal: tuple[TacticLabel, ...] = ()
        if self.scheme.assigned and GOAL in self._tasks[aspect].asks:
            goal = (TacticLabel(self.scheme.assigned, selected.goal),)
        if turn is None:
            return labels_answer(goal)
        if self.rationale:
            return self._reasons(selected, turn, asked, goal)
        asked_of = self._asked_of(turn.role)
        declared = [label for label in turn.tactic if label.dimension in asked_of]
        return labels_answer([*declared, *goal], asked=asked_of)

    def _reasons(
        self,
        selected: SelectedDialogue,
        turn: Turn,
        asked: Sequence[Message],
        goal: tuple[TacticLabel, ...],
    ) -> str | None:
        """Return the labels with their reasons, or None where these are lacking or would tell too much."""
        if not all(label.rationale for label in turn.tactic):
            self.rows_left_out[NO_REASON] += 1
            return None
        public = [message.content for message in asked]
        reasons = " ".join(label.rationale for label in turn.tactic)
        language = selected.dialogue.case.language
        if any(
            reveals(reasons, fact=f"{fact.about} {fact.text}", public=public, language=language)
            for fact in _private(selected)
        ):
            self.rows_left_out[TELLING_REASON] += 1
            return None
        return labels_answer([*turn.tactic, *goal], reasoned=True, asked=self._asked_of(turn.role))

    def _find_asked_of(self, role: str) -> tuple[str, ...]:
        """Return what a model is asked of a turn of a role; what is not asked beside its labels is null."""
        return tuple(d.id for d in self.scheme.utterance_dimensions if d.concerns(role))


def _item(
    selected: SelectedDialogue,
    scene: SceneView,
    aspect: Aspect,
    history: History,
    target: int | None = None,
) -> TaskItem:
    """Return one utterance, or the conversation, with what may be shown of it."""
    case = selected.dialogue.case
    turn = None if target is None else selected.dialogue.turns[target].index
    name = aspect if turn is None else f"{turn}/{aspect}"
    return TaskItem(
        id=f"{selected.dialogue.id}/{name}",
        scene=scene,
        turns=history if target is None else history[: target + 1],
        target=target,
        standing=None if target is None else standing_question(history, target),
        scenario=case.scenario,
        drawn_by=drawn_by(case.id, turn, aspect),
    )


def label_tasks(
    aspects: Sequence[Aspect], system: SystemPrompt, *, goal_of_lines: bool = False
) -> dict[Aspect, Task]:
    """Return what is asked about each aspect.

    Args:
        aspects: what may be seen of a dialogue.
        system: whether labels are defined.
        goal_of_lines: whether the goal is asked for beside a single line.
    """
    tasks: dict[Aspect, Task] = {}
    for aspect in aspects:
        task = load_task(TASK_OF[aspect])
        asks = task.asks
        if aspect == "utterance" and not goal_of_lines:
            asks = tuple(name for name in asks if name != GOAL)
        changes = {"asks": asks, "definitions": system.defines}
        tasks[aspect] = task.model_copy(update=changes)
    return tasks


def task_prompts(
    templates: Templates, scheme: Scheme, tasks: Mapping[Aspect, Task], *, rationale: bool
) -> dict[Aspect, TaskPrompts]:
    """Return the questions of each aspect.

    There are none of a task that asks for what a scheme lacks, such as a goal.
    """
    return {
        aspect: TaskPrompts(
            templates,
            scheme,
            task,
            mode="cot" if rationale else "zero-shot",
        )
        for aspect, task in tasks.items()
        if not any(misfits(task, scheme))
    }


def _private(selected: SelectedDialogue) -> tuple[Fact, ...]:
    """Return what one of the people alone knows in a dialogue."""
    own = selected.dialogue.case.fact
    return (selected.scenario.fact(own),) if own else selected.scenario.facts
