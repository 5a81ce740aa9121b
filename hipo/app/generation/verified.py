"""Generate and verify at once: each dialogue is judged as soon as it is stored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hipo.app.generation.generate import PlayContext, played_in_all, there_before
from hipo.app.generation.quota import PlannedQuota
from hipo.app.generation.quota_rounds import QuotaRounds
from hipo.app.judging.foils import foils_of, try_foils
from hipo.app.judging.judges import Panels
from hipo.app.judging.tools import equipped
from hipo.app.models.batch_apis import check_batches
from hipo.app.models.batching import batching
from hipo.app.models.endpoints import EndpointPool
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.executors import playing_executor
from hipo.app.preparation.prepared import Prepared
from hipo.app.preparation.remaining import Remainder, begun_for_quota, remaining, whole_plan
from hipo.app.running.interrupts import left_when_stopped
from hipo.app.running.watching import Spending, spent, watched
from hipo.app.runs.resumption import planned_with
from hipo.app.verification.verify import (
    check_asked,
    check_settings,
    judge_prompts,
    make_ready,
    verification_of,
)
from pipeline.executors.capped import CappedExecutor
from pipeline.playing.engine import Engine, Player
from pipeline.playing.runner import Executor, Progress, RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.stopping.stop import ENOUGH, NOT_ENOUGH
from pipeline.store.queries.status import ArmState
from pipeline.store.run_store import RunStore
from prompts.judges import JudgePrompts
from quality.verification.verify import Verification
from scenarios.dialogue import Dialogue
from scenarios.plural import plural

FIRST_YIELD = 0.5
"""Share of dialogues expected to be accepted before any was."""
HOPELESS = 200
"""Dialogues of which not one was accepted, before a run gives up."""
MOST_GROWTH = 4
"""How many times larger than what was played so far the next round may be."""


@dataclass(frozen=True, slots=True)
class VerifiedPlay:
    """Plays a run's plan with verification; give it to :func:`hipo.generate` as ``play``."""

    overrides: VerificationOverrides
    accepted: int | None = None
    """Go on until so many dialogues are accepted; None plays the plan."""
    most: int | None = None
    """With ``accepted``: the most cases that may be played."""
    quota: PlannedQuota | None = None
    """Go on until every cell of it is filled."""

    def check(self, prepared: Prepared, there: Sequence[ArmState] = ()) -> Panels:
        """Return who will judge, where judges, policy and thresholds fit what is to be generated.

        Args:
            prepared: what is to be generated.
            there: arms that are in the run already; their dialogues are judged, too.

        Raises:
            UsageError: something does not exist or does not fit together.
        """
        recipe = self._within(prepared.recipe).over(prepared.recipe)
        planned = [ArmState(arm.id, arm, 0, 0) for arm in prepared.arms]
        ids = {arm.id for arm in planned}
        arms = [*planned, *(arm for arm in there if arm.id not in ids)]
        _, _, panels = check_settings(recipe, prepared.scheme, arms)
        check_batches([*prepared.uses.values(), *panels.uses], recipe.limits)
        check_asked(self.overrides, panels)
        return panels

    def prompts(self, prepared: Prepared, own_templates: Mapping[str, str]) -> JudgePrompts:
        """Return what the judges will be asked with.

        Args:
            prepared: what is to be generated.
            own_templates: those stored in the run, see
                :attr:`pipeline.run_material.RunMaterial.own_templates`.
        """
        folder = self._within(prepared.recipe).prompt_dir
        scenarios = prepared.scenarios.values()
        return judge_prompts(prepared.scheme, scenarios, prepared.axes, folder, own_templates)

    def foils(self, prepared: Prepared, panels: Panels) -> int:
        """Return of how many answers the judges will be shown wrong labels when all is played."""
        if self.accepted is not None or self.quota is not None:
            return 0  # the run stops as soon as it has enough
        return foils_of(panels, self._within(prepared.recipe).over(prepared.recipe))

    def has_enough(self, store: RunStore) -> bool:
        """Whether as many dialogues are accepted as are asked for, so that nothing is done.

        With a quota what is there is judged in any case, before anything is counted.
        """
        return self.accepted is not None and accepted_in(store) >= self.accepted

    def next_round(
        self, prepared: Prepared, store: RunStore, *, retry_failed: bool = False
    ) -> tuple[Prepared, dict[str, Remainder]]:
        """Return the plan that a run goes on with, and what of it is to be played, by arm id.

        That is the plan as it is prepared, or with ``accepted`` the first round that has anything
        left to play, as far as can be said before what is there has been judged.
        """
        if self.quota is not None:
            return self._next_of_quota(self.quota, prepared, store, retry_failed=retry_failed)
        if self.accepted is None:
            return prepared, remaining(prepared, store, retry_failed=retry_failed)
        accepted, played = accepted_in(store), played_in(store)
        there = {arm.id: arm.generated + arm.failed for arm in store.state().arms}
        nothing = {arm.id: Remainder(0, 0, 0, there.get(arm.id, 0)) for arm in prepared.arms}
        if accepted >= self.accepted or is_hopeless(accepted, played):
            return prepared, nothing
        size = 0
        left = nothing
        while not any(of_arm.dialogues for of_arm in left.values()):
            grown = next_size(
                size,
                prepared,
                wanted=self.accepted,
                accepted=accepted,
                played=played,
                most=self.most,
            )
            if grown == size:
                break
            prepared = prepared.of_size(grown)
            left = remaining(prepared, store, retry_failed=retry_failed and not size)
            size = grown
        return prepared, left

    def _next_of_quota(
        self, quota: PlannedQuota, prepared: Prepared, store: RunStore, *, retry_failed: bool
    ) -> tuple[Prepared, dict[str, Remainder]]:
        """Return as many cases as the cells still need, with those that were drawn and not played."""
        cases = quota.estimate(store.folder).cases
        begun = begun_for_quota(prepared, store, retry_failed=retry_failed)
        waiting = max((left.dialogues for left in begun.values()), default=0)
        prepared = quota.played(prepared, cases)
        new = whole_plan(prepared) if cases else dict.fromkeys(begun, Remainder(0, 0, 0))
        whole = quota.played(prepared, cases + waiting)
        return whole, {arm: new[arm] + begun[arm] for arm in begun}

    async def __call__(self, stage: PlayContext) -> RunOutcome:
        """Verify what is there, then play and verify what is not.

        Raises:
            UsageError: a judge or the policy is not fit, or an endpoint refuses key or model.
        """
        prepared = stage.connections.prepared
        recipe, store, stop, watching = prepared.recipe, stage.store, stage.stop, stage.watching
        ready = make_ready(store, self._within(recipe))
        check_batches([*prepared.uses.values(), *ready.panels.uses], recipe.limits)
        ledger, link = stage.ledger, stage.link
        priced = not (prepared.unpriced or ready.panels.unpriced)
        async with (
            (stage.equipped or equipped)(ready, recipe.limits, watching.note) as tools,
            batching(recipe.limits, store.calls, ledger, stop, watching) as sender,
        ):
            pool = EndpointPool(recipe.limits, tools.providers, link, watching.note, sender=sender)
            verification = verification_of(
                ready, store, pool, stop, encoder=tools.encoder, notice=watching.note
            )
            players = stage.connections.players(
                link, watching.note, in_flight=pool.in_flight, sender=sender
            )
            executor = playing_executor(prepared, link)
            rounds: _Rounds | QuotaRounds = (
                _Rounds(stage, verification, players, executor, self.accepted, self.most)
                if self.quota is None
                else QuotaRounds(stage, verification, players, executor, self.quota)
            )
            for note in () if stage.tried else ready.panels.notes:
                watching.note(note)

            def spending() -> Spending:
                return spent(ledger, link, priced=priced, doing=rounds.doing)

            with watched(watching, rounds.total, spending), left_when_stopped(stop):
                await rounds.play()
                await try_foils(ready, store, pool, executor, stop)
            verification.raise_usage_error()
            if stop.code == ENOUGH and foils_of(ready.panels, ready.recipe):
                watching.note(
                    "judges were not shown wrong labels; hipo verify shows them (--foils)"
                )
        return rounds.outcome()

    def _within(self, recipe: Recipe) -> VerificationOverrides:
        """Return the overrides within the budget of the run, which one ledger holds for all of it."""
        folder = recipe.prompt_dir  # gone since the run was made: what is stored serves
        return replace(
            self.overrides,
            budget_usd=recipe.budget_usd,
            budget_tokens=recipe.budget_tokens,
            batch=recipe.limits.batch,
            prompt_dir=folder if folder is not None and folder.is_dir() else None,
        )


