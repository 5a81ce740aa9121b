"""Rows for fine-tuning: an evaluator's prompt and its labels, or a role's prompt and its next turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from outputs.actor_prompts import ActorMessages
from outputs.aspects import ASPECTS, TASK_OF, Aspect
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
from outputs.dataset.scenes import Scenes
from outputs.discretion import reveals
from outputs.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.formats.registry import FORMATS
from outputs.formats.shape import Prompt, RowFormat
from outputs.selection import SelectedDialogue
from prompts.environment import Templates
from prompts.question import Message
from prompts.tasks.answers import labels_answer
from prompts.tasks.asked import misfits
from prompts.tasks.items import TaskItem, standing_question
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.dialogue import History, TacticLabel, Turn
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
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
    """Whether the answer gives the generator's reason before each label of the utterance."""
    subset: str = field(default="label", init=False)
    _left_out: Counter[str] = field(default_factory=Counter, init=False)
    _scenes: Scenes = field(default_factory=Scenes, init=False)

    def __post_init__(self) -> None:
        self._prompts = _task_prompts(
            self.templates, self.scheme, self.aspects, rationale=self.rationale
        )
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
        turns = selected.dialogue.turns
        history = selected.dialogue.history()
        goal: tuple[TacticLabel, ...] = ()
        if self.scheme.assigned:
            goal = (TacticLabel(self.scheme.assigned, selected.dialogue.case.goal),)
        base = provenance(selected)
        targets = [place for place, turn in enumerate(turns) if self._is_labelled(turn)]
        for place in targets:
            turn = turns[place]
            plain = labels_answer([*turn.tactic, *goal], asked=self._asked_of(turn))
            labels = self._values.of(selected, turn)
            for aspect in self.aspects:
                if aspect == "conversation" or aspect not in self._prompts:
                    continue
                known = {"id": f"{base['case']}/{base['arm']}/{turn.index}/{aspect}", **base}
                asked = self._asked(str(known["id"]), selected, aspect, history, place)
                answer = self._reasons(selected, turn, asked, goal) if self.rationale else plain
                if answer is not None:
                    learnt = self.row_format.example(asked, answer)
                    yield self._row(known, aspect, turn, labels, learnt)
        if targets and "conversation" in self.aspects and "conversation" in self._prompts:
            known = {"id": f"{base['case']}/{base['arm']}/conversation", **base}
            asked = self._asked(str(known["id"]), selected, "conversation", history)
            learnt = self.row_format.example(asked, labels_answer(goal))
            labels = self._values.of(selected, None)
            yield self._row(known, "conversation", None, labels, learnt)

    def _row(self, known: Row, aspect: Aspect, turn: Turn | None, labels: Row, learnt: Row) -> Row:
        index = None if turn is None else turn.index
        return {**known, "turn": index, "aspect": aspect, **labels, **learnt}

    def _asked(
        self,
        row_id: str,
        selected: SelectedDialogue,
        aspect: Aspect,
        history: History,
        target: int | None = None,
    ) -> tuple[Message, ...]:
        """Return what a model is asked about one utterance, or about the conversation."""
        item = TaskItem(
            id=row_id,
            scene=self._scenes.view(selected),
            turns=history if target is None else history[: target + 1],
            target=target,
            standing=None if target is None else standing_question(history, target),
            scenario=selected.dialogue.case.scenario,
        )
        (asked,) = self._prompts[aspect].questions(item)
        return asked.question.messages

    def _reasons(
        self,
        selected: SelectedDialogue,
        turn: Turn,
        asked: Sequence[Message],
        goal: tuple[TacticLabel, ...],
    ) -> str | None:
        """Return the labels with their reasons, or None where the reasons would tell too much."""
        if not all(label.rationale for label in turn.tactic):
            self._left_out["rows left out that lack a rationale for a label"] += 1
            return None
        public = [message.content for message in asked]
        reasons = " ".join(label.rationale for label in turn.tactic)
        facts = _private(selected)
        if any(reveals(reasons, fact=f"{x.about} {x.text}", public=public) for x in facts):
            self._left_out["rows left out whose rationale may give the fact away"] += 1
            return None
        return labels_answer([*turn.tactic, *goal], reasoned=True, asked=self._asked_of(turn))

    def _asked_of(self, turn: Turn) -> tuple[str, ...]:
        """Return what a model is asked of such a turn; what is not asked beside its labels is null."""
        return tuple(d.id for d in self.scheme.utterance_dimensions if d.concerns(turn.role))


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
            if not turn.is_of_labelled_role and turn.kind == "improvised":
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
    """Return whether the goal of a dialogue forbids saying what is false.

    Where a scheme assigns nothing, nobody was told to deceive.
    """
    return not scheme.assigned or selected.dialogue.case.goal in scheme.truthful_goals


def require_truthful_goals(scheme: Scheme) -> None:
    """Do nothing where a scheme tells which goals are truthful.

    Raises:
        UsageError: it does not, so nothing could be left out as deceptive.
    """
    if scheme.assigned and not scheme.truthful_goals:
        raise UsageError(
            f"the scheme {scheme.id!r} does not say which of its goals are truthful",
            "state it as a contradiction of the scheme, or take all with --include-deception",
        )


def deceptive_goals(scheme: Scheme, by_goal: Mapping[str, int]) -> tuple[str, ...]:
    """Return the goals that occur and do not forbid saying what is false."""
    if not scheme.assigned:
        return ()
    return tuple(goal for goal, n in by_goal.items() if n and goal not in scheme.truthful_goals)


def _label_rows(scheme: Scheme, options: ExportOptions) -> LabelRows:
    shape = FORMATS.get(options.format)
    return LabelRows(scheme, Templates(), shape, options.aspects, options.rationale)


def _label_prompts(scheme: Scheme, options: ExportOptions) -> str:
    prompts = _task_prompts(Templates(), scheme, options.aspects, rationale=options.rationale)
    return fingerprint([prompts[a].fingerprint for a in options.aspects if a in prompts])


def _task_prompts(
    templates: Templates, scheme: Scheme, aspects: Sequence[Aspect], *, rationale: bool
) -> dict[Aspect, TaskPrompts]:
    """Return the questions of each aspect; nobody gave a reason for the goal of a conversation.

    There are none of a task that asks for what a scheme lacks, such as a goal.
    """
    tasks = {aspect: load_task(TASK_OF[aspect]) for aspect in aspects}
    return {
        aspect: TaskPrompts(
            templates,
            scheme,
            task,
            mode="cot" if rationale and aspect != "conversation" else "zero-shot",
        )
        for aspect, task in tasks.items()
        if not any(misfits(task, scheme))
    }


def _private(selected: SelectedDialogue) -> tuple[Fact, ...]:
    """Return what one of the people alone knows in a dialogue."""
    own = selected.dialogue.case.fact
    return (selected.scenario.fact(own),) if own else selected.scenario.facts


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
