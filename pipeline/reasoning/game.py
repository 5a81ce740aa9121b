"""Two-person games with two choices each: what every pair of choices pays to both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError, model_validator

from scenarios.errors import UsageError
from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml, validate_model

Payoff = Annotated[Decimal, Field(max_digits=12, decimal_places=6, allow_inf_nan=False)]
"""An exact number, so that sums of payoffs can be compared; with floats 0.1 + 0.2 is above 0.3."""
Choice = Annotated[str, Field(pattern=r"^\w+$", max_length=40)]
"""A choice by the name that stands in braces at the end of a reasoning: ``R``, ``share``."""
Seat = Literal["row", "column"]
"""Whose eyes a game is seen with: ``row`` is paid the first number of a cell."""
Matrix = dict[Choice, dict[Choice, tuple[Payoff, Payoff]]]
"""By own choice and the other's: own payoff, the other's."""


class Game(Strict):
    """A 2x2 matrix as the one who reasons sees it: its own choices are the rows.

    The two may have the same choices, as in a Prisoner's Dilemma, or each its own.
    """

    payoffs: Matrix

    @model_validator(mode="after")
    def _is_two_by_two(self) -> Game:
        _two(self.payoffs, "payoffs")
        first, second = self.payoffs.values()
        for name, row in self.payoffs.items():
            _two(row, name)
        if set(first) != set(second):
            raise ValueError(
                f"the rows differ in the other's choices: {list(first)}, {list(second)}"
            )
        return self

    @property
    def choices(self) -> tuple[str, str]:
        """One's own choices."""
        first, second = self.payoffs
        return first, second

    @property
    def replies(self) -> tuple[str, str]:
        """The other's choices."""
        first, second = self.payoffs[self.choices[0]]
        return first, second

    def own(self, mine: str, theirs: str) -> Decimal:
        """Return what a pair of choices pays to the one who reasons."""
        return self.payoffs[mine][theirs][0]

    def others(self, mine: str, theirs: str) -> Decimal:
        """Return what a pair of choices pays to the other one."""
        return self.payoffs[mine][theirs][1]

    def mutual(self, mine: str, theirs: str) -> Decimal:
        """Return what a pair of choices pays to both together."""
        return self.own(mine, theirs) + self.others(mine, theirs)

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the four pairs of choices, the own one first."""
        return tuple((mine, theirs) for mine in self.choices for theirs in self.replies)

    def outcomes(self, choice: str) -> tuple[Decimal, Decimal]:
        """Return the two payoffs that one's own choice can bring."""
        first, second = self.replies
        return self.own(choice, first), self.own(choice, second)

    def guaranteed(self, choice: str) -> Decimal:
        """Return what a choice pays at least, whatever the other one does."""
        return min(self.outcomes(choice))

    def seen_from(self, seat: Seat) -> Game:
        """Return the game as the player of that seat sees it, this one being the row player's."""
        if seat == "row":
            return self
        turned = {
            theirs: {mine: self.payoffs[mine][theirs][::-1] for mine in self.choices}
            for theirs in self.replies
        }
        return Game(payoffs=turned)


def _two(names: Mapping[str, object], where: str) -> None:
    if len(names) != 2:
        found = ", ".join(names) or "none"
        raise ValueError(f"{where}: two choices are needed, found {len(names)} ({found})")


def symmetric_game(own: Sequence[Decimal], choices: tuple[str, str]) -> Game:
    """Return the game in which both are paid alike for the same thing.

    Args:
        own: own payoff of (first, first), (first, second), (second, first), (second, second).
        choices: the two choices.
    """
    first, second = choices
    same_first, against, given, same_second = own
    return Game(
        payoffs={
            first: {first: (same_first, same_first), second: (against, given)},
            second: {first: (given, against), second: (same_second, same_second)},
        }
    )


class NamedGame(Game):
    """A game with the short name that logs and forms give it."""

    id: Annotated[str, Field(pattern=r"^\w+$", max_length=160)]
    name: str


class GameFile(Strict):
    """A file of games."""

    games: Annotated[tuple[NamedGame, ...], Field(min_length=1)]


_SHIPPED: Final = Path(__file__).parent / "data" / "games.yaml"


@cache
def shipped_games() -> Mapping[str, NamedGame]:
    """Return the games that ship by their id: ``pd``, ``sh`` and ``hd``."""
    return games_of(_SHIPPED)


def games_of(path: Path) -> Mapping[str, NamedGame]:
    """Return the games of a YAML file by their id.

    Raises:
        InputError: the file cannot be read, or describes no 2x2 matrices.
    """
    return {game.id: game for game in validate_model(GameFile, read_yaml(path)).games}


def games_as_yaml(games: Mapping[str, Game]) -> str:
    """Return games by their id as the text of a file that :func:`games_of` reads."""
    lines = ["games:"]
    for game_id, game in games.items():
        rows = []
        for mine in game.choices:
            cells = (
                f"{json.dumps(theirs)}: [{game.own(mine, theirs):f}, {game.others(mine, theirs):f}]"
                for theirs in game.replies
            )
            rows.append(f"{json.dumps(mine)}: {{{', '.join(cells)}}}")
        lines += [f"  - id: {json.dumps(game_id)}", f"    name: {json.dumps(game_id)}"]
        lines += [f"    payoffs: {{{', '.join(rows)}}}"]
    return "\n".join([*lines, ""])


def read_game(payoffs: object, where: str) -> Game:
    """Return the game that plain data describes.

    Args:
        payoffs: own choice -> the other's choice -> [own payoff, the other's payoff].
        where: file and field, for the message.

    Raises:
        UsageError: this is no 2x2 matrix.
    """
    try:
        return Game.model_validate({"payoffs": payoffs})
    except ValidationError as error:
        raise UsageError(
            first_fault(error, where),
            "a 2x2 matrix is {R: {R: [1, 1], B: [5, 0]}, B: {R: [0, 5], B: [3, 3]}}: "
            "own choice, the other's choice, [own payoff, the other's]",
        ) from error


def first_fault(error: ValidationError, where: str) -> str:
    """Return what is wrong first, and in which field of what stands at ``where``."""
    first = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (where, ".".join(map(str, first["loc"])), first["msg"])))
