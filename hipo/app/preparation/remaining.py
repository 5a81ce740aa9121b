"""What of a plan is still to be played, counted case by case, as the engine will find it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hipo.app.preparation.prepared import Prepared
from pipeline.chunks import chunks
from pipeline.planning.plan import Plan
from pipeline.planning.progress import rest_of
from pipeline.playing.engine import CHUNK
from pipeline.store.queries.aims import read_open
from pipeline.store.reading import open_snapshot
from pipeline.store.run_store import RunStore
from scenarios.case import Case


@dataclass(frozen=True, slots=True)
class Remainder:
    """What one arm has still to play of a plan."""

    dialogues: int
    exchanges: int
    """Improvised turns of labelled roles in these dialogues."""
    questions: int
    """Improvised turns of all others."""
    present: int = 0
    """Dialogues of the plan that are there, or have failed and stay so."""
    again: int = 0
    """How many of those to be played have failed before."""
    drawn: Mapping[str, int] = field(default_factory=dict)
    """Samples that dialogues which were broken off have already, by kind of call."""

    def __add__(self, other: Remainder) -> Remainder:
        """Return this and what there is besides."""
        return Remainder(
            self.dialogues + other.dialogues,
            self.exchanges + other.exchanges,
            self.questions + other.questions,
            self.present + other.present,
            self.again + other.again,
            Counter(self.drawn) + Counter(other.drawn),
        )


def whole_plan(prepared: Prepared) -> dict[str, Remainder]:
    """Return what a run takes that is yet to begin, by arm id; no case is made for it."""
    turns = prepared.plan.improvised
    everything = Remainder(len(prepared.plan), turns.labelled, turns.others)
    return {arm.id: everything for arm in prepared.arms}


def remaining(
    prepared: Prepared, store: RunStore, *, retry_failed: bool = False
) -> dict[str, Remainder]:
    """Return what is still to be played in a run, by arm id.

    The cases behind the settled beginning of the plan are looked up: the dialogues that are there
    may be those of another plan, so that their number says nothing about this one. Once all cases
    that the run knows have come up, those that follow are counted without being made.

    Args:
        prepared: what is to be played.
        store: what is there.
        retry_failed: whether cases that failed are played again.
    """
    plan, arms = prepared.plan, [arm.id for arm in prepared.arms]
    rest = rest_of(store, plan, arms, retry_failed=retry_failed)
    found = {arm: Remainder(0, 0, 0, present=rest.settled) for arm in arms}
    known, walked = store.known_cases() - rest.settled, 0
    for chunk in chunks(rest.cases(), CHUNK):
        if known <= 0:
            break
        known -= len(chunk) - store.unknown(chunk)
        walked += len(chunk)
        for arm in arms:
            found[arm] += _looked_up(plan, store, arm, chunk, retry_failed=retry_failed)
    turns = rest.improvised(walked)
    unknown = Remainder(len(plan) - rest.settled - walked, turns.labelled, turns.others)
    return {arm: of_arm + unknown for arm, of_arm in found.items()}


def begun_for_quota(
    prepared: Prepared, store: RunStore, *, retry_failed: bool = False
) -> dict[str, Remainder]:
    """Return what is still to be played of the cases that were drawn for a quota, by arm id."""
    arms = [arm.id for arm in prepared.arms]
    with open_snapshot(store.folder) as connection:
        drawn = read_open(connection, arms, retry_failed=retry_failed)
    cases = [case for case in drawn if case.scenario in prepared.scenarios]
    found: dict[str, Remainder] = {}
    for arm in arms:
        of_arm = Remainder(0, 0, 0)
        for chunk in chunks(cases, CHUNK):
            of_arm += _looked_up(prepared.plan, store, arm, chunk, retry_failed=retry_failed)
        found[arm] = replace(of_arm, present=0)  # they are of no plan
    return found


def _looked_up(
    plan: Plan, store: RunStore, arm: str, chunk: Sequence[Case], *, retry_failed: bool
) -> Remainder:
    """Look some hundreds of cases up."""
    pending = store.pending(chunk, arm, retry_failed=retry_failed)
    return Remainder(
        dialogues=len(pending),
        exchanges=sum(case.turns for case, _ in pending),
        questions=sum(plan.questions(case) for case, _ in pending),
        present=len(chunk) - len(pending),
        again=sum(epoch > 0 for _, epoch in pending),
        drawn=store.drawn([case for case, _ in pending], arm) if pending else {},
    )
