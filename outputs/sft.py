"""Rows for fine-tuning: an evaluator's prompt and its labels, or a role's prompt and its next turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from outputs.actor_prompts import ActorMessages
from outputs.dataset.columns import (
    DECEPTIVE,
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
from outputs.discretion import reveals
from outputs.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.formats.registry import FORMATS
from outputs.formats.shape import Prompt, RowFormat
from outputs.selection import SelectedDialogue
from prompts.environment import Templates
from prompts.evaluator import (
    ASPECTS,
    Aspect,
    EvaluatorPrompts,
    EvaluatorView,
    evaluation_answer,
    evaluator_view,
)
from prompts.question import Question
from scenarios.dialogue import History, TacticLabel, Turn
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

ASPECT = Column("aspect", "text", "What the evaluator sees: utterance, cumulative, conversation.")


@dataclass
class LabelRows:
    """The evaluator's prompt, and the labels as its answer; the private fact is never shown.

    Source: HIPO, section 5 (fine-tuning).
    """

    scheme: Scheme
    templates: Templates
    row_format: RowFormat
    aspects: tuple[Aspect, ...] = ASPECTS
    rationale: bool = False
    """Whether the answer gives the generator's reason before each label of the utterance."""
    subset: str = field(default="label", init=False)
    _left_out: Counter[str] = field(default_factory=Counter, init=False)
    _views: dict[tuple[str, str, str], EvaluatorView] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._prompts = EvaluatorPrompts(self.templates, self.scheme)
        self._reasoned = EvaluatorPrompts(self.templates, self.scheme, reasoned=True)
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

    def notes(self) -> tuple[str, ...]:
        """Say what was left out."""
        return left_out_notes(self._left_out)

    def _of_dialogue(self, selected: SelectedDialogue) -> Iterator[Row]:
        view = self._view(selected)
        turns = selected.dialogue.turns
        history = selected.dialogue.history()
        goal = TacticLabel(self.scheme.assigned, selected.dialogue.case.goal)
        base = provenance(selected)
        targets = [place for place, turn in enumerate(turns) if self._is_labelled(turn)]
        for place in targets:
            turn = turns[place]
            plain = evaluation_answer([*turn.tactic, goal])
            labels = self._values.of(selected, turn)
            for aspect in self.aspects:
                if aspect == "conversation":
                    continue
                seen = history[place if aspect == "utterance" else 0 : place + 1]
                answer = self._reasons(selected, turn, seen, goal) if self.rationale else plain
                if answer is not None:
                    asked = self._asked(view, aspect, seen)
                    learnt = self.row_format.example(asked.messages, answer)
                    yield self._row(base, aspect, turn, labels, learnt)
        if targets and "conversation" in self.aspects:
            asked = self._prompts.conversation(view, history)
            answer = evaluation_answer([goal])
            learnt = self.row_format.example(asked.messages, answer)
            yield self._row(base, "conversation", None, self._values.of(selected, None), learnt)

    def _row(
        self,
        base: Row,
        aspect: Aspect,
        turn: Turn | None,
        labels: Row,
        learnt: Row,
    ) -> Row:
        place = aspect if turn is None else f"{turn.index}/{aspect}"
        return {
            "id": f"{base['case']}/{base['arm']}/{place}",
            **base,
            "turn": None if turn is None else turn.index,
            "aspect": aspect,
            **labels,
            **learnt,
        }

    def _asked(self, view: EvaluatorView, aspect: Aspect, seen: History) -> Question[object]:
        """Return the prompt for the last of the utterances that are seen."""
        prompts = self._reasoned if self.rationale else self._prompts
        if aspect == "utterance":
            return prompts.utterance(view, seen[-1][1])
        return prompts.cumulative(view, seen[:-1], seen[-1][1])

    def _reasons(
        self, selected: SelectedDialogue, turn: Turn, seen: History, goal: TacticLabel
    ) -> str | None:
        """Return the labels with their reasons, or None where the reasons would tell too much."""
        if not all(label.rationale for label in turn.tactic):
            self._left_out["rows left out that lack a rationale for a label"] += 1
            return None
        fact = selected.scenario.fact(selected.dialogue.case.fact)
        view = self._view(selected)
        public = [
            self._reasoned.system("cumulative"), view.situation, view.initiator_description,
            view.responder_description, view.initiator, view.responder,
            *(text for _, text in seen),
        ]  # fmt: skip
        reasons = " ".join(label.rationale for label in turn.tactic)
        if reveals(reasons, fact=f"{fact.about} {fact.text}", public=public):
            self._left_out["rows left out whose rationale may give the fact away"] += 1
            return None
        return evaluation_answer([*turn.tactic, goal], reasoned=True)

    def _view(self, selected: SelectedDialogue) -> EvaluatorView:
        case = selected.dialogue.case
        key = (case.scenario, case.scenario_fingerprint, case.language)
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = evaluator_view(selected.scenario, case.language)
        return view


