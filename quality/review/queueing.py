"""Select the dialogues of a run that become items of a study."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pipeline.store.review_studies import ReviewCandidate, Which
from pipeline.store.reviews import ReviewStore
from quality.review.exhibits import ScenarioOf
from quality.review.quiz_draw import quiz_draw
from scenarios.fingerprint import seed_from
from scenarios.reviews import ReviewStudy


@dataclass(frozen=True, slots=True)
class QueueSelection:
    """What a study is about."""

    which: Which
    """``pending`` (what waits for review), ``accepted``, or ``all`` that is generated."""
    categories: Collection[str] = ()
    """Categories of scenarios; empty is all."""
    reasons: Collection[str] = ()
    """Codes of flags, one of which a dialogue must have; empty is all."""
    most: int | None = None
    """Largest number of items; drawn by the seed of the study."""
    balance: str | None = None
    """The dimension over whose labels a quiz is drawn evenly; None: over those of all of
    utterances."""


def fill(
    store: ReviewStore, study: ReviewStudy, selection: QueueSelection, scenario_of: ScenarioOf
) -> int:
    """Put what has become reviewable into a study, and return how many items are new.

    Items that are there already stay, whatever becomes of their dialogue.
    """
    room: int | None = None
    if selection.most is not None:
        room = max(0, selection.most - len(store.sheets.items(study)))
        if not room:
            return 0
    by_scenario: dict[str, str] = {}
    chosen: list[tuple[ReviewCandidate, str]] = []
    for candidate in store.studies.candidates(study, selection.which):
        if candidate.scenario not in by_scenario:
            scenario = scenario_of(store.dialogues.ending(f"{candidate.case}/{candidate.arm}"))
            by_scenario[candidate.scenario] = scenario.category if scenario else ""
        its_category = by_scenario[candidate.scenario]
        if selection.categories and its_category not in selection.categories:
            continue
        if selection.reasons and not set(selection.reasons).intersection(candidate.reasons):
            continue
        chosen.append((candidate, its_category))
    if room is not None:
        chosen = _drawn(store, study, chosen, room, selection.balance)
    return store.studies.add_items(study, chosen)


def _drawn(
    store: ReviewStore,
    study: ReviewStudy,
    chosen: list[tuple[ReviewCandidate, str]],
    room: int,
    balance: str | None,
) -> list[tuple[ReviewCandidate, str]]:
    """Draw items: those of a quiz evenly over labels, others by hash alone."""
    if study.mode != "quiz":
        chosen.sort(key=lambda pair: seed_from(study.seed, "draw", pair[0].case, pair[0].arm))
        return chosen[:room]
    by_id = {f"{candidate.case}/{candidate.arm}": (candidate, of) for candidate, of in chosen}
    dialogues = store.dialogues.of((candidate.case, candidate.arm) for candidate, _ in chosen)
    return [by_id[name] for name in quiz_draw(dialogues, study, room, dimension=balance)]
