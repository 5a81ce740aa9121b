"""Claims read from predicates, the notation of the logs; each claim writes its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from pydantic import ValidationError

from pipeline.reasoning.claims import PAYOFF_CLAIM, PayoffClaim

LONGEST: Final = 500
"""Characters of a predicate; whatever is longer is none."""

_ARGUMENTS: Final = {
    "N": r"([-+]?\d+(?:\.\d+)?)",
    "C": r"""(?:'([^'"\n]*)'|"([^'"\n]*)")""",
    "P": r"(you|them)",
}
"""An amount, a choice in quotes, a player."""


class NotAPredicate(ValueError):
    """A text that is none of the predicates; the message says what is odd about it."""


def read_predicate(text: str) -> PayoffClaim:
    """Return the claim that a predicate makes; blanks and the full stop do not matter.

    Raises:
        NotAPredicate: it is none of the known predicates, or its arguments are not what they need.
    """
    shown = text.strip()
    if len(shown) > LONGEST:
        raise NotAPredicate(f"{len(shown):,} characters, and a predicate has at most {LONGEST}")
    name = re.match(r"\w+", shown)
    if name is None or name.group() not in _READERS:
        raise NotAPredicate(f"no predicate of this name: {shown}")
    pattern, fields = _READERS[name.group()]
    found = pattern.fullmatch(shown)
    if found is None:
        raise NotAPredicate(f"not what {name.group()} takes: {shown}")
    values = fields(*(value for value in found.groups() if value is not None))
    try:
        return PAYOFF_CLAIM.validate_python(values)
    except ValidationError as error:
        raise NotAPredicate(f"an argument is out of bounds: {shown}") from error


def _pair(*values: str) -> dict[str, Any]:
    whose, amount, first, one, second, other = values
    if first == second:
        raise NotAPredicate(f"both choices are given to {first!r}")
    mine, theirs = (one, other) if first == "you" else (other, one)
    return {
        "kind": "pair_payoff",
        "whose": whose,
        "amount": amount,
        "mine": mine,
        "theirs": theirs,
    }


def _fields(kind: str, names: str, **known: str) -> Callable[..., dict[str, Any]]:
    """Return what makes fields of a claim of the arguments of a predicate, which are in order."""
    keys = names.split()
    return lambda *values: {"kind": kind, **known, **dict(zip(keys, values, strict=True))}


def _predicates() -> Iterator[tuple[str, Callable[..., dict[str, Any]]]]:
    yield "finally(goal(P, N), do(choice(P, C), do(choice(P, C), s0)))", _pair
    for more in ("higher", "lower"):
        yield f"{more}(N, N)", _fields("amount_comparison", "first second", relation=more)
        compared = _fields("guaranteed_comparison", "choice than", relation=more)
        yield f"{more}_guaranteed_payoff(C, C)", compared
    for most in ("highest", "lowest"):
        for_choice = _fields("choice_extreme", "amount choice", extreme=most)
        yield f"{most}_individual_payoff_for_choice(N, C)", for_choice
        possible = _fields("possible_extreme", "amount", extreme=most)
        yield f"{most}_possible_individual_payoff(N)", possible
        mutual = _fields("mutual_extreme", "mine theirs", extreme=most)
        yield f"{most}_mutual_payoff(C, C)", mutual
    yield "highest_guaranteed_payoff_choice(C)", _fields("guaranteed_best", "choice")


def _pattern(shape: str) -> re.Pattern[str]:
    """Return the pattern of a predicate: the capitals are arguments, blanks are free."""
    tokens = re.findall(r"\w+|[(),]", shape)
    parts = [_ARGUMENTS.get(token, re.escape(token)) for token in tokens]
    return re.compile(r"\s*".join(parts) + r"\s*\.?")


_READERS: Final = {
    shape.partition("(")[0]: (_pattern(shape), fields) for shape, fields in _predicates()
}
