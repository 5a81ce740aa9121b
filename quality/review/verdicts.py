"""Derive a verdict from reviews: the majority of reviewers decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pipeline.store.reviews import ReviewStore
from scenarios.reviews import Item, Opinion, ReviewStudy, Sheet
from scenarios.verdicts import Decision


def verdict(item: Item, study: ReviewStudy, sheets: Sequence[Sheet]) -> Decision | None:
    """Return what reviewers decide about a dialogue, as soon as no further answer can change it.

    More than half of the people a study asks have to confirm an issue (2 of 3) for the dialogue to
    be discarded; it is accepted where they can no longer be that many. Split evenly with every
    answer in, it goes to an expert: pending. Runs that were merged can have more answers than the
    study asks for: all of them count.

    Source: HIPO, quality assurance (dialogues with confirmed problems are discarded).
    """
    opinions = [s.opinion for s in sheets if s.opinion and s.opinion.issue is not None]
    confirmed = [opinion for opinion in opinions if opinion.issue]
    rejected = len(opinions) - len(confirmed)
    count = f"{len(confirmed)} of {len(opinions)} confirm an issue"
    asked = max(study.per_item, len(opinions))
    if 2 * len(confirmed) > asked:
        return Decision(
            item.case, item.arm, "discarded", "review", f"{count}: {_reasons(confirmed)}"
        )
    if 2 * rejected > asked:
        return Decision(item.case, item.arm, "accepted", "review", count)
    if len(opinions) >= study.per_item:
        return Decision(item.case, item.arm, "pending", "review", f"{count}: evenly split")
    return None


def settled(store: ReviewStore, study: ReviewStudy, item: Item) -> Decision | None:
    """Return the decision that has to be stored now; None where nothing changes.

    An expert who has decided is not overruled; a quiz and readings of gold lines decide nothing.
    """
    if not study.asks_opinion:
        return None
    key = (item.case, item.arm)
    earlier = store.judgements.decisions([key]).get(key, [])
    if any(one.by == "expert" for one in earlier):
        return None
    decision = verdict(item, study, list(store.sheets.sheets(study, item=item.seq)))
    if decision is None and earlier and earlier[-1].by == "review":
        # Somebody has changed an answer that had settled it.
        decision = Decision(item.case, item.arm, "pending", "review", "an answer was changed")
    return decision


def _reasons(opinions: Sequence[Opinion]) -> str:
    counts = Counter(opinion.issue_reason or "unspecified" for opinion in opinions)
    return ", ".join(f"{reason} ({n})" if n > 1 else reason for reason, n in counts.most_common())
