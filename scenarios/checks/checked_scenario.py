"""A scenario during validation: as written, as filled in, and where each text stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from scenarios.errors import Problem
from scenarios.located import Located, Step
from scenarios.nested_texts import nested_texts
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

Similarity = Callable[[Sequence[str], Sequence[str]], Iterable[Iterable[float]]]
"""Cosine similarity of every left text with every right text, shape ``(left, right)``."""
Place = tuple[Step, ...]


@dataclass(frozen=True)
class CheckedScenario:
    """A scenario with its scheme, its file, and the means to compare meanings, if there are any."""

    template: Scenario
    """As written, with its placeholders."""
    scheme: Scheme
    located: Located
    similarity: Similarity | None = None
    shipped: bool = False

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario with its placeholders filled by their aliases."""
        return self.template.named()

    @property
    def goal_id(self) -> str:
        """The id of the assigned dimension."""
        return self.scheme.assigned

    def error(
        self, path: Sequence[Step], found: str, expected: str, *, code: str, hint: str = ""
    ) -> Problem:
        """Build an error that points at the node at ``path``."""
        return self.located.problem(path, found=found, expected=expected, hint=hint, code=code)

    def warning(
        self, path: Sequence[Step], found: str, expected: str, *, code: str, hint: str = ""
    ) -> Problem:
        """Build a warning that points at the node at ``path``."""
        return self.located.problem(
            path, found=found, expected=expected, hint=hint, code=code, severity="warning"
        )

    def public_texts(self) -> Iterator[tuple[Place, str]]:
        """Yield what everybody, or a reader of the finished dialogue, gets to see, with its place.

        The opening statements and the fixed words of phases are not among them; see
        :meth:`statement_texts`.
        """
        yield from nested_texts(
            self.scenario.model_dump(include={"title", "summary", "background", "roles"})
        )
        for index, phase in enumerate(self.scenario.flow):
            if phase.brief:
                yield ("flow", index, "brief"), phase.brief
        yield from self.question_texts()

    def statement_texts(self) -> Iterator[tuple[Place, str]]:
        """Yield fixed lines: easy answers, statements by goal, and the words of phases."""
        opening = self.scenario.opening
        for index, exchange in enumerate(opening.shared.exchanges if opening.shared else ()):
            yield ("opening", "shared", "exchanges", index, "answer"), exchange.answer
        for index, by_goal in enumerate(opening.by_goal):
            for goal, statement in by_goal.statements.items():
                yield ("opening", "by_goal", index, "statements", goal, "text"), statement.text
        for index, phase in enumerate(self.scenario.flow):
            for number, wording in enumerate(phase.text):
                yield ("flow", index, "text", number), wording

    def strategy_texts(self) -> Iterator[tuple[Place, str, str]]:
        """Yield the strategies of phases: place, the role that alone is told of it, and text."""
        for index, phase in enumerate(self.scenario.flow):
            for role, strategies in phase.strategies.items():
                for number, text in enumerate(strategies):
                    yield ("flow", index, "strategies", role, number), role, text

    def question_texts(self) -> Iterator[tuple[Place, str]]:
        """Yield the fixed lines of the initiator, and the questions it is given to ask."""
        opening = self.scenario.opening
        if opening.shared is not None:
            place: Place = ("opening", "shared")
            for index, exchange in enumerate(opening.shared.exchanges):
                yield (*place, "exchanges", index, "question"), exchange.question
            for index, wording in enumerate(opening.shared.hard_question):
                yield (*place, "hard_question", index), wording
        for index, by_goal in enumerate(opening.by_goal):
            yield ("opening", "by_goal", index, "question"), by_goal.question
        for index, fact in enumerate(self.scenario.facts):
            if fact.angle:
                yield ("facts", index, "angle"), fact.angle


def all_texts(scenario: Scenario) -> Iterator[tuple[Place, str]]:
    """Yield every string of a scenario but its placeholders, with its path."""
    yield from nested_texts(scenario.model_dump(exclude={"placeholders"}))
