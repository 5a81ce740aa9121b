"""Rows for fine-tuning: an evaluator's prompt and its labels, or a role's prompt and its next turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from outputs.dataset.columns import (
    PROVENANCE,
    REPLACED,
    TURN,
    LabelValues,
    Reading,
    Row,
    is_labelled,
    label_columns,
    left_out_notes,
    provenance,
    was_replaced,
)
from outputs.dataset.manifest import Column
from outputs.formats.registry import FORMATS
from outputs.formats.shape import Prompt, RowFormat
from outputs.kinds.aspects import Aspect
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask, KindOption
from outputs.rows.actor_lines import ActorLines, actor_lines, actor_prompts
from outputs.rows.label_rows import ASPECT, LabelRows, label_tasks, task_prompts
from outputs.rows.learnt_once import LearntOnce
from outputs.rows.people_rows import PeopleRows
from outputs.selecting.left_out import (
    DECEPTIVE,
    MISSED_GOAL,
    NO_QUESTION,
    REPLACED_BY_EXPERTS,
    UNLABELLED,
)
from outputs.selecting.selection import SelectedDialogue
from prompts.environment import Templates
from scenarios.dialogue import Turn
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme


@dataclass
class ActorRows:
    """What one of the two people knows, and what that person says next."""

    scheme: Scheme
    actors: ActorLines
    row_format: RowFormat
    task: Literal["actor", "initiator"] = "actor"
    include_deception: bool = False
    """Whether the responder of deceptive dialogues is learnt from, too."""
    reading: Reading = field(default=Reading(wanted=True, rationales=True), init=False)
    _left_out: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        self._labels = label_columns(self.scheme)
        self._values = LabelValues(self.scheme)
        self._is_labelled = is_labelled(self.scheme)
        self._once = LearntOnce()
        if self.task == "actor" and not self.include_deception:
            require_truthful_goals(self.scheme)

    @property
    def subset(self) -> str:
        """What the rows are for."""
        return self.task

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        return (*PROVENANCE, TURN, *self._labels, *self.row_format.example_columns)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield one row per improvised utterance of the role."""
        for selected in batch:
            if self.task == "initiator":
                yield from self._questions(selected)
            elif not why_not_learnt(selected, include_deception=self.include_deception):
                yield from self._answers(selected)

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return why a dialogue gave no row; empty where its rows repeat others."""
        turns = selected.dialogue.turns
        if self.task == "initiator":
            return "" if any(map(_is_improvised_question, turns)) else NO_QUESTION
        if why_not := why_not_learnt(selected, include_deception=self.include_deception):
            return why_not
        labelled = [turn for turn in turns if self._is_labelled(turn)]
        if not labelled:
            return UNLABELLED
        replaced = all(was_replaced(selected, turn) for turn in labelled)
        return REPLACED_BY_EXPERTS if replaced else ""

    @property
    def repeats(self) -> int:
        """Rows left out that say what an earlier one says."""
        return self._once.repeats

    def notes(self) -> tuple[str, ...]:
        """Say what was left out, and which prompts nobody was sent."""
        return left_out_notes(self._left_out + self.actors.counts)

    def _answers(self, selected: SelectedDialogue) -> Iterator[Row]:
        turns = selected.dialogue.turns
        base = provenance(selected)
        for turn in turns:
            if self._is_labelled(turn):
                if was_replaced(selected, turn):
                    self._left_out[REPLACED] += 1
                    continue
                asked = self.actors.before(selected, turn)
                said = self.actors.answer(asked, selected, turn.text, turn.tactic)
                if self._once.is_new((asked, said)):
                    yield self._row(base, turn, self._values.of(selected, turn), asked, said)

    def _questions(self, selected: SelectedDialogue) -> Iterator[Row]:
        turns = selected.dialogue.turns
        # Who speaks in these rows is the initiator.
        base = provenance(selected) | {"model": selected.models.get("initiator", "unknown")}
        for turn in turns:
            if _is_improvised_question(turn):
                asked = self.actors.before(selected, turn)
                labels = self._values.of(selected, turn)
                said = self.actors.question(turn.text)
                if self._once.is_new((asked, said)):
                    yield self._row(base, turn, labels, asked, said)

    def _row(self, base: Row, turn: Turn, labels: Row, asked: Prompt, said: str) -> Row:
        return {
            "id": f"{base['case']}/{base['arm']}/{turn.index}",
            **base,
            "turn": turn.index,
            **labels,
            **self.row_format.example(asked, said),
        }


def _is_improvised_question(turn: Turn) -> bool:
    return not turn.is_of_labelled_role and turn.kind == "improvised"


def why_not_learnt(selected: SelectedDialogue, *, include_deception: bool) -> str:
    """Return why nobody is to learn speaking from a dialogue, as what is left out is named, or "".

    It is deceptive, where that is not asked for: its goal, the expert's if one decided, does not
    forbid saying what is false. Where a scheme assigns nothing, nobody was told to deceive. Or an
    expert found another goal in it than was assigned: it does not do what its prompt asks for.
    """
    scheme = selected.scheme
    if selected.missed_its_goal:
        return MISSED_GOAL
    truthful = not scheme.assigned or selected.goal in scheme.truthful_goals
    return "" if include_deception or truthful else DECEPTIVE


def require_truthful_goals(scheme: Scheme) -> None:
    """Do nothing where a scheme tells which goals are truthful.

    Raises:
        UsageError: it does not, so nothing could be left out as deceptive.
    """
    if scheme.assigned and not scheme.truthful_goals:
        raise UsageError(
            f"the scheme {scheme.id!r} does not say which of its goals are truthful",
            "name a label that a truthful goal never has under contradictions of the scheme (docs/scenarios.md),"
            " or take all with --include-deception",
        )


def deceptive_goals(scheme: Scheme, by_goal: Mapping[str, int]) -> tuple[str, ...]:
    """Return the goals that occur and do not forbid saying what is false."""
    if not scheme.assigned:
        return ()
    return tuple(goal for goal, n in by_goal.items() if n and goal not in scheme.truthful_goals)


def _label_rows(scheme: Scheme, options: ExportOptions) -> LabelRows:
    return LabelRows(
        scheme,
        Templates(),
        FORMATS.get(options.format),
        options.aspects,
        options.rationale,
        options.prompt,
        options.goal_of_lines,
    )


def _label_prompts(scheme: Scheme, options: ExportOptions) -> str:
    tasks = label_tasks(options.aspects, options.prompt, goal_of_lines=options.goal_of_lines)
    prompts = task_prompts(Templates(), scheme, tasks, rationale=options.rationale)
    return fingerprint([prompts[a].fingerprint for a in options.aspects if a in prompts])


def _people_rows(scheme: Scheme, options: ExportOptions) -> PeopleRows:
    rows = replace(_label_rows(scheme, _of_lines(options)), keeps_repeats=True)
    return PeopleRows(rows)


def _people_prompts(scheme: Scheme, options: ExportOptions) -> str:
    return _label_prompts(scheme, _of_lines(options))


def _of_lines(options: ExportOptions) -> ExportOptions:
    """Return the options without the conversation, of which people of utterances say nothing."""
    return replace(options, aspects=_aspects_of_lines(options))


def _aspects_of_lines(options: ExportOptions) -> tuple[Aspect, ...]:
    return tuple(aspect for aspect in options.aspects if aspect != "conversation")


def _actor_rows(scheme: Scheme, options: ExportOptions) -> ActorRows:
    shape = FORMATS.get(options.format)
    return ActorRows(
        scheme, actor_lines(scheme, options), shape, "actor", options.include_deception
    )


def _initiator_rows(scheme: Scheme, options: ExportOptions) -> ActorRows:
    return ActorRows(scheme, actor_lines(scheme, options), FORMATS.get(options.format), "initiator")


_ACTOR: frozenset[KindOption] = frozenset({"format", "prompt", "target"})
KIND = ExportKind(
    name="sft",
    about="training rows: an evaluator's prompt and the labels",
    tasks=(
        ExportTask(
            _label_rows,
            "label",
            frozenset({"aspects", "rationale", "format", "prompt", "goal_of_lines"}),
            prompts=_label_prompts,
            divided_by=ASPECT.name,
            configurations=lambda options: options.aspects,
        ),
        ExportTask(
            _people_rows,
            "people",
            frozenset({"aspects", "format", "prompt", "goal_of_lines"}),
            prompts=_people_prompts,
            divided_by=ASPECT.name,
            configurations=_aspects_of_lines,
            labels_from="people label dialogues on the page of hipo review serve RUN",
        ),
        ExportTask(
            _actor_rows,
            "actor",
            _ACTOR | {"include_deception"},
            trains_responder=True,
            prompts=actor_prompts,
        ),
        ExportTask(_initiator_rows, "initiator", _ACTOR, prompts=actor_prompts),
    ),
    hub_tasks=("text-generation", "text-classification"),
)
