"""How the offline reasoner says claims, and how claims are read out of such sentences again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from pydantic import ValidationError

from pipeline.offline.dice import Dice
from pipeline.reasoning.claims import PAYOFF_CLAIM, AboutGame, PayoffClaim, plain
from pipeline.verifiers.claim_format import QuotedClaim

_SENTENCES: Final[tuple[tuple[str, dict[str, str], tuple[str, ...]], ...]] = (
    (
        "pair_payoff",
        {"whose": "you"},
        (
            "If I go for {mine} and they go for {theirs}, I come away with {amount}",
            "With {mine} from me and {theirs} from them I get {amount}",
            "Say I pick {mine} and they pick {theirs}: that is {amount} for me",
        ),
    ),
    (
        "pair_payoff",
        {"whose": "them"},
        (
            "If I go for {mine} and they go for {theirs}, they come away with {amount}",
            "With {mine} from me and {theirs} from them they get {amount}",
        ),
    ),
    ("amount_comparison", {"relation": "higher"}, ("{first} is more than {second}",)),
    ("amount_comparison", {"relation": "lower"}, ("{first} is less than {second}",)),
    (
        "choice_extreme",
        {"extreme": "highest"},
        ("The most {choice} can bring me is {amount}", "On a good day {choice} gets me {amount}"),
    ),
    (
        "choice_extreme",
        {"extreme": "lowest"},
        ("The least {choice} can bring me is {amount}", "On a bad day {choice} gets me {amount}"),
    ),
    (
        "possible_extreme",
        {"extreme": "highest"},
        ("Nothing here brings me more than {amount}", "{amount} is the most I can hope for at all"),
    ),
    (
        "possible_extreme",
        {"extreme": "lowest"},
        ("Nothing here brings me less than {amount}", "{amount} is the worst I have to fear"),
    ),
    (
        "guaranteed_comparison",
        {"relation": "higher"},
        ("If it goes badly, {choice} still leaves me better off than {than}",),
    ),
    (
        "guaranteed_comparison",
        {"relation": "lower"},
        ("If it goes badly, {choice} leaves me worse off than {than}",),
    ),
    (
        "guaranteed_best",
        {},
        (
            "Whatever they do, nothing is safer for me than {choice}",
            "The safe way for me is {choice}",
        ),
    ),
    (
        "mutual_extreme",
        {"extreme": "highest"},
        ("Together we do best if I go for {mine} and they go for {theirs}",),
    ),
    (
        "mutual_extreme",
        {"extreme": "lowest"},
        ("Together we do worst if I go for {mine} and they go for {theirs}",),
    ),
)
"""Kind, the fields that a sentence settles, and its wordings."""
_ARGUMENT: Final = re.compile(r"\{(\w+)\}")
_AMOUNTS: Final = ("amount", "first", "second")


def say(claim: AboutGame, dice: Dice) -> str:
    """Return a sentence that makes a claim, without its full stop."""
    fields = claim.model_dump()
    for kind, settled, wordings in _SENTENCES:
        if fields["kind"] == kind and all(fields[k] == v for k, v in settled.items()):
            wording = wordings[dice.below(len(wordings))]
            shown = {k: plain(v) if k in _AMOUNTS else v for k, v in fields.items()}
            return wording.format(**shown)
    raise LookupError(f"no sentence for {claim!r}")


def claims_in(text: str) -> tuple[QuotedClaim, ...]:
    """Return the claims that the sentences of the reasoner make in a text, in order."""
    found = sorted(_found(text), key=lambda one: one.start)
    return tuple(QuotedClaim(one.claim, one.quote) for one in found)


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    claim: PayoffClaim
    quote: str


def _found(text: str) -> Iterator[_Found]:
    for kind, settled, patterns in _patterns():
        for pattern in patterns:
            for match in pattern.finditer(text):
                try:
                    values = {"kind": kind, **settled, **match.groupdict()}
                    claim = PAYOFF_CLAIM.validate_python(values)
                except ValidationError:
                    continue
                yield _Found(match.start(), claim, match.group())


@cache
def _patterns() -> tuple[tuple[str, dict[str, str], tuple[re.Pattern[str], ...]], ...]:
    return tuple(
        (kind, settled, tuple(map(_pattern, wordings))) for kind, settled, wordings in _SENTENCES
    )


def _pattern(wording: str) -> re.Pattern[str]:
    """Return what finds a wording at the beginning of a sentence or after a lead-in."""
    parts = _ARGUMENT.split(wording)
    text = ""
    for place, part in enumerate(parts):
        if place % 2 == 0:
            text += re.escape(part)
        else:
            text += rf"(?P<{part}>-?\d+(?:\.\d+)?)" if part in _AMOUNTS else rf"(?P<{part}>\w+)"
    return re.compile(rf"(?<!\w){text}(?=[.;,:]|\s|$)", re.IGNORECASE)
