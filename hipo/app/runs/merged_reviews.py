"""What people decide together who answered in different runs, once these are merged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipeline.chunks import chunks
from pipeline.store.merging.merge import Merged
from pipeline.store.reviews import ReviewStore
from quality.review.verdicts import settled
from scenarios.plural import plural

DECIDED_AT_ONCE = 200
NAMED = 10
"""Dialogues that are named in one line."""


def settle_reviews(folder: Path, merged: Merged) -> None:
    """Decide anew on the dialogues that people answered in more than one of the merged runs.

    As where an answer is stored: an expert who has decided is not overruled.

    Args:
        folder: of the new run, whole but for this.
        merged: what came of the merge.
    """
    if not merged.answered_apart:
        return
    with ReviewStore.open(folder) as store:
        for study in store.studies.all():
            for numbers in chunks(merged.answered_apart, DECIDED_AT_ONCE):
                items = (store.sheets.item(study, number) for number in numbers)
                found = (settled(store, study, item) for item in items if item is not None)
                store.judgements.decide_now(*(one for one in found if one is not None))


def review_notes(merged: Merged) -> Iterator[str]:
    """Name the dialogues that people accepted in one run and discarded in another."""
    found = merged.contradicting
    if found:
        listed = ", ".join(f"{case[:12]}/{arm[:12]}" for case, arm in found[:NAMED])
        more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
        yield (
            f"{plural(len(found), 'dialogue')} accepted by reviewers in one run and discarded in "
            f"another, all their answers count now: {listed}{more}"
        )
