"""The questions of one task in one mode: a fixed system message, and the options by item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from prompts.environment import MultilineText, Templates
from prompts.prompt import Prompt, make_prompt, transcript
from prompts.question import Question
from prompts.scheme_text import reader_text
from prompts.tasks.answers import AnswerForm, BlindLabel, FoundLabel
from prompts.tasks.asked import asked_dimensions
from prompts.tasks.items import FactView, SceneView, Shown, TaskItem, shown
from prompts.tasks.model import Mode, Task
from scenarios.dialogue import History
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint, seed_from
from scenarios.schemes.model import Dimension, Scheme

_SCENES = 1024
"""Rendered scenes that are kept: about as many as there are scenarios and languages."""
_INCLUDED: Final = (
    "answer_format.j2", "conversation.j2", "dimension.j2", "judge_labels.j2", "repair.j2",
    "task_examples.j2", "task_intro.j2", "task_private.j2", "task_rules.j2", "task_scene.j2",
    "terms.j2",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaskQuestion:
    """One question about one item."""

    dimensions: tuple[str, ...]
    """What it asks about, in the order of its labels."""
    question: Question[tuple[BlindLabel, ...]]
    options: Mapping[str, tuple[str, ...]]
    """By dimension the labels in the order in which they are listed; none where it is a number."""
    form: AnswerForm

    def found(self, reply: str) -> tuple[FoundLabel, ...]:
        """Return what a reply says on each dimension, in their order; it never fails."""
        return self.form.found(reply)


@dataclass(frozen=True, slots=True)
class _Part:
    """The prompt for one group of dimensions."""

    dimensions: tuple[Dimension, ...]
    form: AnswerForm
    prompt: Prompt[tuple[BlindLabel, ...]]


class TaskPrompts:
    """All questions of a task in one mode for one scheme.

    The system message, with every definition in the order of the scheme, is the same for every
    item, so that endpoints serve it from their caches; so is the schema of the answer, which some
    endpoints compile. What the order of options could tell stands at the end of the user message
    alone, and follows from the id of the item.
    """

    def __init__(
        self, templates: Templates, scheme: Scheme, task: Task, *, mode: Mode | None = None
    ) -> None:
        """Render the system messages, and every prompt once so that mistakes show early.

        Args:
            templates: where the texts come from.
            scheme: the labels that are asked for.
            task: what is asked and shown.
            mode: how; the first mode of the task if None.

        Raises:
            UsageError: the task does not fit the scheme or has no such mode, a template cannot be
                rendered, or a dimension is called like an answer key.
        """
        self.task = task
        self.mode: Mode = mode or task.modes[0]
        if self.mode not in task.modes:
            raise UsageError(
                f"the task {task.id} has no mode {self.mode!r}", f"modes: {', '.join(task.modes)}"
            )
        self._templates = templates
        self._stem = f"task_{task.subject}"
        self.dimensions = asked_dimensions(task, scheme)
        whole = (
            [self.dimensions] if task.questions == "together" else [(d,) for d in self.dimensions]
        )
        self._parts = tuple(self._part(scheme, dimensions) for dimensions in whole)
        self._scene = lru_cache(maxsize=_SCENES)(self._render_scene)
        names = (*_INCLUDED, f"{self._stem}_system.j2", f"{self._stem}_user.j2")
        self.fingerprint: str = fingerprint(
            [
                templates.fingerprint_of(names),
                scheme.content,
                task.model_dump(mode="json"),
                self.mode,
                [[part.prompt.system, part.prompt.answer.schema] for part in self._parts],
            ]
        )
        self._render_all()

    def questions(self, item: TaskItem, *, draw: int = 0) -> tuple[TaskQuestion, ...]:
        """Return what is asked about an item: one question, or one for each dimension.

        Args:
            item: what is labelled.
            draw: which worked examples are shown.

        Raises:
            UsageError: the item is not what the task labels, or lacks what the task shows.
        """
        self._check(item)
        seen = shown(item, self.task.sees)
        return tuple(self._question(part, item, seen) for part in self._parts)

    def _part(self, scheme: Scheme, dimensions: tuple[Dimension, ...]) -> _Part:
        form = AnswerForm(dimensions, self._reasoned(dimensions))
        static = {
            **reader_text(scheme, dimensions),
            "reasoned": bool(form.reasoned),
            "rules": self.task.rules,
            "fact_shown": self.task.shows_fact,
            "history_shown": self.task.sees.history != "none",
            "question_shown": self.task.sees.standing_question,
        }
        prompt = make_prompt(self._stem, self._templates, form.format("evaluation"), static)
        return _Part(dimensions, form, prompt)

    def _reasoned(self, dimensions: tuple[Dimension, ...]) -> frozenset[str]:
        """Return what gets a reason: what the question is about, not the goal beside it."""
        if self.mode != "cot":
            return frozenset()
        own = frozenset(d.id for d in dimensions if d.level == self.task.subject)
        return own or frozenset(d.id for d in dimensions)

    def _question(self, part: _Part, item: TaskItem, seen: Shown) -> TaskQuestion:
        options = {d.id: option_order(d, item.id) for d in part.dimensions}
        user = self._templates.render(
            f"{self._stem}_user.j2",
            {
                "examples": (),
                "scene": self._scene(item.scene),
                "fact": self._fact(item),
                "goal": item.goal if self.task.sees.goal else None,
                "history": transcript(seen.history),
                "question": seen.question,
                "utterance": seen.utterance,
                "several": len(part.dimensions) > 1,
                "skeleton": MultilineText(part.form.skeleton(options)),
            },
        )
        asked = tuple(dimension.id for dimension in part.dimensions)
        return TaskQuestion(asked, part.prompt.question(user), options, part.form)

    def _fact(self, item: TaskItem) -> FactView | None:
        if item.fact is None or not self.task.shows_fact:
            return None
        if self.task.sees.fact == "claims":
            return item.fact
        return FactView(item.fact.about, item.fact.text)

    def _check(self, item: TaskItem) -> None:
        if (item.target is None) != (self.task.subject == "dialogue"):
            subject = "a dialogue" if item.target is None else "an utterance"
            raise UsageError(
                f"item {item.id!r} is {subject}, and the task {self.task.id} is about"
                f" {'a dialogue' if self.task.subject == 'dialogue' else 'an utterance'}"
            )
        if self.task.shows_fact and item.fact is None:
            raise UsageError(
                f"the task {self.task.id} shows the private fact, and of item {item.id!r} it is"
                " not known",
                "take a set that holds it, or the run itself",
            )
        if self.task.sees.goal and item.goal is None:
            raise UsageError(
                f"the task {self.task.id} shows the goal, and of item {item.id!r} it is not known",
                "take a set that holds it, or the run itself",
            )

    def _render_scene(self, scene: SceneView) -> MultilineText:
        return MultilineText(self._templates.render("task_scene.j2", {"view": scene}))

    def _render_all(self) -> None:
        """Render each user message with and without its optional parts."""
        scene = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
        fact = FactView("a thing", "It is so.", ("It is not so.",))
        once: History = (("initiator", "Why?"), ("responder", "So."))
        for turns in (once, (*once, *once)):
            target = len(turns) - 1 if self.task.subject == "utterance" else None
            standing = None if target is None else target - 1
            item = TaskItem("x", scene, turns, target, standing, fact, "a goal")
            for asked in self.questions(item):
                asked.question.repair("", ["answer: missing"])


def option_order(dimension: Dimension, item_id: str) -> tuple[str, ...]:
    """Return the labels of a dimension in the order in which they are listed for an item.

    It follows from the item's id, so that over many items every label stands in every place
    equally often. A scale keeps its order.
    """
    if dimension.measurement == "ordinal":
        return dimension.values

    def place(label: str) -> int:
        return seed_from("option order", item_id, dimension.id, label)

    return tuple(sorted(dimension.values, key=place))
