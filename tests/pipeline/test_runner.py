"""The ladder of failures and the rules that stop a run, whatever its jobs are."""

from __future__ import annotations

import asyncio
import errno
import pickle
import tempfile
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest

from pipeline.calls.client import AnswerUnusable
from pipeline.executors.local import LocalExecutor
from pipeline.playing.runner import (
    LONGEST_REASON,
    LONGEST_TRACEBACK,
    JobFailure,
    Progress,
    Runner,
    failure_of,
)
from pipeline.providers.errors import (
    BadRequest,
    OutOfFunds,
    ProviderError,
    ServerFault,
    Unauthorised,
    UnknownModel,
)
from pipeline.spending.budget import BudgetReached
from pipeline.stopping.rules import SAME_FAILURE, StopRules
from pipeline.stopping.stop import Stop, Stopped
from pipeline.store.writer import StoreFailed
from scenarios.errors import RunError, UsageError


class Doubling:
    """Doubles numbers; raises what it is given instead of one."""

    def __init__(self) -> None:
        self.stored: list[int] = []
        self.failures: list[JobFailure] = []

    def scenario_of(self, job: int | Exception) -> str:
        return "numbers"

    async def work(self, job: int | Exception) -> int:
        if isinstance(job, BaseException):
            raise job
        return 2 * job

    async def record(self, job: int | Exception, result: int) -> None:
        self.stored.append(result)

    async def record_failure(self, job: int | Exception, failure: JobFailure) -> None:
        self.failures.append(failure)


def rules(scenarios: int = 3, *, worked: bool = False) -> StopRules:
    return StopRules("numbers were not doubled", "try again", scenarios=scenarios, worked=worked)


async def stream(jobs: Iterable[int | Exception]) -> AsyncIterator[int | Exception]:
    for job in jobs:
        yield job


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (Stopped("enough", "enough"), "pending", "enough"),
        (BudgetReached("$1 spent"), "stop", "budget"),
        (OutOfFunds("no credit"), "stop", "out_of_funds"),
        (StoreFailed("disk full"), "stop", "store"),
        (OSError(errno.ENOSPC, "No space left on device"), "stop", "store"),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "/tmp/model"), "stop", "store"),
        (OSError(errno.EFBIG, "File too large"), "stop", "store"),
        (OSError(errno.EACCES, "Permission denied"), "failed", "internal_error"),
        (Unauthorised("bad key", hint="export KEY"), "usage", "configuration"),
        (UnknownModel("no such model"), "usage", "configuration"),
        (UsageError("no such scenario"), "usage", "configuration"),
        (AnswerUnusable("truncated", "cut off"), "failed", "truncated"),
        (BadRequest("too long"), "failed", "bad_request"),
        (ServerFault("502"), "failed", "server_fault"),
        (ZeroDivisionError("bug"), "failed", "internal_error"),
        (ExceptionGroup("two", [KeyError("a"), KeyError("b")]), "failed", "internal_error"),
    ],
)
def test_every_exception_has_one_meaning_that_can_travel(
    error: Exception, kind: str, code: str
) -> None:
    failure = failure_of(error)
    assert (failure.kind, failure.code) == (kind, code)
    assert pickle.loads(pickle.dumps(failure)) == failure


@pytest.mark.parametrize(
    "error",
    [
        RunError("nothing works"),
    ],
)
def test_what_keeps_the_run_from_going_on_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        failure_of(error)
    assert raised.value is error


def test_a_full_disk_that_is_not_that_of_the_run_is_named() -> None:
    failure = failure_of(OSError(errno.ENOSPC, "No space left on device"))
    assert failure.reason == "a disk is full: [Errno 28] No space left on device"
    assert failure.hint.startswith(f"free some space on the disk of {tempfile.gettempdir()} (")


def test_where_no_temporary_file_can_be_made_it_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "none")])
    with pytest.raises(FileNotFoundError) as raised:
        tempfile.gettempdir()
    failure = failure_of(raised.value)
    assert (failure.kind, failure.code) == ("usage", "configuration")
    assert failure.hint.startswith("set TMPDIR to one that can")


