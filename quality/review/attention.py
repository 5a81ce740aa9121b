"""Attention items among the items of a quiz: lines whose labels are known, given like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pipeline.store.reviews import ReviewStore
from quality.review.exhibits import ReviewDialogue, exhibit
from scenarios.dialogue import Dialogue
from scenarios.fingerprint import seed_from
from scenarios.reviews import (
    Annotator,
    Assignment,
    AttentionAnswer,
    GivenLabel,
    Item,
    Opinion,
    ReviewStudy,
)
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import LabelValue

_HALF = 31
"""Bits of each half of a number that is hidden."""
_MASK = (1 << _HALF) - 1
_ROUNDS = 4
_FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class AttentionLine:
    """A line that can be given."""

    id: str
    dialogue: Dialogue
    """The question and the line, with the labels that are right."""
    scenario: Scenario


class AttentionItems:
    """Gives the annotators of one study lines among their items, and scores their answers.

    Each is given as many as the study asks, drawn and placed by its seed and their code: one in
    each of as many equal parts of their items, so that nobody meets two of them only at the end.
    """

    def __init__(
        self,
        store: ReviewStore,
        study: ReviewStudy,
        scheme: Scheme,
        lines: Sequence[AttentionLine],
        count: int,
    ) -> None:
        """Draw ``count`` of ``lines`` for each annotator."""
        self._log = store.attention
        self._study = study
        self._lines = {line.id: line for line in lines}
        self._count = count
        self._exhibits = {
            line.id: exhibit(line.dialogue, line.scenario, scheme, study) for line in lines
        }

    def begun(self, code: str) -> int | None:
        """Return the number of what somebody has begun to answer; None: nothing."""
        numbers = [one.seq for one in self._given(code) if one.state == "open"]
        return numbers[-1] if numbers else None

    async def take(
        self, code: str, done: int, total: int, *, category: str = "", reason: str = ""
    ) -> int | None:
        """Give somebody a line if it is time, and return its number.

        Args:
            code: of the annotator.
            done: how many of the items they have answered.
            total: how many items there are for them.
            category: only lines from scenarios of this category; empty for all.
            reason: lines have no flags: with any, none is given.
        """
        given = self._given(code)
        left = self._left(code, given, category=category, reason=reason)
        if not left or done < place(self._study, code, len(given), total=total, count=self._count):
            return None
        await self._log.give(self._study.id, code, left[0].id)
        return self.begun(code)

    def counts(self, code: str, *, category: str = "", reason: str = "") -> tuple[int, int]:
        """Return (lines that somebody has answered, lines there are for them in all)."""
        given = self._given(code)
        kept = [one for one in given if one.state != "given_back"]
        left = self._left(code, given, category=category, reason=reason)
        return sum(one.state == "done" for one in kept), len(kept) + len(left)

    def done_times(self, code: str) -> list[tuple[float, int]]:
        """Return (Unix time, number) of every answer of somebody."""
        return [
            (one.done_at, one.seq)
            for one in self._given(code)
            if one.done_at and one.state == "done"
        ]

    def answer_of(self, number: int, code: str) -> AttentionAnswer | None:
        """Return what is answered; None where it was not given to them."""
        return next((one for one in self._given(code) if one.seq == number), None)

    def assignment(self, number: int, person: Annotator) -> Assignment | None:
        """Return an assignment whose number is negative, as none of an item is."""
        found = self.answer_of(number, person.code)
        if found is None:
            return None
        line = self._lines[found.line]
        item = Item(0, line.dialogue.case.id, line.dialogue.arm, line.scenario.category, ())
        return Assignment(
            -found.seq, item, person.seq, found.state, _FOREVER, found.opened_at, found.done_at
        )

    def exhibit(self, number: int, code: str) -> ReviewDialogue:
        """Return what is shown of a line that was given."""
        found = self.answer_of(number, code)
        if found is None:
            raise KeyError(number)
        return self._exhibits[found.line]

    async def submit(
        self, number: int, code: str, labels: Sequence[GivenLabel], opinion: Opinion
    ) -> None:
        """Store an answer with its score."""
        shown = self.exhibit(number, code)
        right, chances = score(shown, labels)
        await self._log.answer(
            number, labels, note=opinion.note, lead_s=opinion.lead_s, right=right, chances=chances
        )

    async def give_back(self, number: int) -> None:
        """Let go of a line."""
        await self._log.give_back(number)

    def _given(self, code: str) -> list[AttentionAnswer]:
        given = self._log.given(self._study.id, code)
        return [one for one in given if one.line in self._lines]

    def _left(
        self, code: str, given: Sequence[AttentionAnswer], *, category: str, reason: str
    ) -> list[AttentionLine]:
        if reason:
            return []
        drawn = sorted(
            self._lines.values(),
            key=lambda line: seed_from(self._study.seed, "attention", code, line.id),
        )[: self._count]
        had = {one.line for one in given}
        return [
            line
            for line in drawn
            if line.id not in had and category in ("", line.scenario.category)
        ]


def place(study: ReviewStudy, code: str, number: int, *, total: int, count: int) -> int:
    """Return after how many of ``total`` items somebody is given line ``number`` of ``count``."""
    begin, end = number * total // count, (number + 1) * total // count
    return begin + seed_from(study.seed, "place", code, number) % max(1, end - begin)


def score(shown: ReviewDialogue, labels: Sequence[GivenLabel]) -> tuple[int, tuple[float, ...]]:
    """Return how many known questions are answered right, and for each how often a guess is."""
    given: dict[tuple[int | None, str], LabelValue] = {
        (label.turn, label.dimension): label.value for label in labels
    }
    right, chances = 0, []
    for section in shown.sections:
        for question in section.fields:
            key = (question.turn, question.dimension.id)
            if key in given and key in shown.declared and question.kind == "one":
                right += given[key] == shown.declared[key]
                chances.append(1 / len(question.choices))
    return right, tuple(chances)


class PageNumbers:
    """Numbers as the browser has them: one for each, and none tells what or how late it is.

    A permutation of the numbers of 62 bits; source: Luby and Rackoff (1988), four rounds.
    """

    def __init__(self, key: bytes) -> None:
        """Hide numbers with a key."""
        self._key = key

    def shown(self, number: int) -> int:
        """Return the number on the page of an assignment; negative ones are attention items."""
        left, right = divmod(2 * abs(number) + (number < 0), 1 << _HALF)
        for turn in range(_ROUNDS):
            left, right = right, left ^ self._mixed(turn, right)
        return 1 + (left << _HALF | right)

    def stored(self, shown: int) -> int | None:
        """Return the number of the assignment; None where no page has this number."""
        if not 1 <= shown <= 1 << 2 * _HALF:
            return None
        left, right = divmod(shown - 1, 1 << _HALF)
        for turn in reversed(range(_ROUNDS)):
            left, right = right ^ self._mixed(turn, left), left
        number, attentive = divmod((left << _HALF) | right, 2)
        return -number if attentive else number

    def _mixed(self, turn: int, half: int) -> int:
        digest = blake2b(half.to_bytes(4, "big"), key=self._key, salt=bytes([turn]), digest_size=4)
        return int.from_bytes(digest.digest(), "big") & _MASK
