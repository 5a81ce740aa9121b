"""Several judges on one question: the majority, with every vote kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quality.records import Judgement


@dataclass(frozen=True, slots=True)
class Ballot:
    """All votes of a panel on one dimension of one turn, or of the dialogue."""

    turn: int | None
    dimension: str
    votes: tuple[Judgement, ...]
    """Unreadable ones too."""

    @property
    def readable(self) -> tuple[Judgement, ...]:
        """The votes that count."""
        return tuple(vote for vote in self.votes if vote.carried is not None)

    @property
    def carried(self) -> bool | None:
        """What more than half of the readable votes say; a tie says no. None: nobody voted."""
        if not self.readable:
            return None
        return 2 * sum(vote.carried is True for vote in self.readable) > len(self.readable)

    def against(self, expected: bool) -> tuple[Judgement, ...]:
        """Return the votes that say otherwise."""
        return tuple(vote for vote in self.readable if vote.carried is not expected)

    def objection(self, expected: bool) -> float | None:
        """Return the share of votes against ``expected`` if they are at least half, else None."""
        against = len(self.against(expected))
        if not against or 2 * against < len(self.readable):
            return None
        return against / len(self.readable)


def ballots(judgements: Iterable[Judgement]) -> list[Ballot]:
    """Gather the votes on each question, in the order in which questions first occur."""
    votes: dict[tuple[int | None, str], list[Judgement]] = {}
    for judgement in judgements:
        votes.setdefault((judgement.turn, judgement.dimension), []).append(judgement)
    return [Ballot(turn, dimension, tuple(cast)) for (turn, dimension), cast in votes.items()]
