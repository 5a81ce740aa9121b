"""Play towards a quota: plan a round from what is durable, play it, judge it, plan the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hipo.app.generation.generate import PlayContext, played_in_all, there_before
from hipo.app.generation.quota import CellFill, PlannedQuota, QuotaFill
from pipeline.playing.engine import Engine, Player
from pipeline.playing.runner import Executor, Progress, RunOutcome
from pipeline.quotas.quota import CellTally
from pipeline.quotas.record import record_quota
from pipeline.stopping.stop import ENOUGH, NOT_ENOUGH
from pipeline.store.queries.aims import read_open
from pipeline.store.reading import open_snapshot
from quality.verification.verify import Verification
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.plural import in_dollars, plural

NAMED = 3
"""Cells that are named in one line."""


@dataclass(slots=True)
class QuotaRounds:
    """Plays round after round until every cell has its utterances, or nothing more can be done.

    A round is planned from the store alone and stored before anything is asked, and its dialogues
    are judged in the order of their cases when all of them are there. So the same seed gives the
    same cases and the same verdicts, however many are played at once and wherever the run was
    interrupted, as far as the models answer alike.
    """

    stage: PlayContext
    verification: Verification
    players: Mapping[str, Player]
    executor: Executor
    quota: PlannedQuota
    _outcomes: list[RunOutcome] = field(default_factory=list)
    _before: int = 0
    _finished: dict[tuple[str, str], Dialogue] = field(default_factory=dict)
    """Dialogues of the round that are played and not judged yet."""
    _shown: int = 0
    """Utterances that the watcher has been told of."""
    _round: int = 0
    _cases: int = 0
    """Cases of the round."""
    _judging: bool = False

    @property
    def total(self) -> int:
        """Accepted utterances that are wanted of the cells within reach."""
        unreachable = self.quota.lanes.out_of_reach
        return sum(c.accepted for c in self.quota.quota.cells if c.key not in unreachable)

    @property
    def doing(self) -> str:
        """What is done at the moment."""
        if not self._round:
            return "judging what is there"
        played = len(self._finished)
        if self._judging:
            return f"round {self._round}, judging {plural(played, 'dialogue')}, accepted"
        return f"round {self._round}, {played:,} of {self._dialogues:,} played, accepted"

    async def play(self) -> None:
        """Finish the round that an earlier session began, judge what is there, then go on."""
        store, stop = self.stage.store, self.stage.stop
        record_quota(store, self.quota.record)
        self._before = there_before(self.stage)
        with open_snapshot(store.folder) as connection:
            begun = read_open(connection, list(self.players), retry_failed=self.stage.retry_failed)
        if begun:
            await self._generate(begun, retry_failed=self.stage.retry_failed)
        if stop.requested:
            return
        self._finished.clear()
        await self.verification.run(store.dialogues(traces=False), self.executor, more_follow=True)
        while not stop.requested:
            tallies = self.quota.count(store.folder, tried=True)
            self._tell(tallies)
            cases = self.quota.next_round(store.folder, tallies)
            if not cases:
                store.set_state("running", planned=store.state().settled)
                self._end(self.quota.fill(tallies))
                return
            self._round += 1
            self._judging = False
            self._finished.clear()
            self._cases = len(cases)
            await store.add_cases(cases)
            store.set_state("running", planned=store.state().settled + self._dialogues)
            await self._generate(cases)
            if not stop.requested:
                await self._judge(cases)

    @property
    def _dialogues(self) -> int:
        return self._cases * len(self.players)

    def outcome(self) -> RunOutcome:
        """Return what was done in all; to have every cell is not to have stopped early."""
        return played_in_all(
            self._before, self._outcomes, self.verification.outcome.failed, self.stage.stop
        )

    async def _generate(self, cases: Sequence[Case], *, retry_failed: bool = False) -> None:
        prepared = self.stage.connections.prepared
        engine = Engine(
            self.stage.store,
            self.players,
            self.executor,
            self.stage.stop,
            scenarios=len(prepared.plan.scenarios),
            retry_failed=retry_failed,
            then=self._keep,
        )
        try:
            await engine.run(cases)
        finally:
            self._outcomes.append(engine.outcome)

    async def _keep(self, dialogue: Dialogue) -> None:
        """Keep a dialogue until its round is judged."""
        self._finished[dialogue.key] = dialogue

    async def _judge(self, cases: Sequence[Case]) -> None:
        """Judge the dialogues of a round in the order of their cases."""
        ordered = [
            self._finished[case.id, arm]
            for case in cases
            for arm in self.players
            if (case.id, arm) in self._finished
        ]
        self._judging = True
        await self.verification.run(ordered, self.executor, more_follow=True)

    def _tell(self, tallies: Sequence[CellTally]) -> None:
        """Show how many of the wanted utterances there are, and what the cells cost so far."""
        unreachable = self.quota.lanes.out_of_reach
        there = sum(
            min(t.accepted, t.cell.accepted) for t in tallies if t.cell.key not in unreachable
        )
        if there > self._shown:
            self.stage.watching.see(Progress("done", there - self._shown))
            self._shown = there
        if self._round:
            fill = self.quota.fill(tallies)
            line = f"round {self._round}: {len(fill.of_state('filled'))} of {len(tallies)} cells"
            line += f" filled, {there:,} of {self.total:,} utterances accepted"
            priced = [t for t in tallies if t.cost_per_accepted]
            dearest = max(priced, key=lambda t: t.cost_per_accepted or 0.0, default=None)
            if dearest is not None:
                line += (
                    f"; dearest cell: {dearest.cell.name}, "
                    f"{in_dollars(dearest.cost_per_accepted or 0.0)} an accepted utterance"
                )
            self.stage.watching.note(line)

    def _end(self, fill: QuotaFill) -> None:
        """Stop: every cell is filled, or those that are not are named."""
        stop = self.stage.stop
        given_up, still_open = fill.of_state("given up"), fill.of_state("open")
        if not given_up and not still_open:
            stop.request("every cell of the quota that is within reach is filled", ENOUGH)
            return
        parts, advice = [], ["see why with: hipo verdict RUN ID"]
        if given_up:
            parts.append(f"given up, asked for again and again in vain: {_named(given_up)}")
            advice.append("a larger give_up_after tries longer")
        if still_open:
            parts.append(
                f"all cases are played that -n allows, and still missing: {_named(still_open)}"
            )
            advice.append("a larger -n allows more cases")
        stop.request("; ".join(parts), NOT_ENOUGH, "; ".join(advice))


def _named(cells: Sequence[CellFill]) -> str:
    """Name the first cells, and say how many more there are."""
    names = "; ".join(cell.tally.cell.name for cell in cells[:NAMED])
    more = len(cells) - NAMED
    return f"{names} and {more:,} more" if more > 0 else names
