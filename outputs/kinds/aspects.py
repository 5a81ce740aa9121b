"""The aspects of a dialogue that sets have items of, and the task that asks about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from scenarios.errors import UsageError

Aspect = Literal["utterance", "cumulative", "conversation"]
ASPECTS: Final[tuple[Aspect, ...]] = get_args(Aspect)
"""One utterance and the question it answers; one utterance after all that was said before; the
whole conversation.

Source: HIPO, section 5 (benchmark).
"""
TASK_OF: Final[Mapping[Aspect, str]] = {
    "utterance": "hipo-utterance",
    "cumulative": "hipo-cumulative",
    "conversation": "hipo-conversation",
}
"""The task that asks about an aspect."""


def chosen_aspects(names: Sequence[str]) -> tuple[Aspect, ...]:
    """Return the named aspects in their usual order.

    Raises:
        UsageError: there is no such aspect.
    """
    unknown = [name for name in names if name not in ASPECTS]
    if unknown:
        raise UsageError(f"unknown aspect {unknown[0]!r}", f"choose of: {', '.join(ASPECTS)}")
    return tuple(aspect for aspect in ASPECTS if aspect in names)


def drawn_by(case: str, turn: int | None, aspect: str) -> str:
    """Return what the order of options follows from for an item of a benchmark set.

    The arm is no part of it: where strategies say the same, models are sent the same prompt.
    """
    return f"{case}/{turn}/{aspect}"