@dataclass
class ActorRows:
    """What one of the two people knows, and what that person says next."""

    scheme: Scheme
    actors: ActorMessages
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
            elif self.include_deception or is_truthful(self.scheme, selected):
                yield from self._answers(selected)
            else:
                self._left_out[DECEPTIVE] += 1

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
                yield self._row(base, turn, self._values.of(selected, turn), asked, said)

    def _questions(self, selected: SelectedDialogue) -> Iterator[Row]:
        turns = selected.dialogue.turns
        # Who speaks in these rows is the initiator.
        base = provenance(selected) | {"model": selected.models.get("initiator", "unknown")}
        for turn in turns:
            if turn.role == "initiator" and turn.kind == "improvised":
                asked = self.actors.before(selected, turn)
                labels = self._values.of(selected, None)
                yield self._row(base, turn, labels, asked, self.actors.question(turn.text))

    def _row(self, base: Row, turn: Turn, labels: Row, asked: Prompt, said: str) -> Row:
        return {
            "id": f"{base['case']}/{base['arm']}/{turn.index}",
            **base,
            "turn": turn.index,
            **labels,
            **self.row_format.example(asked, said),
        }


def is_truthful(scheme: Scheme, selected: SelectedDialogue) -> bool:
    """Return whether the goal of a dialogue forbids saying what is false."""
    return selected.dialogue.case.goal in scheme.truthful_goals


def require_truthful_goals(scheme: Scheme) -> None:
    """Do nothing where a scheme tells which goals are truthful.

    Raises:
        UsageError: it does not, so nothing could be left out as deceptive.
    """
    if not scheme.truthful_goals:
        raise UsageError(
            f"the scheme {scheme.id!r} does not say which of its goals are truthful",
            "state it as a contradiction of the scheme, or take all with --include-deception",
        )


def deceptive_goals(scheme: Scheme, by_goal: Mapping[str, int]) -> tuple[str, ...]:
    """Return the goals that occur and do not forbid saying what is false."""
    return tuple(goal for goal, n in by_goal.items() if n and goal not in scheme.truthful_goals)


def _label_rows(scheme: Scheme, options: ExportOptions) -> LabelRows:
    shape = FORMATS.get(options.format)
    return LabelRows(scheme, Templates(), shape, options.aspects, options.rationale)


def _label_prompts(scheme: Scheme, options: ExportOptions) -> str:
    return EvaluatorPrompts(Templates(), scheme, reasoned=options.rationale).fingerprint


def _actor_rows(scheme: Scheme, options: ExportOptions) -> ActorRows:
    shape = FORMATS.get(options.format)
    return ActorRows(scheme, ActorMessages(scheme), shape, "actor", options.include_deception)


def _initiator_rows(scheme: Scheme, options: ExportOptions) -> ActorRows:
    return ActorRows(scheme, ActorMessages(scheme), FORMATS.get(options.format), "initiator")


KIND = ExportKind(
    name="sft",
    about="training rows: an evaluator's prompt and the labels",
    tasks=(
        ExportTask(
            _label_rows,
            "label",
            frozenset({"aspects", "rationale", "format"}),
            prompts=_label_prompts,
        ),
        ExportTask(
            _actor_rows, "actor", frozenset({"format", "include_deception"}), trains_responder=True
        ),
        ExportTask(_initiator_rows, "initiator", frozenset({"format"})),
    ),
    hub_tasks=("text-generation", "text-classification"),
)