@dataclass(slots=True)
class _Rounds:
    """Plays the plan once, or larger and larger plans until enough dialogues are accepted.

    Every dialogue goes through two stages in a row: it is generated, then verified.
    """

    stage: PlayContext
    verification: Verification
    players: Mapping[str, Player]
    executor: Executor
    accepted: int | None
    most: int | None
    _outcomes: list[RunOutcome] = field(default_factory=list)
    _before: int = 0
    _shown: int = 0
    """Accepted dialogues that the watcher has been told of."""
    _playing: bool = False

    @property
    def total(self) -> int:
        """Dialogues that are to be accepted, or played."""
        return self.accepted or self.stage.connections.prepared.dialogues

    @property
    def doing(self) -> str:
        """What is done at the moment: dialogues are judged while others are still played."""
        outcome = self.verification.outcome
        judged = outcome.done + outcome.present
        if not self._playing:
            return f"judging what is there, {judged:,} judged"
        word = "playing" if self.accepted is None else "playing until enough are accepted"
        return f"{word}, {judged:,} judged"

    async def play(self) -> None:
        """Judge what is there already, then play."""
        store, stop = self.stage.store, self.stage.stop
        prepared = self.stage.connections.prepared
        self._before = there_before(self.stage)
        self._count_accepted()
        if stop.requested:
            return
        left = prepared.dialogues - played_in(store)
        more = self.accepted is not None or left > 0 or self.stage.retry_failed
        await self.verification.run(
            store.dialogues(traces=False),
            self._executor(),
            more_follow=more,
            tried=self.stage.tried > 0,
        )
        self._count_accepted()
        if self.accepted is None:
            await self._generate(prepared)
            return
        size = 0
        while not stop.requested:
            accepted, played = accepted_in(store), played_in(store)
            grown = next_size(
                size,
                prepared,
                wanted=self.accepted,
                accepted=accepted,
                played=played,
                most=self.most,
            )
            if is_hopeless(accepted, played):
                advice = (
                    "see why with: hipo verdict RUN ID; other judges, another --policy or a review by"
                    " people may accept some, more cases alone will not"
                )
                stop.request(f"none of {played:,} dialogues was accepted", NOT_ENOUGH, advice)
            elif grown == size:
                cases = plural(len(prepared.of_size(size).plan), "case")  # of a shard, its own
                told = f"all of {cases} played, {plural(accepted, 'dialogue')} accepted"
                stop.request(told, NOT_ENOUGH)
            else:
                size = grown
                grown_plan = prepared.of_size(size)
                store.set_state("running", planned=planned_with(store, grown_plan))
                await self._generate(grown_plan)

    def _executor(self) -> Executor:
        """Return what does several dialogues at once; never more than are still to be accepted."""
        if self.accepted is None:
            return self.executor
        return CappedExecutor(self.executor, self._count_accepted, self.stage.stop)

    async def _generate(self, prepared: Prepared) -> None:
        """Generate the dialogues of one plan, each followed by its verification."""
        self._playing = True
        engine = Engine(
            self.stage.store,
            self.players,
            self._executor(),
            self.stage.stop,
            scenarios=len(prepared.plan.scenarios),
            retry_failed=self.stage.retry_failed and not self._outcomes,
            on_progress=self._see,
            then=self._verify,
        )
        try:
            await engine.run(*self.stage.left(prepared))
            await self.verification.end(self._executor())
        finally:
            self._outcomes.append(engine.outcome)

    async def _verify(self, dialogue: Dialogue) -> None:
        """Verify a dialogue that has just become durable; what goes wrong leaves it unverified."""
        await self.verification.take(dialogue)
        self._count_accepted()

    def _count_accepted(self) -> int:
        """Show how many more dialogues are accepted, and stop once they are enough.

        Returns:
            How many are still wanted; 0 where acceptance does not count.
        """
        if self.accepted is None:
            return 0
        accepted = accepted_in(self.stage.store)
        if accepted > self._shown:
            self.stage.watching.see(Progress("done", accepted - self._shown))
        self._shown = accepted
        if accepted >= self.accepted:
            self.stage.stop.request("enough dialogues are accepted", ENOUGH)
        return max(0, self.accepted - accepted)

    def outcome(self) -> RunOutcome:
        """Return what was done in all; to have enough is not to have stopped early."""
        return played_in_all(
            self._before, self._outcomes, self.verification.outcome.failed, self.stage.stop
        )

    def _see(self, progress: Progress) -> None:
        """Show the progress of the plan, unless acceptance is what counts."""
        if self.accepted is None:
            self.stage.watching.see(progress)


