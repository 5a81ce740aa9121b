"""One question of a task, for one group of dimensions: its system message, form and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Final

from prompts.answer_fields import THOUGHTS_BOUND, Findings, TextField
from prompts.environment import Templates
from prompts.plain_text import shortened
from prompts.prompt import Prompt, make_prompt
from prompts.question import Question
from prompts.responses import ResponseFormat, response_format
from prompts.scheme_text import DimensionText, dimension_text, reader_text
from prompts.tasks.answers import BlindLabel, FoundLabel, LabelForm
from prompts.tasks.items import TaskItem
from prompts.tasks.model import Task
from prompts.tasks.modes import Mode
from prompts.tasks.option_order import OptionOrder, chosen_options, label_order, reordered
from prompts.tasks.stems import stem_for
from prompts.tolerant_json import Answer, find_object
from scenarios.quick_records import quickly_made
from scenarios.schemes.model import Dimension, Label, Scheme

LONGEST_EXPLANATION: Final = 4_000
"""Characters of an explanation that are shown when it is to be chosen."""
THOUGHTS: Final = "what is done with the words, and what they answer"
"""What a model thinks about first where a scene lists its people."""
SHORT_SYSTEM: Final = "short_task_system.j2"
"""The system template of tasks that define no label."""
_FORMAT_NAMES: Final = {"utterance": "turn", "dialogue": "dialogue"}


@quickly_made
@dataclass(frozen=True, slots=True)
class TaskQuestion:
    """One question about one item."""

    dimensions: tuple[str, ...]
    """What it asks about, in the order of its labels."""
    question: Question[tuple[BlindLabel, ...]]
    options: Mapping[str, tuple[str, ...]]
    """By dimension the labels in the order in which they are listed; none where it is a number."""
    form: LabelForm

    def found(self, reply: str) -> tuple[FoundLabel, ...]:
        """Return what a reply says on each dimension, in their order; it never fails."""
        return self.form.found(reply)


@dataclass(frozen=True, slots=True)
class TaskExplanation:
    """The first question of the mode ``two-phase``: to explain an item before it is labelled."""

    dimensions: tuple[str, ...]
    question: Question[str]

    def found(self, reply: str) -> str:
        """Return the explanation in a reply, on one line; any text will do."""
        answer = find_object(reply, self.question.answer.keys)
        text = "" if answer is None else self.question.answer.build(answer, Findings())
        return shortened(text or reply, LONGEST_EXPLANATION)


@dataclass(frozen=True, slots=True)
class ListedOption:
    """One of the options of an item, as templates print it."""

    letter: str
    text: str


@quickly_made
@dataclass(frozen=True, slots=True)
class Listing:
    """What is listed for one item, and how an answer is read."""

    options: Mapping[str, tuple[str, ...]]
    form: LabelForm
    format: ResponseFormat[tuple[BlindLabel, ...]]
    lettered: tuple[tuple[str, tuple[ListedOption, ...]], ...]
    """The dimensions whose options are listed in the question, with a letter before each."""

    @property
    def skeleton(self) -> str:
        """The answer as a model is shown it."""
        if not self.form.letters:
            return self.form.skeleton(self.options)
        shown = {d: tuple(self.form.letters.get(d, labels)) for d, labels in self.options.items()}
        return self.form.skeleton(shown)


class TaskPart:
    """The prompt for one group of dimensions of a task."""

    def __init__(
        self,
        templates: Templates,
        scheme: Scheme,
        task: Task,
        mode: Mode,
        dimensions: tuple[Dimension, ...],
        *,
        order: int = 0,
        listed: bool = False,
    ) -> None:
        """Render the system message.

        Args:
            templates: where the texts come from.
            scheme: the labels.
            task: what is asked and shown.
            mode: how.
            dimensions: those of the group.
            order: in which order definitions are listed, where these are shuffled.
            listed: whether it is for scenes that list their people.

        Raises:
            UsageError: the template cannot be rendered, or a dimension is called like an answer key.
        """
        self._task = task
        self._own = task.options
        self.stem = stem_for(task.stem, listed=listed)
        """What its templates are called."""
        # Where the fact is shown, what to think about is to be held against the one fact of a scene.
        swapped = self.stem != task.stem and task.shows_fact
        thoughts = THOUGHTS if swapped else task.thoughts
        self.dimensions = tuple(reordered(d, order) for d in dimensions)
        self.form = LabelForm(
            tuple(_with_letters(d, task.options[d.id].distractors + 1) if d.id in self._own else d
                  for d in self.dimensions),
            self._reasoned(mode),
            runner_up=task.runner_up,
            thoughts=TextField("reading", thoughts) if task.thoughts and thoughts and mode == "cot" else None,
        )  # fmt: skip
        answer = self.form.format(_FORMAT_NAMES[task.subject])
        self.prompt: Prompt[tuple[BlindLabel, ...]] = make_prompt(
            self.stem,
            templates,
            answer,
            self._told(scheme, thoughts),
            system="" if task.definitions else SHORT_SYSTEM,
        )
        self.explanation = _explanation_format()
        self.asked = tuple(dimension.id for dimension in self.dimensions)
        """The ids of its dimensions."""
        self._fixed = {d.id: d.values for d in self.dimensions}
        self._orders = [(d.id, OptionOrder(d)) for d in self.dimensions]

    def _told(self, scheme: Scheme, thoughts: str | None) -> dict[str, object]:
        """Return what the system message says whatever the item."""
        task = self._task
        return {
            **reader_text(scheme, self.dimensions),
            "dimensions": tuple(map(self._text, self.dimensions)),
            "reasoned": bool(self.form.reasoned),
            "rules": task.rules,
            "fact_shown": task.shows_fact,
            "goal_shown": task.sees.goal,
            "history_shown": task.sees.history != "none",
            "question_shown": task.sees.standing_question,
            "runner_up": task.runner_up,
            "thinks": thoughts if self.form.thoughts is not None else "",
            "conditional": any(d.when for d in self.dimensions),
            "whole": task.subject == "dialogue",
        }

    def listing(self, item: TaskItem) -> Listing:
        """Return what is listed for an item.

        Raises:
            UsageError: it needs options of its own, and its right label is not known.
        """
        if self._task.shuffled == "definitions":
            return Listing(self._fixed, self.form, self.prompt.answer, ())
        draw_key = item.draw_key
        options = {dimension: order.of(draw_key) for dimension, order in self._orders}
        if not self._own:
            return Listing(options, self.form, self.prompt.answer, ())
        lettered = [d for d in self.dimensions if d.id in self._own]
        chosen = {
            d.id: tuple(item.listed[d.id])
            if d.id in item.listed
            else chosen_options(d, self._own[d.id], item)
            for d in lettered
        }
        return self._lettered(options | chosen, lettered, item)

    def _lettered(
        self,
        options: Mapping[str, tuple[str, ...]],
        lettered: list[Dimension],
        item: TaskItem,
    ) -> Listing:
        text_of = {
            d.id: {label.id: label.worded(item.names) for label in d.labels}
            | dict(item.listed.get(d.id, {}))
            for d in lettered
        }
        letters = {d.id: dict(zip(ascii_uppercase, options[d.id], strict=False)) for d in lettered}
        form = replace(
            self.form,
            dimensions=tuple(
                _meaning(d, letters[d.id], text_of[d.id]) if d.id in letters else d
                for d in self.form.dimensions
            ),
            letters=letters,
        )
        listed = tuple(
            (
                d.title or d.id,
                tuple(
                    ListedOption(letter, text_of[d.id][label])
                    for letter, label in letters[d.id].items()
                ),
            )
            for d in lettered
        )
        return Listing(options, form, replace(self.prompt.answer, build=form.build), listed)

    def _reasoned(self, mode: Mode) -> frozenset[str]:
        """Return what gets a reason: what the question is about, not the goal beside it."""
        if mode != "cot":
            return frozenset()
        whole = self._task.subject == "dialogue"
        own = frozenset(d.id for d in self.dimensions if (d.level == "dialogue") == whole)
        return own or frozenset(d.id for d in self.dimensions)

    def _text(self, dimension: Dimension) -> DimensionText:
        """Return what the system message tells of a dimension; options of items are not in it."""
        text = dimension_text(dimension)
        if dimension.id not in self._own:
            return text
        form = 'One of those under "# Options", named by its letter.'
        return replace(text, labels=(), steps=(), contrast=(), form=form)


def order_of(task: Task, item: TaskItem) -> int:
    """Return in which order the definitions are listed for an item."""
    return label_order(item.draw_key) if task.shuffled == "definitions" else 0


def _with_letters(dimension: Dimension, count: int) -> Dimension:
    labels = tuple(Label(id=letter, definition="-") for letter in ascii_uppercase[:count])
    return dimension.model_copy(update={"labels": labels})


def _meaning(
    dimension: Dimension, letters: Mapping[str, str], texts: Mapping[str, str]
) -> Dimension:
    """Return a dimension of letters that is answered by the labels behind them and their texts, too."""
    labels = tuple(
        Label(
            id=letter,
            definition="-",
            aliases=(label, texts[label], f"{letter}. {texts[label]}", f"{letter}. {label}"),
        )
        for letter, label in letters.items()
    )
    return dimension.model_copy(update={"labels": labels})


def _explanation_format() -> ResponseFormat[str]:
    text = TextField(
        "explanation", "two to five sentences: what speaks for which label", THOUGHTS_BOUND
    )

    def build(answer: Answer, findings: Findings) -> str:
        explanation = text.read(answer)
        if not explanation:
            findings.missing(text.key, "an explanation")
        return explanation

    return response_format("explanation", [text], build)
