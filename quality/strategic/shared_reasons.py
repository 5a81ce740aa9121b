"""Whether those who all decide an answer alike do so for the same reasons."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from quality.strategic.discourses import Discourse
from quality.strategic.moves import Move

FEWEST: Final = 3
"""Of two annotators, agreement by pairs says the same."""


@dataclass(frozen=True, slots=True)
class SharedReasons:
    """How far reasons overlap where everybody who decided an answer decided it alike."""

    decided: int
    """Answers whose outcome, with reasons, at least three annotators gave."""
    alike: int
    """Of these, answers that all of them gave to the same side."""
    jaccard: float | None
    """Mean over these of the reasons that all named, by those that anybody named; None without any."""
    identical: float | None
    """Share of these for which all named the same reasons."""


def shared_reasons(discourses: Iterable[Discourse]) -> SharedReasons | None:
    """Compare the reasons of all annotators at once; None where no answer has three of them.

    Args:
        discourses: of the annotators that are compared; answers are joined by dialogue and turn.

    Source: CoBRA, section 5.
    """
    moves: defaultdict[tuple[str, int], list[Move]] = defaultdict(list)
    for discourse in discourses:
        for answer in discourse.answers:
            if answer.move.winner is not None and answer.move.reasons:
                moves[discourse.dialogue, answer.turn].append(answer.move)
    decided = [given for given in moves.values() if len(given) >= FEWEST]
    if not decided:
        return None
    alike = [
        [move.reasons or frozenset() for move in given]
        for given in decided
        if len({move.winner for move in given}) == 1
    ]
    shares = [len(frozenset.intersection(*named)) / len(frozenset.union(*named)) for named in alike]
    same = [len(set(named)) == 1 for named in alike]
    return SharedReasons(
        len(decided),
        len(alike),
        math.fsum(shares) / len(shares) if shares else None,
        sum(same) / len(same) if same else None,
    )
