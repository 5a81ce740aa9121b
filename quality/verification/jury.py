"""Ask jurors about the dialogues of a run: labels beside verification, which decide nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.chunks import chunks
from pipeline.playing.runner import Executor, JobFailure, Progress, Runner, RunOutcome
from pipeline.providers.errors import Unauthorised, UnknownModel
from pipeline.stopping.rules import StopRules
from pipeline.stopping.stop import Stop
from pipeline.store.judgements import JudgementLog
from quality.judges.juror import SchemeJuror
from quality.judges.protocol import JudgeIdentity
from quality.verification.unreadable import UnreadableJudges
from quality.verification.unverified import missing_epochs
from scenarios.case import PlayedCase
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement, JudgeRun

PAGE = 200
"""Dialogues that are looked up in the store at once."""

_log = logger("jury")


@dataclass(frozen=True, slots=True)
class JuryJob:
    """One dialogue, and a juror who has yet to hear it."""

    seat: JudgeIdentity
    dialogue: Dialogue
    epoch: int


def left_to_hear(
    records: JudgementLog,
    dialogues: Iterable[Dialogue],
    seats: Sequence[JudgeIdentity],
    *,
    retry: bool = False,
) -> Iterator[JuryJob]:
    """Yield what jurors have not been asked about under their configuration.

    Args:
        records: what was thought of the dialogues.
        dialogues: all of the run.
        seats: who is asked.
        retry: whether to ask again where an answer could not be read.
    """
    for page in chunks(dialogues, PAGE):
        runs = records.runs([dialogue.key for dialogue in page])
        for dialogue in page:
            known = runs.get(dialogue.key, ())
            epochs = missing_epochs(seats, known, retry=retry)
            for seat, epoch in zip(seats, epochs, strict=True):
                if epoch is not None:
                    yield JuryJob(seat, dialogue, epoch)


class JuryHearing:
    """Asks jurors about dialogues; a :class:`~pipeline.playing.runner.Stage`.

    What they say flags no dialogue and changes no verdict; it is stored dialogue by dialogue.
    """

    def __init__(
        self,
        records: JudgementLog,
        *,
        jurors: Mapping[tuple[str, JudgeIdentity], SchemeJuror],
        scenario_of: Callable[[PlayedCase], Scenario],
        stop: Stop,
        scenarios: int,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Ask until ``stop`` is requested.

        Args:
            records: where the answers are stored.
            jurors: by arm and seat.
            scenario_of: the scenario of a dialogue.
            stop: ends it early.
            scenarios: how many the dialogues are from.
            on_progress: is told of every dialogue that a juror has labelled.
        """
        self._records = records
        self._jurors = jurors
        self._scenario_of = scenario_of
        rules = StopRules(
            "dialogues could not be labelled by jurors",
            "go on with the same command",
            scenarios=scenarios,
            worked=False,
        )
        self._runner: Runner[JuryJob, list[Judgement]] = Runner(self, stop, rules, on_progress)
        self._unreadable = UnreadableJudges(records.has_read)

    @property
    def outcome(self) -> RunOutcome:
        """What was done so far."""
        return self._runner.outcome

    async def run(self, jobs: Iterable[JuryJob], executor: Executor) -> None:
        """Do every job, and store what each juror says when it is said.

        Raises:
            UsageError: an endpoint refuses the key or the model.
            RunError: the run cannot go on, e.g. the store cannot be written.
        """
        await self._runner.run_all(jobs, executor)

    # The stage

    def scenario_of(self, job: JuryJob) -> str:
        """Return the scenario of the dialogue."""
        return job.dialogue.case.scenario

    async def work(self, job: JuryJob) -> list[Judgement]:
        """Ask one juror about every answer of a dialogue."""
        juror = self._jurors[job.dialogue.arm, job.seat]
        scenario = self._scenario_of(job.dialogue)
        try:
            return await juror.judge(job.dialogue, scenario, job.epoch)
        except (Unauthorised, UnknownModel) as error:
            raise UsageError(f"{job.seat.judge}: {error.message}", error.hint) from error

    async def record(self, job: JuryJob, result: list[Judgement]) -> None:
        """Store what the juror says."""
        case, arm = job.dialogue.key
        readable = [judgement.readable for judgement in result]
        seat = job.seat
        run = JudgeRun(case, arm, seat.source, seat.judge, seat.config, job.epoch, all(readable))
        await self._records.record(run, result)
        self._unreadable.count(seat, readable=not result or any(readable))

    async def record_failure(self, job: JuryJob, failure: JobFailure) -> None:
        """Leave it for the next time."""
        fields = {"case": job.dialogue.case.id, "arm": job.dialogue.arm, "code": failure.code}
        _log.info("a juror could not be asked: %s", failure.reason, extra={"fields": fields})
