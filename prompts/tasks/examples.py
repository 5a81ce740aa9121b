"""Worked examples: a line with its scene, the question it answers, and its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prompts.tasks.answers import one_line_answer
from prompts.tasks.items import FactView, TaskItem
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint, seed_from
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A line with the right labels, to be shown before the item that is asked about."""

    id: str
    scenario: str
    """It is never shown with items of this scenario; empty: none is known."""
    situation: str
    question: str
    """The question that the line answers; empty where there is none."""
    line: str
    labels: Mapping[str, LabelValue]
    """The label of every dimension that it carries."""
    fact: FactView | None = None
    """Shown by tasks that show the fact of the item, too."""

    def traits(self, dimensions: Sequence[Dimension]) -> list[tuple[str, LabelValue]]:
        """Return its labels of some dimensions, and its scenario."""
        return [("", self.scenario), *((d.id, self.labels[d.id]) for d in dimensions)]

    def may_precede(self, item: TaskItem) -> bool:
        """Return whether it comes from another scenario than an item, and says nothing said there."""
        return (
            (not self.scenario or self.scenario != item.scenario)
            and self.situation != item.scene.situation
            and all(self.line != text for _, text in item.turns)
        )


@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example as templates print it."""

    situation: str
    question: str
    line: str
    answer: str
    fact: str = ""


@dataclass(frozen=True, slots=True)
class ExamplePool:
    """Examples to draw from."""

    examples: tuple[WorkedExample, ...]
    origin: str
    """Where they come from, in a few words."""

    @property
    def fingerprint(self) -> str:
        """The content hash of all of them."""
        plain = [
            [e.id, e.scenario, e.situation, e.question, e.line, dict(e.labels)]
            + ([] if e.fact is None else [e.fact.about, e.fact.text])
            for e in self.examples
        ]
        return fingerprint(plain)

    def order(
        self, dimensions: Sequence[Dimension], seed: int, draw: int
    ) -> tuple[WorkedExample, ...]:
        """Return those that carry a label of each dimension, in the order of a draw.

        Next comes one of whose labels and scenario least was shown before: few examples are to
        differ in all of them.
        """
        left = [e for e in self.examples if all(d.id in e.labels for d in dimensions)]
        left.sort(key=lambda example: (seed_from("examples", seed, draw, example.id), example.id))
        shown: Counter[tuple[str, LabelValue]] = Counter()
        ordered = []
        while left:
            following = min(left, key=lambda e: sum(shown[t] for t in e.traits(dimensions)))
            left.remove(following)
            shown.update(following.traits(dimensions))
            ordered.append(following)
        return tuple(ordered)


def chosen_examples(
    ordered: Sequence[WorkedExample], item: TaskItem, count: int, origin: str
) -> tuple[WorkedExample, ...]:
    """Return the first examples of an order that may precede an item.

    Raises:
        UsageError: there are fewer.
    """
    chosen: list[WorkedExample] = []
    for example in ordered:
        if len(chosen) == count:
            break
        if example.may_precede(item):
            chosen.append(example)
    if len(chosen) < count:
        raise UsageError(
            f"{count} examples are to be shown with every item, and {origin} has {len(chosen)} that"
            " label what is asked and come from another scenario than the item",
            "add examples, or show fewer (examples: of the task)",
        )
    return tuple(chosen)


def shown_example(
    example: WorkedExample, dimensions: Sequence[Dimension], *, with_fact: bool
) -> ShownExample:
    """Return an example with the answer that gives its labels of some dimensions."""
    return ShownExample(
        example.situation,
        example.question,
        example.line,
        one_line_answer({d.id: example.labels[d.id] for d in dimensions}),
        example.fact.text if with_fact and example.fact is not None else "",
    )
