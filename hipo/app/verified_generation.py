"""Generate and verify at once: each dialogue is judged as soon as it is there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hipo.app.endpoints import EndpointPool, limiters_for, providers_for
from hipo.app.generation import PlayContext
from hipo.app.interrupts import left_when_stopped
from hipo.app.judges import Panels
from hipo.app.preparation import Prepared
from hipo.app.resumption import ledger_of
from hipo.app.verification import (
    Wishes,
    check_settings,
    comparing,
    make_ready,
    verification_of,
)
from hipo.app.watching import Spending
from pipeline.engine import Engine, Outcome, Player, Progress
from pipeline.executors.local import LocalExecutor, width_for
from pipeline.plan import Plan
from pipeline.recipe import Recipe
from pipeline.stop import Stop
from pipeline.store.queries.status import ArmState
from pipeline.store.run_store import RunStore
from quality.verify import Verification
from scenarios.case import Case
from scenarios.dialogue import Dialogue

ENOUGH = "enough dialogues are accepted"
"""Why a run stops that has what it was asked for."""
FIRST_YIELD = 0.5
"""Share of dialogues expected to be accepted before any was."""
HOPELESS = 200
"""Dialogues of which not one was accepted, before a run gives up."""
MOST_GROWTH = 4
"""How many times larger than what was played so far the next round may be."""


class VerifyingRecords:
    """The store as the engine knows it; a dialogue that is finished is judged at once."""

    def __init__(
        self,
        store: RunStore,
        verification: Verification,
        stop: Stop,
        *,
        accepted: int | None,
        on_accepted: Callable[[int], None],
    ) -> None:
        """Stop when ``accepted`` dialogues are, if it is given; tell how many more have become so."""
        self._store = store
        self._verification = verification
        self._stop = stop
        self._wanted = accepted
        self._on_accepted = on_accepted
        self._seen = 0

    async def add_cases(self, cases: Sequence[Case]) -> None:
        """Make cases known."""
        await self._store.add_cases(cases)

    def pending(
        self, cases: Sequence[Case], arm: str, *, retry_failed: bool = False
    ) -> list[tuple[Case, int]]:
        """Return the cases this arm still has to play."""
        return self._store.pending(cases, arm, retry_failed=retry_failed)

    async def finish(self, dialogue: Dialogue, epoch: int) -> None:
        """Store a dialogue, then have it judged; what goes wrong then leaves it unjudged."""
        await self._store.finish(dialogue, epoch)
        await self._verification.take(dialogue)
        self.look()

    async def fail(self, case: Case, arm: str, code: str, reason: str, epoch: int) -> None:
        """Store that a case failed."""
        await self._store.fail(case, arm, code, reason, epoch)

    def look(self) -> None:
        """Ask to stop if enough dialogues are accepted."""
        accepted = accepted_in(self._store)
        self._on_accepted(accepted - self._seen)
        self._seen = accepted
        if self._wanted is not None and accepted >= self._wanted:
            self._stop.request(ENOUGH)


@dataclass(frozen=True, slots=True)
class VerifiedPlay:
    """Plays a run's plan with verification; give it to ``generate_async`` as ``play``."""

    wishes: Wishes
    accepted: int | None = None
    """Go on until so many dialogues are accepted; None plays the plan."""
    most: int | None = None
    """With ``accepted``: the most cases that may be played."""

    def check(self, prepared: Prepared) -> Panels:
        """Return who will judge, where judges, policy and thresholds fit what is to be generated.

        Raises:
            UsageError: something does not exist or does not fit together.
        """
        recipe = self._within(prepared.recipe).over(prepared.recipe)
        arms = [ArmState(arm.id, arm.fields(), 0, 0) for arm in prepared.arms]
        _, _, panels = check_settings(recipe, prepared.scheme, arms)
        return panels

    async def __call__(self, stage: PlayContext) -> Outcome:
        """Verify what is there, then play and verify what is not.

        Raises:
            UsageError: a judge or the policy is not fit, or an endpoint refuses key or model.
        """
        prepared = stage.connections.prepared
        recipe, store, stop, watching = prepared.recipe, stage.store, stage.stop, stage.watching
        ready = make_ready(store, self._within(recipe))
        ledger = ledger_of(recipe, store)
        limiters = limiters_for(recipe.limits)
        unknown = bool(prepared.unpriced or ready.panels.unpriced)
        async with (
            providers_for(ready.panels.uses, recipe.limits) as providers,
            comparing(ready) as encoder,
        ):
            pool = EndpointPool(
                recipe.limits, providers,
                ledger=ledger, stop=stop, notice=watching.note, limiters=limiters,
            )  # fmt: skip
            verification = verification_of(ready, store, pool, stop, encoder=encoder)
            rounds = _Rounds(
                stage=stage,
                verification=verification,
                players=stage.connections.players(
                    store.calls, ledger, stop, watching.note, limiters
                ),
                accepted=self.accepted,
                most=self.most,
            )
            for note in ready.panels.notes:
                watching.note(note)
            watching.begin(
                self.accepted or prepared.dialogues,
                lambda: Spending(ledger.spent_tokens, None if unknown else ledger.spent_usd),
            )
            try:
                with left_when_stopped(stop):
                    await rounds.play()
            finally:
                watching.end()
            verification.raise_fatal()
        return rounds.outcome()

    def _within(self, recipe: Recipe) -> Wishes:
        """Return the wishes within the budget of the run: one ledger holds for all of it."""
        return replace(
            self.wishes, budget_usd=recipe.budget_usd, budget_tokens=recipe.budget_tokens
        )


