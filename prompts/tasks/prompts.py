"""The questions of one task in one mode: a fixed system message, and the options by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from prompts.environment import MultilineText, Templates
from prompts.prompt import role_tag
from prompts.question import Question
from prompts.tasks.asked import asked_dimensions
from prompts.tasks.examples import (
    ExamplePool,
    ShownExample,
    WorkedExample,
    chosen_examples,
    shown_example,
)
from prompts.tasks.frames import UserFrames, UserParts
from prompts.tasks.items import FactView, PersonView, SceneView, TaskItem, plain_view, shown
from prompts.tasks.model import DRAWS, Task
from prompts.tasks.modes import Mode
from prompts.tasks.part import (
    SHORT_SYSTEM,
    Listing,
    TaskExplanation,
    TaskPart,
    TaskQuestion,
    order_of,
)
from prompts.tasks.shipped_examples import shipped_examples
from prompts.tasks.stems import PEOPLE_TEMPLATES, is_listed
from scenarios.dialogue import History
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import RoleKey

_OF_JUDGES: Final = ("judge_turn", "judge_dialogue")
"""The templates that name a scene part by part."""
_SCENES = 1024
"""Rendered scenes that are kept: about as many as there are scenarios and languages."""


class TaskPrompts:
    """All questions of a task in one mode for one scheme.

    The system message, with every definition in the order of the scheme, is the same for every
    item, so that endpoints serve it from their caches; so is the schema of the answer, which some
    endpoints compile. What the order of options could tell stands at the end of the user message
    alone, and follows from the id of the item.
    """

    def __init__(
        self,
        templates: Templates,
        scheme: Scheme,
        task: Task,
        *,
        mode: Mode | None = None,
        examples: ExamplePool | None = None,
        seed: int = 0,
        listed: bool | None = None,
    ) -> None:
        """Render the system messages, and every prompt once so that mistakes show early.

        Args:
            templates: where the texts come from.
            scheme: the labels that are asked for.
            task: what is asked and shown.
            mode: how; the first mode of the task if None.
            examples: what the mode ``icl`` draws from; what ships for the scheme if None.
            seed: which examples are drawn.
            listed: whether scenes that list their people are asked about, so that the fingerprint
                tells of their templates; None: where the scheme is made for such scenes.

        Raises:
            UsageError: the task does not fit the scheme or has no such mode, there are too few
                examples, a template is unknown or cannot be rendered, or a dimension is called like
                an answer key.
        """
        self.task = task
        self.mode: Mode = mode or task.modes[0]
        if self.mode not in task.modes:
            raise UsageError(
                f"the task {task.id} has no mode {self.mode!r}", f"modes: {', '.join(task.modes)}"
            )
        self.dimensions = asked_dimensions(task, scheme)
        _require_templates(templates, task)
        self._templates = templates
        # Nobody knows what templates of the user's do to a text.
        self._is_judges = task.template in _OF_JUDGES
        pasted = templates.shipped and (task.template is None or self._is_judges)
        self._frames = UserFrames(templates, f"{task.stem}_user.j2") if pasted else None
        self._scheme = scheme
        self._pool = (examples or shipped_examples(scheme)) if self.mode == "icl" else None
        self._seed = seed
        together = task.questions == "together"
        self._groups = [self.dimensions] if together else [(d,) for d in self.dimensions]
        self._is_listed = scheme.is_for_any_people if listed is None else listed
        self._depends_on_role = any(d.depends_on_role for d in self.dimensions)
        self._parts_in = lru_cache(maxsize=None)(self._make_parts)
        self._scene = lru_cache(maxsize=_SCENES)(self._render_scene)
        self._ordered = lru_cache(maxsize=None)(self._order_examples)
        self.fingerprint: str = self._fingerprint()
        self._render_all()

    @property
    def draws(self) -> int:
        """How often an item is asked about, each time after other examples."""
        return DRAWS if self.mode == "icl" else 1

    @property
    def parts(self) -> tuple[TaskPart, ...]:
        """The prompts of its questions, with the definitions in the order of the scheme."""
        return self._parts_in(0, "", self._is_listed)

    def explain(self, item: TaskItem) -> tuple[TaskExplanation, ...]:
        """Return what is asked before the questions: nothing but in the mode ``two-phase``.

        Raises:
            UsageError: as :meth:`questions`.
        """
        if self.mode != "two-phase":
            return ()
        self._check(item)
        explanations = []
        for part in self._parts_of(item):
            user = self._user(part, item, part.listing(item), (), None, explaining=True)
            asked = part.prompt.question(user)
            question = Question(asked.messages, part.explanation, asked.correction)
            explanations.append(TaskExplanation(part.asked, question))
        return tuple(explanations)

    def questions(
        self, item: TaskItem, *, draw: int = 0, explained: Sequence[str] = ()
    ) -> tuple[TaskQuestion, ...]:
        """Return what is asked about an item: one question, or one for each dimension.

        Args:
            item: what is labelled.
            draw: which worked examples are shown, from 0.
            explained: what was found in the replies to :meth:`explain`, in its order.

        Raises:
            UsageError: the item is not what the task labels, lacks what the task shows, or there
                are too few examples from other scenarios.
            ValueError: not every explanation is given.
        """
        self._check(item)
        parts = self._parts_of(item)
        if len(explained) != (len(parts) if self.mode == "two-phase" else 0):
            raise ValueError(f"{len(explained)} explanations for {len(parts)} questions")
        questions = []
        for place, part in enumerate(parts):
            listing = part.listing(item)
            examples = self._examples(part.dimensions, item, draw)
            explanation = explained[place] if explained else None
            user = self._user(part, item, listing, examples, explanation)
            asked = part.prompt.question(user)
            question = Question(asked.messages, listing.format, asked.correction)
            questions.append(TaskQuestion(part.asked, question, listing.options, listing.form))
        return tuple(questions)

    def _user(
        self,
        part: TaskPart,
        item: TaskItem,
        listing: Listing,
        examples: tuple[ShownExample, ...],
        explanation: str | None,
        *,
        explaining: bool = False,
    ) -> str:
        seen = shown(item, self.task.sees)
        listed = is_listed(item.scene)
        plain = not (examples or listing.lettered or explaining or explanation or listed)
        # The templates of judges that ship show the form of the answer in the system message.
        formless = self._is_judges and self._frames is not None and plain
        skeleton = part.explanation.skeleton if explaining else "" if formless else listing.skeleton
        parts = UserParts(
            scene=self._scene(item.scene),
            skeleton=MultilineText(skeleton),
            several=len(part.dimensions) > 1,
            history=seen.history,
            question=seen.question,
            utterance=seen.utterance,
            fact=self._fact(item),
            goal=item.goal if self.task.sees.goal else None,
            view=item.scene if self._is_judges else None,
        )
        if self._frames and plain:
            return self._frames.render(parts)
        more = {
            "examples": examples,
            "options": listing.lettered,
            "explaining": explaining,
            "explanation": explanation,
            "view": plain_view(item.scene, parts.fact),
            "speaker": role_tag(item.role),
            "question_tag": "" if item.standing is None else role_tag(item.turns[item.standing][0]),
            "facts": self._facts(item),
        }
        return self._templates.render(f"{part.stem}_user.j2", parts.variables() | more)

    def _parts_of(self, item: TaskItem) -> tuple[TaskPart, ...]:
        role = item.role if self._depends_on_role else ""
        return self._parts_in(order_of(self.task, item), role, is_listed(item.scene))

    def _make_parts(self, order: int, role: RoleKey, listed: bool) -> tuple[TaskPart, ...]:
        """Return the prompts for words of a role; of all roles where it is empty."""
        groups = self._groups
        if role:
            kept = (tuple(d.limited_to(role) for d in g if d.concerns(role)) for g in groups)
            groups = [group for group in kept if group]
        scheme, task, mode = self._scheme, self.task, self.mode
        return tuple(
            TaskPart(self._templates, scheme, task, mode, group, order=order, listed=listed)
            for group in groups
        )

    def _examples(
        self, dimensions: tuple[Dimension, ...], item: TaskItem, draw: int
    ) -> tuple[ShownExample, ...]:
        if self._pool is None:
            return ()
        ordered = self._ordered(tuple(d.id for d in dimensions), draw)
        chosen = chosen_examples(ordered, item, self.task.examples, self._pool.origin)
        with_fact = self.task.shows_fact
        return tuple(shown_example(e, dimensions, with_fact=with_fact) for e in chosen)

    def _order_examples(self, asked: tuple[str, ...], draw: int) -> tuple[WorkedExample, ...]:
        dimensions = [d for d in self.dimensions if d.id in asked]
        return () if self._pool is None else self._pool.order(dimensions, self._seed, draw)

    def _fact(self, item: TaskItem) -> FactView | None:
        if item.fact is None or not self.task.shows_fact:
            return None
        if self.task.sees.fact == "claims":
            return item.fact
        return FactView(item.fact.about, item.fact.text)

    def _facts(self, item: TaskItem) -> tuple[FactView, ...]:
        """Return what the people of a scene know, as far as the task shows it."""
        if not self.task.shows_fact:
            return ()
        if self.task.sees.fact == "claims":
            return item.facts
        return tuple(replace(fact, false_claims=()) for fact in item.facts)

    def _check(self, item: TaskItem) -> None:
        if (item.target is None) != (self.task.subject == "dialogue"):
            subject = "a dialogue" if item.target is None else "an utterance"
            asked = "a dialogue" if self.task.subject == "dialogue" else "an utterance"
            raise UsageError(
                f"item {item.id!r} is {subject}, and the task {self.task.id} is about {asked}"
            )
        lacking = ""
        if item.fact is None and self.task.shows_fact and not is_listed(item.scene):
            lacking = "private fact"
        elif item.goal is None and self.task.sees.goal:
            lacking = "goal"
        if lacking:
            raise UsageError(
                f"the task {self.task.id} shows the {lacking}, and of item {item.id!r} it is"
                " not known",
                "take a set that holds it, or the run itself",
            )

    def _render_scene(self, scene: SceneView) -> MultilineText:
        name = "people_scene.j2" if is_listed(scene) else "task_scene.j2"
        return MultilineText(self._templates.render(name, {"view": scene}))

    def _fingerprint(self) -> str:
        stem = self.task.stem
        system = f"{stem}_system.j2" if self.task.definitions else SHORT_SYSTEM
        names = list(self._templates.sources([system, f"{stem}_user.j2", "repair.j2"]))
        if self._is_listed:
            names += PEOPLE_TEMPLATES
        examples = None if self._pool is None else [self._pool.fingerprint, self._seed]
        prompts = [[part.prompt.system, part.prompt.answer.schema] for part in self.parts]
        task = self.task.model_dump(mode="json")
        if self.task.definitions:  # it says nothing new of a task as they were before it was there
            del task["definitions"]
        content = [self._templates.fingerprint_of([*names, "task_scene.j2"]), task]
        return fingerprint([*content, self._scheme.content, self.mode, examples, prompts])

    def _render_all(self) -> None:
        """Render each user message with and without its optional parts."""
        scene = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
        fact = FactView("a thing", "It is so.", ("It is not so.",))
        if self._is_listed:
            pair = (PersonView("initiator", "a", "A."), PersonView("responder", "b", "B."))
            scene = SceneView("Two talk.", "", "", "", "", "en (English)", pair)
        right = {d.id: d.values[0] for d in self.dimensions if d.values}
        once: History = (("initiator", "Why?"), ("responder", "So."))
        for turns in (once, (*once, *once)):
            target = len(turns) - 1 if self.task.subject == "utterance" else None
            standing = None if target is None else target - 1
            item = TaskItem(
                "x", scene, turns, target, standing, fact, "a goal", "no scenario", right,
                facts=(replace(fact, owner="responder"),) if self._is_listed else (),
            )  # fmt: skip
            explained = ["So." for _ in self.explain(item)]
            for asked in self.questions(item, explained=explained):
                asked.question.repair("", ["answer: missing"])


def _require_templates(templates: Templates, task: Task) -> None:
    wanted: Final = [f"{task.stem}_system.j2", f"{task.stem}_user.j2"]
    missing = [name for name in wanted if name not in templates.names]
    if missing:
        stems = sorted(n.removesuffix("_user.j2") for n in templates.names if n.startswith("task_"))
        raise UsageError(
            f"the task {task.id} needs the template {missing[0]}, which there is not",
            f"templates of tasks: {', '.join(s for s in stems if f'{s}_user.j2' in templates.names)}",
        )
