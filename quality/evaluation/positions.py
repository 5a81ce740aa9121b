"""Whether a model prefers a place among the options: how often each is given, and is right."""

from __future__ import annotations

from collections.abc import Sequence

from quality.evaluation.scores import PositionShare


def position_shares(
    given: Sequence[int], right: Sequence[int], size: int
) -> tuple[PositionShare, ...]:
    """Return the shares of every place, from the first option to the last.

    Args:
        given: the places of the answers, from 0; an answer that is no option is left out.
        right: the places of the right options; at least one where ``size`` is above 0.
        size: how many options there are at most.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, section 5.1.2 (for the
    last of four options: the share of answers D beside the share of questions that D is right of).
    """
    return tuple(
        PositionShare(
            place,
            given.count(place) / len(given) if given else None,
            right.count(place) / len(right),
        )
        for place in range(size)
    )
