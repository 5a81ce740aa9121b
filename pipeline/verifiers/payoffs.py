"""The verifier ``payoffs``: claims about a 2x2 game, checked by the solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pydantic import Field, ValidationError

from pipeline.reasoning.game import Choice, Game, Matrix, Seat, first_fault, read_game
from pipeline.reasoning.solver import correction, holds
from pipeline.verifiers.claim_format import QuotedClaim, claims_format, described_kinds
from pipeline.verifiers.registry import VerifierExtension
from prompts.environment import Templates
from prompts.prompt import Prompt, make_prompt
from prompts.question import Question
from scenarios.dialogue import CheckedClaim, CheckedUtterance, TacticLabel
from scenarios.errors import UsageError
from scenarios.spec import Scenario
from scenarios.strict import Strict
from scenarios.terms import RoleKey

NAME: Final = "payoffs"
CORRECT: Final = "correct"
"""The dimension of the scheme ``payoff_reasoning`` that says whether a reasoning is right."""
ERROR_TYPE: Final = "err_type"
"""The dimension that says which kinds of mistakes it has."""


class PayoffData(Strict):
    """What a scenario says of its game under ``data: {payoffs: ...}``."""

    matrix: Matrix
    """By the row player's choice and the column player's: what each of the two gets."""
    choices: dict[Choice, str] = Field(default_factory=dict)
    """What the choices are in the story, by their names in the matrix."""
    row: str = ""
    """Id of the role that is the row player; empty: whoever speaks."""
    column: str = ""
    """Id of the role that is the column player."""

    def seat_of(self, role: RoleKey) -> Seat:
        """Return from which side a role sees the game."""
        return "column" if role == self.column else "row"

    def game_of(self, role: RoleKey, where: str) -> Game:
        """Return the game as a role sees it.

        Raises:
            UsageError: the matrix is none.
        """
        return read_game(self.matrix, where).seen_from(self.seat_of(role))


def payoff_data(scenario: Scenario) -> PayoffData:
    """Read what a scenario says of its game.

    Raises:
        UsageError: it is not a 2x2 game, or its players are no roles of the scenario.
    """
    where = f"scenario {scenario.id!r}: data: {NAME}"
    try:
        data = PayoffData.model_validate(scenario.data.get(NAME))
    except ValidationError as error:
        raise UsageError(
            first_fault(error, where),
            "write matrix: {R: {R: [1, 1], B: [5, 0]}, B: {R: [0, 5], B: [3, 3]}}",
        ) from error
    for player in (data.row, data.column):
        if player and player not in scenario.roles:
            known = ", ".join(scenario.roles)
            raise UsageError(f"{where}: {player!r} is no role of the scenario", f"roles: {known}")
    return data


@dataclass(frozen=True, slots=True)
class PayoffVerifier:
    """Checks what one player says of the payoffs."""

    game: Game
    choices: Mapping[str, str]
    """What the choices are in the story."""

    def question(self, templates: Templates, text: str) -> Question[tuple[QuotedClaim, ...]]:
        """Ask for the claims about payoffs in a text; the payoffs themselves are not shown."""
        return _prompt(templates).render(
            {
                "own_choices": self._described(self.game.choices),
                "other_choices": self._described(self.game.replies),
                "text": text,
            }
        )

    def verify(self, claims: tuple[QuotedClaim, ...]) -> CheckedUtterance:
        """Solve every claim; the same claim counts once."""
        checked: dict[str, CheckedClaim] = {}
        wrong: dict[str, None] = {}
        for quoted in claims:
            claim = quoted.claim
            true = holds(claim, self.game)
            reason = f"{claim.words()}." if true else correction(claim, self.game)
            told = CheckedClaim(claim.kind, claim.predicate(), true, reason, quoted.quote)
            checked.setdefault(told.notation, told)
            if not true:
                wrong[claim.mistake] = None
        found = tuple(checked.values())
        labels = [TacticLabel(CORRECT, str(int(not wrong)))]
        if wrong:
            labels.append(TacticLabel(ERROR_TYPE, tuple(wrong)))
        return CheckedUtterance(NAME, found, tuple(labels))

    def _described(self, names: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple((name, self.choices.get(name, "")) for name in names)


@lru_cache(maxsize=8)
def _prompt(templates: Templates) -> Prompt[tuple[QuotedClaim, ...]]:
    return make_prompt("claims", templates, claims_format(), {"kinds": described_kinds()})


def build(scenario: Scenario, role: RoleKey) -> PayoffVerifier:
    """Make the verifier for a role.

    Raises:
        UsageError: the data is no 2x2 game.
    """
    data = payoff_data(scenario)
    where = f"scenario {scenario.id!r}: data: {NAME}"
    return PayoffVerifier(data.game_of(role, where), data.choices)


VERIFIER = VerifierExtension(NAME, build)
