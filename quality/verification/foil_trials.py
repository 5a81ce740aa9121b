"""Show judges declared and wrong labels of the same answers: calls beside those of verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pipeline.calls.asking import each
from pipeline.calls.client import AnswerUnusable
from pipeline.chunks import chunks
from pipeline.playing.runner import Executor, JobFailure, Runner, RunOutcome
from pipeline.stopping.rules import StopRules
from pipeline.stopping.stop import Stop
from pipeline.store.judgements import JudgementLog
from quality.judges.protocol import JudgeIdentity
from quality.judges.verifying_judge import VerifyingJudge
from quality.verification.foils import Foil, Key
from scenarios.case import PlayedCase
from scenarios.dialogue import Dialogue, Turn
from scenarios.fingerprint import fingerprint
from scenarios.log import logger
from scenarios.spec import Scenario
from scenarios.verdicts import Trial

PAGE = 200
"""Dialogues that are looked up in the store at once."""

_log = logger("foils")


@dataclass(frozen=True, slots=True)
class TrialJob:
    """One judge and one dialogue with the foils of its answers."""

    seat: JudgeIdentity
    dialogue: Dialogue
    scenario: Scenario
    foils: tuple[Foil, ...]

    @property
    def config(self) -> str:
        """What decides the answers: the judge, and what it is shown."""
        return _config(self.seat, [(foil.turn, foil.dimension, foil.label) for foil in self.foils])


def _config(seat: JudgeIdentity, shown: Sequence[tuple[int, str, object]]) -> str:
    return fingerprint([seat.config, [list(foil) for foil in shown]])


def calls_left(records: JudgementLog, jobs: Iterable[TrialJob]) -> Counter[JudgeIdentity]:
    """Count the questions about foils that no earlier trial of the dialogue has asked.

    A trial of more foils is a trial anew, of which the run's record answers what it holds.
    """
    left = Counter[JudgeIdentity]()
    for page in chunks(jobs, PAGE):
        keys = {job.dialogue.key for job in page}
        before = records.foiled(keys)
        for job in page:
            known = {
                foil
                for (judge, config), shown in before.get(job.dialogue.key, {}).items()
                if judge == job.seat.judge and config == _config(job.seat, shown)
                for foil in shown
            }
            left[job.seat] += sum(
                (foil.turn, foil.dimension, foil.label) not in known for foil in job.foils
            )
    return left


def left_to_try(
    records: JudgementLog,
    dialogues: Iterable[Dialogue],
    foils: Mapping[Key, tuple[Foil, ...]],
    seats: Mapping[str, Sequence[JudgeIdentity]],
    scenario_of: Callable[[PlayedCase], Scenario],
) -> Iterable[TrialJob]:
    """Yield what judges have not been shown yet.

    Args:
        records: what was thought of the dialogues.
        dialogues: all of the run.
        foils: by dialogue.
        seats: by arm, the judges that are shown labels.
        scenario_of: the scenario of a dialogue.
    """
    for page in chunks((d for d in dialogues if d.key in foils), PAGE):
        done = records.tried([d.key for d in page])
        for dialogue in page:
            key = dialogue.key
            for seat in seats.get(dialogue.arm, ()):
                job = TrialJob(seat, dialogue, scenario_of(dialogue), foils[key])
                if (seat.judge, job.config) not in done.get(key, ()):
                    yield job


class FoilTrials:
    """Asks about declared and wrong labels of the same answers; a :class:`~pipeline.playing.runner.Stage`.

    The question with the declared labels is the one of verification, so that the run's record
    answers it. What is said here flags no dialogue and changes no verdict.
    """

    def __init__(
        self,
        records: JudgementLog,
        judges: Mapping[tuple[str, JudgeIdentity], VerifyingJudge],
        stop: Stop,
        scenarios: int,
    ) -> None:
        """Try until ``stop`` is requested.

        Args:
            records: where the answers are stored.
            judges: by arm and seat.
            stop: ends it early.
            scenarios: how many the dialogues are from.
        """
        self._records = records
        self._judges = judges
        self._stop = stop
        rules = StopRules(
            "dialogues could not be tried with foils",
            "go on with the same command",
            scenarios=scenarios,
            worked=True,
        )
        self._runner: Runner[TrialJob, list[Trial]] = Runner(self, stop, rules)

    async def run(self, jobs: Iterable[TrialJob], executor: Executor) -> RunOutcome:
        """Do every job, and store what each judge says when it is said."""
        return await self._runner.run_all(jobs, executor)

    # The stage

    def scenario_of(self, job: TrialJob) -> str:
        """Return the scenario of the dialogue."""
        return job.dialogue.case.scenario

    async def work(self, job: TrialJob) -> list[Trial]:
        """Ask about each answer with its declared labels, and with one wrong label at a time."""
        judge = self._judges[job.dialogue.arm, job.seat]
        calls = [
            partial(self._tried, job, judge, turn, foils)
            for turn in job.dialogue.answers()
            if (foils := [foil for foil in job.foils if foil.turn == turn.index])
        ]
        parts = await each(calls, together=judge.asker.gathers)
        return [trial for part in parts for trial in part]

    async def _tried(
        self, job: TrialJob, judge: VerifyingJudge, turn: Turn, foils: Sequence[Foil]
    ) -> list[Trial]:
        """Ask so about one answer."""
        self._stop.check()
        declared = judge.declared(turn)
        own = await judge.verify(job.dialogue, job.scenario, turn, declared)
        shown = [foil.shown(declared) for foil in foils]
        asked = partial(judge.verify, job.dialogue, job.scenario, turn, purpose="external-foil")
        wrong = await each(
            [partial(asked, labels) for labels in shown], together=judge.asker.gathers
        )
        trials: list[Trial] = []
        for foil, wrong_labels, found in zip(foils, shown, wrong, strict=True):
            for verdict, labels, is_foil in ((own, declared, False), (found, wrong_labels, True)):
                value = next(x.value for x in labels if x.dimension == foil.dimension)
                accepted = None
                if not isinstance(verdict, AnswerUnusable):
                    said = {c.dimension: c.carried for c in verdict.critiques}
                    accepted = said[foil.dimension]
                trials.append(Trial(turn.index, foil.dimension, value, is_foil, accepted))
        return trials

    async def record(self, job: TrialJob, result: list[Trial]) -> None:
        """Store which labels were accepted."""
        key = job.dialogue.key
        await self._records.record_trials(key, job.seat.judge, job.config, result)

    async def record_failure(self, job: TrialJob, failure: JobFailure) -> None:
        """Leave it for the next time."""
        fields = {"case": job.dialogue.case.id, "arm": job.dialogue.arm, "code": failure.code}
        _log.info("foils could not be tried: %s", failure.reason, extra={"fields": fields})