def next_size(
    size: int, prepared: Prepared, *, wanted: int, accepted: int, played: int, most: int | None
) -> int:
    """Return of how many cases the next round's plan consists, all shards together.

    Args:
        size: cases of the last round, 0 before the first, which goes beyond what is played.
        prepared: what is played, with its arms and its shard.
        wanted: accepted dialogues that are asked for.
        accepted: those there are.
        played: dialogues played so far, by all arms.
        most: upper limit of cases, None for none.
    """
    arms, shard = len(prepared.arms), prepared.plan.shard
    shards = 1 if shard is None else shard.of  # of so many cases in a row one is played here
    share = accepted / played if accepted else FIRST_YIELD
    more = shards * max(1, math.ceil((wanted - accepted) / share / arms))
    grown = size + min(more, MOST_GROWTH * size) if size else shards * (played // arms) + more
    return grown if most is None else min(grown, most)


def accepted_in(store: RunStore) -> int:
    """Return how many dialogues of a run are accepted."""
    return store.judgements.counts().verdicts.get("accepted", 0)


def played_in(store: RunStore) -> int:
    """Return how many dialogues of a run are generated or have failed."""
    return store.state().settled


def is_hopeless(accepted: int, played: int) -> bool:
    """Whether so many dialogues were played without one that is accepted that it makes no sense."""
    return played >= HOPELESS and not accepted
