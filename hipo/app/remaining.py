"""What of a plan is still to be played, counted case by case, as the engine will find it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hipo.app.preparation import Prepared
from pipeline.chunks import chunks
from pipeline.engine import CHUNK
from pipeline.store.run_store import RunStore


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


def whole_plan(prepared: Prepared) -> dict[str, Remainder]:
    """Return what a run takes that is yet to begin, by arm id; no case is made for it."""
    turns = prepared.plan.improvised
    everything = Remainder(len(prepared.plan), turns.labelled, turns.others)
    return {arm.id: everything for arm in prepared.arms}


def remaining(
    prepared: Prepared, store: RunStore, *, retry_failed: bool = False
) -> dict[str, Remainder]:
    """Return what is still to be played in a run, by arm id.

    The plan is walked and every case looked up: the dialogues that are there may be those of
    another plan, so that their number says nothing about this one.

    Args:
        prepared: what is to be played.
        store: what is there.
        retry_failed: whether cases that failed are played again.
    """
    return {arm.id: _remainder(prepared, store, arm.id, retry_failed) for arm in prepared.arms}


def _remainder(prepared: Prepared, store: RunStore, arm: str, retry_failed: bool) -> Remainder:
    dialogues = exchanges = questions = present = again = 0
    drawn: Counter[str] = Counter()
    for chunk in chunks(prepared.plan, CHUNK):
        pending = store.pending(chunk, arm, retry_failed=retry_failed)
        dialogues += len(pending)
        present += len(chunk) - len(pending)
        exchanges += sum(case.turns for case, _ in pending)
        questions += sum(prepared.plan.questions(case) for case, _ in pending)
        again += sum(epoch > 0 for _, epoch in pending)
        drawn.update(store.drawn([case for case, _ in pending], arm))
    return Remainder(dialogues, exchanges, questions, present, again, drawn)