def test_what_cannot_be_stored_of_an_exception_is_replaced_masked_or_cut() -> None:
    failure = failure_of(ValueError("\ud800 Bearer abcdefghij " + "x" * 10 * LONGEST_TRACEBACK))
    assert failure.reason.startswith("ValueError: ? [key] xxx")
    assert len(failure.reason) == LONGEST_REASON
    assert len(failure.traceback) == LONGEST_TRACEBACK
    failure.traceback.encode()


@pytest.mark.anyio
async def test_one_failure_ends_one_job_and_all_are_counted() -> None:
    stage, seen = Doubling(), list[Progress]()
    runner = Runner(stage, Stop(), rules(), seen.append)
    runner.count_present(4)
    jobs = [1, AnswerUnusable("empty", "nothing"), 2, KeyError("k"), 3]
    outcome = await runner.run(stream(jobs), LocalExecutor(2))
    assert sorted(stage.stored) == [2, 4, 6]
    assert (outcome.done, outcome.present) == (3, 4)
    assert outcome.failed == {"empty": 1, "internal_error": 1}
    assert (outcome.stopped, outcome.stop_code) == (None, "")
    assert sum(progress.count for progress in seen) == 4 + len(jobs)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (asyncio.CancelledError(), "RuntimeError: it was cancelled from within"),
        (SystemExit("set MY_KEY"), "RuntimeError: it called sys.exit('set MY_KEY')"),
    ],
)
async def test_what_ends_tasks_or_the_process_fails_its_job_alone(
    odd: BaseException, said: str
) -> None:
    stage = Doubling()
    jobs: list[Any] = [1, odd, 2, odd, 3]
    outcome = await Runner(stage, Stop(), rules()).run(stream(jobs), LocalExecutor(2))
    assert (sorted(stage.stored), outcome.done) == ([2, 4, 6], 3)
    assert outcome.failed == {"internal_error": 2}
    assert stage.failures[0].reason.startswith(said)


@pytest.mark.anyio
async def test_a_run_that_is_cancelled_itself_fails_no_job() -> None:
    stage, entered = Doubling(), asyncio.Event()

    async def wait(_: object) -> int:
        entered.set()
        await asyncio.Event().wait()
        return 0

    stage.work = wait  # type: ignore[method-assign]
    task = asyncio.ensure_future(
        Runner(stage, Stop(), rules()).run(stream([1, 2]), LocalExecutor(2))
    )
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stage.failures == []


@pytest.mark.anyio
async def test_a_mistake_of_the_users_stops_the_run_and_is_raised_once_jobs_have_ended() -> None:
    stage = Doubling()
    runner = Runner(stage, Stop(), rules())
    with pytest.raises(UsageError, match="bad key") as raised:
        await runner.run(
            stream([1, Unauthorised("bad key", hint="export KEY"), 2]), LocalExecutor(1)
        )
    assert raised.value.hint == "export KEY"
    assert (stage.stored, stage.failures) == ([2], [])
    assert runner.outcome.stop_code == "configuration"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("errors", "stops"),
    [
        ([ServerFault("502")] * SAME_FAILURE, True),
        ([KeyError("k")] * SAME_FAILURE, True),
        ([1, *[AnswerUnusable("empty", "nothing")] * SAME_FAILURE], False),
        ([ServerFault("502")] * (SAME_FAILURE - 1) + [KeyError("k")], False),
        ([ServerFault("502")] * (SAME_FAILURE - 1) + [1, ServerFault("502")], False),
    ],
)
async def test_the_same_passing_fault_many_times_in_a_row_stops_the_run(
    errors: list[int | ProviderError], stops: bool
) -> None:
    stop = Stop()
    outcome = await Runner(Doubling(), stop, rules()).run(stream(errors), LocalExecutor(1))
    assert stop.requested is stops
    if stops:
        assert str(outcome.stopped).startswith(
            f"{SAME_FAILURE} numbers were not doubled in a row ("
        )
        assert outcome.advice.endswith("try again")
        internal = isinstance(errors[0], KeyError)
        assert outcome.stop_code == ("internal_error" if internal else "unavailable")
