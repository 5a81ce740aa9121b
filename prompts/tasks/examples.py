"""Worked examples: a line with its scene, the question it answers, and its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from prompts.tasks.answers import one_line_answer
from prompts.tasks.items import FactView, TaskItem, fact_view
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint, seed_from
from scenarios.lines.library import exemplar_lines, scenarios_with
from scenarios.lines.model import ANY_FACT, Exemplar, ExemplarLines
from scenarios.pack import LIBRARY_PLUS, read_scenario, scenario_files
from scenarios.schemes.model import Dimension, LabelValue, Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import Scenario, with_names


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
            f"{count} examples are to be shown with item {item.id!r}, and {origin} has"
            f" {len(chosen)} that label what is asked and come from another scenario",
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


def shipped_examples(scheme: Scheme) -> ExamplePool:
    """Return the examples that ship for a scheme, from scenarios that no corpus plays.

    Raises:
        UsageError: none ship for it.
    """
    pool = _exemplars(scheme.fingerprint)
    if not pool.examples:
        raise UsageError(
            f"no examples ship for the scheme {scheme.name}",
            "give a file of your own with --examples FILE",
        )
    return pool


@cache
def _exemplars(scheme: str) -> ExamplePool:
    examples: list[WorkedExample] = []
    with_examples = frozenset(scenarios_with("exemplar"))
    for path in scenario_files(LIBRARY_PLUS):
        if path.stem not in with_examples:
            continue
        template, _ = read_scenario(path, LIBRARY_PLUS)
        lines = exemplar_lines(template.id)
        own = load_scheme(template.scheme)
        if lines is not None and own.fingerprint == scheme:
            examples += _of_scenario(template, lines, own)
    return ExamplePool(tuple(examples), "what ships")


def _of_scenario(template: Scenario, lines: ExemplarLines, scheme: Scheme) -> list[WorkedExample]:
    names = {key: known.alias for key, known in template.placeholders.items()}
    spoken = ExemplarLines.model_validate(with_names(lines.model_dump(), names))
    scenario = template.named()
    return [
        WorkedExample(
            id=line.id,
            scenario=scenario.id,
            situation=_situation(scenario),
            question=line.question,
            line=line.text,
            labels=_labels(line, scheme),
            fact=None if line.fact == ANY_FACT else fact_view(scenario, line.fact),
        )
        for line in spoken.lines
    ]


def _situation(scenario: Scenario) -> str:
    """Return the background and, where people of other roles talk, who speaks to whom."""
    if not scenario.flow:
        return scenario.background
    labelled = scenario.labelled_roles
    said = [role.name for key, role in scenario.roles.items() if key in labelled]
    heard = [role.name for key, role in scenario.roles.items() if key not in labelled]
    people = f"Said by: {', '.join(said)}" + (f"; to: {', '.join(heard)}" if heard else "")
    return f"{scenario.background} {people}."


def _labels(line: Exemplar, scheme: Scheme) -> dict[str, LabelValue]:
    labels: dict[str, LabelValue] = {}
    for name, written in line.labels.items():
        resolved = resolve_label(scheme.dimension(name), written)
        if resolved is not None:
            labels[name] = resolved[0]
    return {**labels, scheme.assigned: line.goal} if scheme.assigned else labels
