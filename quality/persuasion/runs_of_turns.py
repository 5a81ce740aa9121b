"""Runs of turns: what one speaker says in a row with one and the same intention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from quality.agreement.annotations import majority
from scenarios.terms import LabelValue

AGREEING: Final = 2
"""How many annotators have to agree."""


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One turn as it stands in a dialogue, with what is known of it."""

    index: int
    """Its place in the dialogue, from 0."""
    role: str
    text: str
    intention: str | None = None
    """None: it has none, or nobody agrees on it."""
    face_act: str | None = None


@dataclass(frozen=True, slots=True)
class RunOfTurns:
    """Turns in a row of one speaker with one intention; often a single one."""

    first: int
    """Index of its first turn."""
    last: int
    role: str
    text: str
    """All that is said in it."""
    intention: str
    face_act: str | None


def runs_of_turns(turns: Sequence[SpokenTurn]) -> tuple[RunOfTurns, ...]:
    """Merge the turns in a row of one speaker that have the same intention.

    Some intentions show only in the turn after: a question about half a run could not be
    answered.

    Args:
        turns: of one dialogue, in order.

    Returns:
        The runs in order; turns without an intention are in none and end one. Where the turns of a
        run have different face acts, its face act is that of the first.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, section 3.3.
    """
    runs: list[RunOfTurns] = []
    previous: SpokenTurn | None = None
    for turn in turns:
        if turn.intention is not None:
            goes_on = (
                previous is not None
                and previous.role == turn.role
                and previous.intention == turn.intention
            )
            if goes_on:
                run = runs.pop()
                text = f"{run.text} {turn.text}"
                runs.append(replace(run, last=turn.index, text=text))
            else:
                runs.append(
                    RunOfTurns(turn.index, turn.index, turn.role, turn.text, turn.intention,
                               turn.face_act)
                )  # fmt: skip
        previous = turn
    return tuple(runs)


def agreed(values: Sequence[LabelValue], *, least: int = AGREEING) -> LabelValue | None:
    """Return the label that more than half of the annotators gave, and at least so many of them.

    Args:
        values: one of each annotator who answered.
        least: how many have to give it.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, section 3.2 (two of three).
    """
    label = majority(values)
    return label if label is not None and values.count(label) >= least else None
