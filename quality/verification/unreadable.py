"""Judges of whom nothing can be read: found out before all dialogues were paid for in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pipeline.stopping.rules import UNREADABLE_AT_FIRST
from pipeline.stopping.stop import REFUSED, MustStop
from quality.judges.protocol import JudgeIdentity


class UnreadableJudges:
    """Counts the dialogues of which a judge said nothing readable, until it says something."""

    def __init__(self, has_read: Callable[[str, str], bool]) -> None:
        """``has_read`` tells whether anything readable of a judge (source, name) is stored."""
        self._has_read = has_read
        self._readable: set[tuple[str, str]] = set()
        self._unreadable: Counter[tuple[str, str]] = Counter()

    def count(self, seat: JudgeIdentity, *, readable: bool) -> None:
        """Count what a judge said about one dialogue.

        Raises:
            MustStop: it was unreadable for so many dialogues, and never readable.
        """
        key = (seat.source, seat.judge)
        if readable or key in self._readable:
            self._readable.add(key)
            return
        self._unreadable[key] += 1
        if self._unreadable[key] < UNREADABLE_AT_FIRST:
            return
        if self._has_read(*key):
            self._readable.add(key)
            return
        raise MustStop(
            f"nothing that {seat.judge} says can be read, in {self._unreadable[key]} dialogues",
            REFUSED,
            "see its answers with: hipo show RUN ID --prompts; then take another judge with "
            "--judge or --self-judge",
        )