@dataclass(slots=True)
class _Rounds:
    """Plays the plan once, or larger and larger plans until enough dialogues are accepted."""

    stage: PlayContext
    verification: Verification
    players: Mapping[str, Player]
    accepted: int | None
    most: int | None
    _outcomes: list[Outcome] = field(default_factory=list)
    _before: int = 0

    async def play(self) -> None:
        """Judge what is there already, then play."""
        store, stop = self.stage.store, self.stage.stop
        prepared = self.stage.connections.prepared
        self._before = self._played()
        records = VerifyingRecords(
            store, self.verification, stop, accepted=self.accepted, on_accepted=self._see_accepted
        )
        records.look()
        if stop.requested:
            return
        width = width_for(prepared.recipe.limits.max_concurrency)
        left = prepared.dialogues - self._before
        more = self.accepted is not None or left > 0 or self.stage.retry_failed
        await self.verification.run(
            store.dialogues(traces=False), LocalExecutor(width), more_follow=more
        )
        records.look()
        if self.accepted is None:
            await self._engine(records, prepared.plan, width)
            return
        size = 0
        while not stop.requested:
            found = accepted_in(store)
            grown = next_size(
                size,
                wanted=self.accepted,
                accepted=found,
                played=self._played(),
                arms=len(prepared.arms),
                most=self.most,
            )
            if self._played() >= HOPELESS and not found:
                stop.request(f"none of {self._played():,} dialogues was accepted")
            elif grown == size:
                stop.request(f"all {size:,} cases are played, {found:,} dialogues accepted")
            else:
                size = grown
                await self._engine(records, replace(prepared.plan, n=size), width)

    async def _engine(self, records: VerifyingRecords, plan: Plan, width: int) -> None:
        """Run the engine over one plan."""
        engine = Engine(
            records,
            self.players,
            LocalExecutor(width),
            self.stage.stop,
            retry_failed=self.stage.retry_failed and not self._outcomes,
            on_progress=self._see,
        )
        try:
            await engine.run(plan)
        finally:
            self._outcomes.append(engine.outcome)

    def outcome(self) -> Outcome:
        """Return what was done in all; to have enough is not to have stopped early."""
        whole = Outcome(present=self._before)
        for outcome in self._outcomes:
            whole.generated += outcome.generated
            whole.failed += outcome.failed
            whole.stop_code = outcome.stop_code
        whole.failed += self.verification.outcome.failed
        reason = self.stage.stop.reason
        whole.stopped = None if reason == ENOUGH else reason
        return whole

    def _played(self) -> int:
        state = self.stage.store.state()
        return state.generated + sum(state.failed.values())

    def _see(self, progress: Progress) -> None:
        """Show the progress of the plan, or only failures where acceptance is what counts."""
        if self.accepted is None:
            self.stage.watching.see(progress)

    def _see_accepted(self, more: int) -> None:
        if self.accepted is not None and more > 0:
            self.stage.watching.see(Progress("generated", more))


def next_size(
    size: int, *, wanted: int, accepted: int, played: int, arms: int, most: int | None
) -> int:
    """Return of how many cases the next round's plan consists.

    Args:
        size: cases of the last round, 0 before the first.
        wanted: accepted dialogues that are asked for.
        accepted: those there are.
        played: dialogues played so far, by all arms.
        arms: how many arms play each case.
        most: upper limit of cases, None for none.
    """
    share = accepted / played if accepted else FIRST_YIELD
    more = max(1, math.ceil((wanted - accepted) / share / arms))
    grown = size + (min(more, MOST_GROWTH * size) if size else more)
    return grown if most is None else min(grown, most)


def first_size(wanted: int, arms: int, most: int | None) -> int:
    """Return of how many cases the first round consists."""
    return next_size(0, wanted=wanted, accepted=0, played=0, arms=arms, most=most)


def accepted_in(store: RunStore) -> int:
    """Return how many dialogues of a run are accepted."""
    return store.judgements.counts().verdicts.get("accepted", 0)
