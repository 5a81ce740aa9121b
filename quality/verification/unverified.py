"""What of a run is not verified yet: which dialogues, and which judges are still to be asked."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from pipeline.chunks import chunks
from pipeline.stopping.rules import REFUSED_SCENARIOS
from pipeline.store.judgements import JudgementLog
from quality.gates.protocol import Embedded
from quality.gates.runner import GateChecks, Page
from quality.judges.protocol import Judge, JudgeIdentity
from quality.verification.policy import Policy
from scenarios.case import PlayedCase
from scenarios.dialogue import Dialogue
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Assessment, Flag, JudgeRun

PAGE = 50
"""Dialogues that are looked up in the store at once."""

PAGES_AHEAD = 4
"""How many pages are embedded before their turn."""

Embedding = asyncio.Task[Sequence[Embedded]]
Key = tuple[str, str]
"""(case, arm) of a dialogue."""


@dataclass(frozen=True, slots=True)
class VerificationTask:
    """One dialogue to verify: which judges are still to be asked, and what the rules flagged.

    Plain data that can be sent to a worker elsewhere.
    """

    dialogue: Dialogue
    scenario: Scenario
    seats: tuple[tuple[JudgeIdentity, int], ...]
    """The judges to ask, each with the epoch to ask in."""
    flags: tuple[Flag, ...] | Exception
    """What the rules flagged, or what one of them raised."""

    @property
    def key(self) -> Key:
        """(case, arm) of the dialogue."""
        return self.dialogue.key


@dataclass(frozen=True, slots=True)
class VerificationSetup:
    """The store, judges, rules and policy that dialogues are verified with."""

    records: JudgementLog
    scheme: Scheme
    scenario_of: Callable[[PlayedCase], Scenario]
    judges: Mapping[str, Sequence[Judge]]
    """By arm id."""
    checks: GateChecks
    policy: Policy
    scenarios: int = REFUSED_SCENARIOS
    """How many the dialogues are from."""
    retry_unreadable: bool = False
    """Whether judges whose answer could not be read are asked again."""
    gathers: bool = False
    """Whether what judges are asked waits for a batch, so that all of a dialogue are asked at once."""

    def config(self, arm: str) -> str:
        """Return the fingerprint of the judges and rules that the dialogues of an arm meet."""
        seats = [[seat.source, seat.judge, seat.config] for seat in self._seats(arm)]
        return fingerprint([seats, self.checks.fingerprint])

    def judge(self, arm: str, seat: JudgeIdentity) -> Judge:
        """Return the judge of an arm by its seat."""
        return next(judge for judge in self.judges[arm] if judge.seat == seat)

    async def tasks(
        self,
        dialogues: Iterable[Dialogue],
        *,
        stopped: Callable[[], bool],
        count_present: Callable[[int], None],
        more_follow: bool = False,
        tried: bool = False,
    ) -> AsyncIterator[VerificationTask]:
        """Yield what is left to do; decisions that another policy took are taken anew.

        Args:
            dialogues: all of the run, always in the same order: the rules compare a dialogue with
                those before it.
            stopped: whether nothing more is to be begun.
            count_present: is called with the number of dialogues that are verified already.
            more_follow: whether other dialogues will be checked later, so that the rules have to
                see all of these.
            tried: whether what is not verified was tried in this session already and stays so:
                the rules see it, and nothing is yielded.
        """
        configs = {arm: self.config(arm) for arm in self.judges}
        see_all = more_follow or self.retry_unreadable
        settled = not see_all and all(
            self.records.all_assessed(arm, config) for arm, config in configs.items()
        )
        pages = self._embedded_ahead(dialogues, ahead=not settled)
        async with aclosing(pages):
            async for page, embedded in pages:
                if stopped():
                    return
                keys = [dialogue.key for dialogue in page]
                runs, assessments = self.records.runs(keys), self.records.assessments(keys)
                missing = {key: self._missing(key[1], runs.get(key, ())) for key in keys}
                done = {
                    key: assessments[key]
                    for key in keys
                    if not missing[key]
                    and key in assessments
                    and assessments[key].config == configs[key[1]]
                }
                await self._decide_again(list(done.values()))
                count_present(len(done))
                if settled and len(done) == len(page):
                    continue
                # Those that are done are checked too: later ones are compared with them.
                pairs = self._with_scenarios(page)
                flags = self.checks.check(pairs, await (embedded or self.checks.embed(pairs)))
                for key, (dialogue, scenario), flagged in zip(keys, pairs, flags, strict=True):
                    if stopped():
                        return
                    if key not in done and not tried:
                        yield VerificationTask(dialogue, scenario, missing[key], flagged)

    async def task(self, dialogue: Dialogue) -> VerificationTask:
        """Return what is left to do for a dialogue that no judge has been asked about yet."""
        scenario = self.scenario_of(dialogue)
        pairs = [(dialogue, scenario)]
        (flags,) = self.checks.check(pairs, await self.checks.embed(pairs))
        seats = tuple((seat, 0) for seat in self._seats(dialogue.arm))
        return VerificationTask(dialogue, scenario, seats, flags)

    async def _embedded_ahead(
        self, dialogues: Iterable[Dialogue], *, ahead: bool
    ) -> AsyncGenerator[tuple[Sequence[Dialogue], Embedding | None], None]:
        """Yield pages of dialogues, and what embeds them.

        With ``ahead`` the next pages are being embedded, beside this thread, while the dialogues
        of this one are judged.
        """
        waiting: deque[tuple[Sequence[Dialogue], Embedding | None]] = deque()
        try:
            for page in chunks(dialogues, PAGE):
                embedding = None
                if ahead:
                    embedding = asyncio.create_task(self.checks.embed(self._with_scenarios(page)))
                waiting.append((page, embedding))
                if len(waiting) > PAGES_AHEAD:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            begun = [embedding for _, embedding in waiting if embedding is not None]
            for embedding in begun:
                embedding.cancel()
            await asyncio.gather(*begun, return_exceptions=True)

    def _with_scenarios(self, page: Sequence[Dialogue]) -> Page:
        return [(dialogue, self.scenario_of(dialogue)) for dialogue in page]

    def _seats(self, arm: str) -> list[JudgeIdentity]:
        return [judge.seat for judge in self.judges[arm]]

    def _missing(self, arm: str, runs: Sequence[JudgeRun]) -> tuple[tuple[JudgeIdentity, int], ...]:
        """Return the judges of an arm still to be asked, each with the epoch to ask in."""
        seats = self._seats(arm)
        epochs = missing_epochs(seats, runs, retry=self.retry_unreadable)
        return tuple((seat, e) for seat, e in zip(seats, epochs, strict=True) if e is not None)

    async def _decide_again(self, assessments: Sequence[Assessment]) -> None:
        """Apply the policy to dialogues that were assessed before, where it says otherwise."""
        earlier = self.records.decisions((a.case, a.arm) for a in assessments)
        changed = []
        for assessment in assessments:
            decision = self.policy.decide(assessment)
            history = earlier.get((assessment.case, assessment.arm), ())
            if not history or (history[-1].by_policy and history[-1] != decision):
                changed.append(decision)
        await self.records.decide(changed)


def missing_epochs(
    seats: Sequence[JudgeIdentity], runs: Iterable[JudgeRun], *, retry: bool = False
) -> list[int | None]:
    """Return for each seat the epoch in which a dialogue is yet to be judged, None if it is.

    Args:
        seats: who should have judged it.
        runs: who has, the newest run of each.
        retry: whether to ask again where an answer could not be read.
    """
    by_seat = {(run.source, run.judge): run for run in runs}
    epochs: list[int | None] = []
    for seat in seats:
        run = by_seat.get((seat.source, seat.judge))
        if run is None or run.config != seat.config:
            epochs.append(0)
        else:
            epochs.append(run.epoch + 1 if retry and not run.readable else None)
    return epochs
