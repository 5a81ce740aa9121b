"""A case: one unit of work, identified by a content hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from scenarios.fingerprint import content_id
from scenarios.quick_records import quickly_made

AIM: Final = "aim"
"""Under this name the variation of a case says which cell of a quota the case was drawn for."""

SOURCE: Final = "source"
"""Under this name it says what an imported dialogue is called where it comes from."""


class PlayedCase(Protocol):
    """What an arm made of a case: its dialogue, or how it ended."""

    @property
    def case(self) -> Case:
        """What was played."""

    @property
    def config_epoch(self) -> int:
        """The number of the configuration of the run under which it was played; 0: not stored yet."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Case:
    """Scenario, fact, goal, turns, language, variation and repetition of one dialogue.

    Build it with :func:`make_case`, which computes ``id``. The wanted tactic is not part of it:
    that is drawn from the seed, the pair and the turn.
    """

    id: str
    scheme: str
    scenario: str
    scenario_fingerprint: str
    fact: str
    """The id of the fact that is played; "" in a scenario with a flow, where all of them are."""
    goal: str
    """A label of the assigned dimension; "" where the scheme assigns nothing."""
    turns: int
    """Improvised exchanges after the fixed opening; with a flow, improvised turns of the roles whose
    words are labelled. At least 1."""
    language: str
    variation: tuple[tuple[str, str], ...]
    """The kind of opening unless it is by goal, and what ``--vary`` drew: (axis, value id), sorted.
    Of a gold line, which line it is."""
    repetition: int
    seed: int
    """The seed of the run."""

    @property
    def pair(self) -> str:
        """The content hash of everything but the goal: cases of one pair differ in it alone."""
        return content_id(
            [
                self.scheme, self.scenario, self.scenario_fingerprint, self.fact, self.turns,
                self.language, [list(drawn) for drawn in self.variation], self.repetition, self.seed,
            ]
        )  # fmt: skip

    @property
    def content(self) -> str:
        """The content hash of everything but the id, which is it unless somebody changed the case."""
        return content_id(
            [
                self.scheme, self.scenario, self.scenario_fingerprint, self.fact, self.goal,
                self.turns, self.language, [list(drawn) for drawn in self.variation],
                self.repetition, self.seed,
            ]
        )  # fmt: skip


def make_case(
    *,
    scheme: str,
    scenario: str,
    scenario_fingerprint: str,
    fact: str,
    goal: str,
    turns: int,
    language: str,
    variation: Mapping[str, str],
    repetition: int,
    seed: int,
) -> Case:
    """Build a case with the content hash of its fields as its id.

    Raises:
        ValueError: fewer than one turn.
    """
    if turns < 1:
        raise ValueError(f"a dialogue needs at least 1 turn, got {turns}")
    case = Case(
        id="",
        scheme=scheme,
        scenario=scenario,
        scenario_fingerprint=scenario_fingerprint,
        fact=fact,
        goal=goal,
        turns=turns,
        language=language,
        variation=tuple(sorted(variation.items())),
        repetition=repetition,
        seed=seed,
    )
    return replace(case, id=case.content)
