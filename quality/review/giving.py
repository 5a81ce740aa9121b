"""What is given to annotators: items of the study and, among them, attention items.

Where there are attention items every number that a browser sees is hidden, so that nothing tells
the two apart; without any, numbers are those of the assignments.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.store.reviews import ReviewStore
from quality.review.attention import AttentionItems, PageNumbers
from quality.review.exhibits import Exhibits, ReviewDialogue
from scenarios.reviews import (
    Annotator,
    AnswerRefused,
    Assignment,
    FormDraft,
    GivenLabel,
    Opinion,
    ReviewStudy,
    Visit,
)


@dataclass(frozen=True, slots=True)
class AttentionMixing:
    """Attention items with the numbers that hide them."""

    items: AttentionItems
    numbers: PageNumbers


class Giving:
    """Gives out what is to be answered, and finds it again by the number on the page."""

    def __init__(
        self,
        store: ReviewStore,
        study: ReviewStudy,
        exhibits: Exhibits,
        lease_s: float,
        mixing: AttentionMixing | None = None,
    ) -> None:
        """Give out the items of a study, with attention items where ``mixing`` has them."""
        self._store = store
        self._study = study
        self._exhibits = exhibits
        self._lease_s = lease_s
        self._mixing = mixing

    def shown(self, assignment: int) -> int:
        """Return the number that the page shows."""
        return assignment if self._mixing is None else self._mixing.numbers.shown(assignment)

    async def take(self, person: Annotator, visit: Visit) -> int | None:
        """Return the number of what somebody is to answer next; None: nothing is left."""
        mixing = self._mixing
        if mixing is None:
            return await self._take_item(person, visit)
        number = mixing.items.begun(person.code)
        if number is None and not self._store.holds_item(self._study, person.seq):
            done, total = self._items(person, visit)
            number = await self._take_line(mixing, person, visit, (done, total))
        if number is None:
            item = await self._take_item(person, visit)
            if item is not None:
                return self.shown(item)
            done, _ = self._items(person, visit)
            number = await self._take_line(mixing, person, visit, (done, done))
        return None if number is None else self.shown(-number)

    async def _take_line(
        self, mixing: AttentionMixing, person: Annotator, visit: Visit, items: tuple[int, int]
    ) -> int | None:
        done, total = items
        return await mixing.items.take(
            person.code, done, total, category=visit.category, reason=visit.reason
        )

    async def _take_item(self, person: Annotator, visit: Visit) -> int | None:
        return await self._store.take(
            self._study,
            person.seq,
            lease_s=self._lease_s,
            category=visit.category,
            reason=visit.reason,
        )

    def find(self, shown: int, person: Annotator) -> Assignment | None:
        """Return what has this number on the page; None where it is not this person's."""
        if self._mixing is None:
            return self._store.assignment(self._study, shown, person.seq)
        number = self._mixing.numbers.stored(shown)
        if number is None:
            return None
        if number < 0:
            return self._mixing.items.assignment(-number, person)
        return self._store.assignment(self._study, number, person.seq)

    def is_lost(self, assignment: Assignment) -> bool:
        """Tell whether somebody was away so long that others have got what they had begun."""
        return assignment.seq > 0 and self._store.is_lost(self._study, assignment)

    def exhibit(self, assignment: Assignment, person: Annotator) -> ReviewDialogue:
        """Return what is shown of it."""
        if self._mixing is not None and assignment.seq < 0:
            return self._mixing.items.exhibit(-assignment.seq, person.code)
        return self._exhibits.of(assignment.item)

    def progress(self, person: Annotator, visit: Visit) -> tuple[int, int]:
        """Return (what somebody has answered, what there is for them in all)."""
        done, total = self._items(person, visit)
        if self._mixing is None:
            return done, total
        more, of_them = self._mixing.items.counts(
            person.code, category=visit.category, reason=visit.reason
        )
        return done + more, total + of_them

    def _items(self, person: Annotator, visit: Visit) -> tuple[int, int]:
        return self._store.progress(
            self._study, person.seq, category=visit.category, reason=visit.reason
        )

    def latest_done(self, person: Annotator, before: Assignment | None = None) -> int | None:
        """Return the number on the page of what somebody answered last, or right before."""
        if self._mixing is None:
            seq = None if before is None else before.seq
            return self._store.latest_done(self._study, person.seq, before=seq)
        times = self._store.done_times(self._study, person.seq)
        times += [(at, -number) for at, number in self._mixing.items.done_times(person.code)]
        if before is not None and before.done_at is not None:
            times = [found for found in times if found[0] < before.done_at]
        return self.shown(max(times)[1]) if times else None

    def labels_of(self, assignment: Assignment, person: Annotator) -> tuple[GivenLabel, ...]:
        """Return what was answered to it, as far as it is labels."""
        if self._mixing is not None and assignment.seq < 0:
            answer = self._mixing.items.answer_of(-assignment.seq, person.code)
            return () if answer is None else answer.labels
        return self._store.labels_of(assignment.seq)

    def opinion_of(self, assignment: Assignment, person: Annotator) -> Opinion | None:
        """Return the rest of the answer."""
        if self._mixing is not None and assignment.seq < 0:
            answer = self._mixing.items.answer_of(-assignment.seq, person.code)
            return None if answer is None else Opinion(note=answer.note, lead_s=answer.lead_s or 0)
        return self._store.opinion_of(assignment.seq)

    async def save_draft(self, assignment: Assignment, person: Annotator, draft: FormDraft) -> bool:
        """Keep a half-filled form, durable on return; False where a newer one is there and stays.

        Raises:
            AnswerRefused: it is not theirs any more, or closed.
        """
        if assignment.seq < 0:
            self._refuse_closed(person)
            return await self._store.keep_draft(assignment.seq, person.seq, draft)
        return await self._store.save_draft(
            self._study, assignment.seq, person.seq, draft, lease_s=self._lease_s
        )

    async def submit_line(
        self,
        assignment: Assignment,
        person: Annotator,
        labels: tuple[GivenLabel, ...],
        opinion: Opinion,
    ) -> bool:
        """Store an answer if it is to an attention item, and return whether it is.

        Raises:
            AnswerRefused: it is closed.
        """
        if self._mixing is None or assignment.seq > 0:
            return False
        self._refuse_closed(person)
        await self._mixing.items.submit(-assignment.seq, person.code, labels, opinion)
        return True

    async def give_back(self, assignment: Assignment, person: Annotator) -> None:
        """Let go of it.

        Raises:
            AnswerRefused: it is not theirs any more, or closed.
        """
        if self._mixing is not None and assignment.seq < 0:
            self._refuse_closed(person)
            await self._mixing.items.give_back(-assignment.seq)
            return
        await self._store.give_back(self._study, assignment.seq, person.seq)

    def _refuse_closed(self, person: Annotator) -> None:
        if self._store.has_finished(self._study, person.seq):
            raise AnswerRefused(
                "closed", "This item is closed; its answers can no longer be changed."
            )
