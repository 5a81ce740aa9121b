"""The engine: what is played, what is recorded, and when it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.calls.client import AnswerUnusable
from pipeline.executors.local import LocalExecutor
from pipeline.playing.engine import CHUNK, Engine
from pipeline.playing.runner import Progress, RunOutcome
from pipeline.providers.errors import BadRequest, OutOfFunds, ServerFault, Unauthorised
from pipeline.spending.budget import BudgetReached
from pipeline.stopping.rules import SAME_FAILURE, UNREADABLE_AT_FIRST
from pipeline.stopping.stop import Stop, Stopped
from pipeline.store.run_store import RunStore
from pipeline.store.writer import StoreFailed
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn
from scenarios.errors import UsageError
from scenarios.run_configuration import RunConfiguration
from tests.factories import make_case

Play = Callable[[Case, int], BaseException | None]


class Player:
    """Plays what it is told to: a dialogue of one turn, or an error."""

    def __init__(self, arm: str, play: Play = lambda case, epoch: None) -> None:
        self.arm = arm
        self.played: list[tuple[str, int]] = []
        self._play = play

    async def play(self, case: Case, epoch: int) -> Dialogue:
        await asyncio.sleep(0)
        self.played.append((case.id, epoch))
        error = self._play(case, epoch)
        if error is not None:
            raise error
        return Dialogue(case, self.arm, (Turn(0, "initiator", "Well?", "opening"),))


def cases(count: int) -> list[Case]:
    return [make_case(repetition=number) for number in range(count)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run", RunConfiguration()) as opened:
        for arm in ("a", "b"):
            opened.add_arm(arm, {})
        yield opened


async def run(
    store: RunStore,
    *players: Player,
    plan: list[Case],
    stop: Stop | None = None,
    retry_failed: bool = False,
    width: int = 4,
    seen: list[Progress] | None = None,
) -> RunOutcome:
    engine = Engine(
        store,
        {player.arm: player for player in players},
        LocalExecutor(width),
        stop or Stop(),
        retry_failed=retry_failed,
        on_progress=(seen if seen is not None else []).append,
    )
    return await engine.run(plan)


@pytest.mark.anyio
async def test_every_case_is_played_once_by_every_arm_and_then_never_again(
    store: RunStore,
) -> None:
    plan = cases(CHUNK + 10)
    players = Player("a"), Player("b")
    outcome = await run(store, *players, plan=plan)
    assert outcome.done == 2 * len(plan)
    for player in players:
        assert sorted(player.played) == sorted((case.id, 0) for case in plan)
    again = Player("a"), Player("b")
    outcome = await run(store, *again, plan=plan)
    assert (outcome.done, outcome.present) == (0, 2 * len(plan))
    assert again[0].played == again[1].played == []


@pytest.mark.anyio
async def test_progress_is_told_only_once_it_is_durable(store: RunStore, tmp_path: Path) -> None:
    counts: list[tuple[int, int]] = []

    def compare(progress: Progress) -> None:
        if progress.kind == "done":
            with RunStore.open(tmp_path / "run", readonly=True) as other:
                counts.append((len(counts) + 1, other.state().generated))

    engine = Engine(store, {"a": Player("a")}, LocalExecutor(3), Stop(), on_progress=compare)
    await engine.run(cases(6))
    assert len(counts) == 6
    assert all(durable >= told for told, durable in counts)


@pytest.mark.anyio
async def test_failures_are_recorded_with_their_reason_and_retried_on_request(
    store: RunStore,
) -> None:
    def first_time(case: Case, epoch: int) -> BaseException | None:
        if epoch:
            return None
        if case.repetition == 1:
            return AnswerUnusable("unknown_label", "nobody knows it")
        return BadRequest("too long") if case.repetition == 2 else None

    plan = cases(4)
    outcome = await run(store, Player("a", first_time), plan=plan)
    assert (outcome.done, dict(outcome.failed)) == (2, {"unknown_label": 1, "bad_request": 1})
    assert {e.code: e.reason for e in store.reader.endings(status="failed")} == {
        "unknown_label": "nobody knows it",
        "bad_request": "too long",
    }
    left_alone = Player("a", first_time)
    await run(store, left_alone, plan=plan)
    assert left_alone.played == []
    retried = Player("a", first_time)
    outcome = await run(store, retried, plan=plan, retry_failed=True)
    assert sorted(retried.played) == sorted([(plan[1].id, 1), (plan[2].id, 1)])
    assert outcome.done == 2
    assert store.state().failed == {}


@pytest.mark.anyio
@pytest.mark.parametrize("error", [BudgetReached("budget reached: $1"), OutOfFunds("no credit")])
async def test_an_empty_purse_stops_the_run_and_leaves_the_case_pending(
    store: RunStore, error: BaseException
) -> None:
    player = Player("a", lambda case, epoch: error if case.repetition == 3 else None)
    outcome = await run(store, player, plan=cases(20), width=1)
    assert outcome.stopped == str(error)
    assert outcome.stop_code == ("budget" if isinstance(error, BudgetReached) else "out_of_funds")
    assert outcome.done == 3
    assert not outcome.failed
    assert len(player.played) == 4


@pytest.mark.anyio
async def test_a_refused_key_ends_the_run_as_a_mistake_of_the_users(store: RunStore) -> None:
    player = Player("a", lambda case, epoch: Unauthorised("the key is wrong", hint="export KEY"))
    with pytest.raises(UsageError, match="the key is wrong") as error:
        await run(store, player, plan=cases(20), width=1)
    assert error.value.hint == "export KEY"
    assert len(player.played) == 1
    assert store.state().failed == {}


@pytest.mark.anyio
async def test_a_stop_starts_nothing_new_and_records_no_failure(store: RunStore) -> None:
    stop = Stop()

    def interrupted(case: Case, epoch: int) -> BaseException | None:
        if case.repetition == 5:
            stop.request("interrupted")
            return Stopped("interrupted")
        return None

    player = Player("a", interrupted)
    outcome = await run(store, player, plan=cases(20), stop=stop, width=1)
    assert outcome.stopped == outcome.stop_code == "interrupted"
    assert (outcome.done, len(player.played)) == (5, 6)
    rest = Player("a")
    outcome = await run(store, rest, plan=cases(20))
    assert outcome.done == 15


@pytest.mark.anyio
async def test_one_passing_fault_after_the_other_stops_the_run(store: RunStore) -> None:
    player = Player("a", lambda case, epoch: ServerFault("502"))
    outcome = await run(store, player, plan=cases(SAME_FAILURE + 30), width=1)
    assert outcome.failed == {"server_fault": SAME_FAILURE}
    assert outcome.stopped is not None
    assert outcome.advice == (
        "once the endpoint answers, go on with the same command and --retry-failed"
    )
    assert outcome.stop_code == "unavailable"


@pytest.mark.anyio
async def test_a_model_that_writes_nothing_readable_stops_the_run_unless_it_did_so_earlier(
    store: RunStore,
) -> None:
    prose = Player("a", lambda case, epoch: AnswerUnusable("unparseable", "found prose"))
    plan = cases(2 * UNREADABLE_AT_FIRST + 10)
    outcome = await run(store, prose, plan=plan, width=1)
    assert outcome.failed == {"unparseable": UNREADABLE_AT_FIRST}
    assert (outcome.stop_code, "found prose" in str(outcome.stopped)) == ("refused", True)
    assert outcome.advice == (
        "take a larger model, or try --structured instruct; then "
        "go on with the same command and --retry-failed"
    )
    await run(store, Player("a"), plan=plan[-1:])
    outcome = await run(store, prose, plan=plan, width=1)
    assert outcome.failed == {"unparseable": UNREADABLE_AT_FIRST + 9}
    assert outcome.stopped is None


@pytest.mark.anyio
async def test_faults_with_successes_between_them_do_not_stop_the_run(store: RunStore) -> None:
    player = Player("a", lambda case, epoch: ServerFault("502") if case.repetition % 9 else None)
    outcome = await run(store, player, plan=cases(2 * SAME_FAILURE), width=1)
    assert outcome.stopped is None
    assert sum(outcome.failed.values()) + outcome.done == 2 * SAME_FAILURE


@pytest.mark.anyio
async def test_an_exception_nobody_foresaw_is_the_failure_of_one_case_with_its_traceback(
    store: RunStore,
) -> None:
    def first_time(case: Case, epoch: int) -> BaseException | None:
        return ZeroDivisionError("bug") if case.repetition == 4 and not epoch else None

    plan = cases(9)
    outcome = await run(store, Player("a", first_time), plan=plan)
    assert (outcome.done, outcome.failed, outcome.stopped) == (8, {"internal_error": 1}, None)
    (ending,) = store.reader.endings(status="failed")
    assert ending.reason == "ZeroDivisionError: bug"
    with pytest.raises(UsageError) as shown:
        store.dialogue(ending.id)
    assert "Traceback (most recent call last)" in str(shown.value)
    assert "test_engine.py" in str(shown.value)
    outcome = await run(store, Player("a", first_time), plan=plan, retry_failed=True)
    assert outcome.done == 1
    assert store.state().failed == {}


@pytest.mark.anyio
async def test_many_exceptions_nobody_foresaw_in_a_row_stop_the_run(store: RunStore) -> None:
    player = Player("a", lambda case, epoch: KeyError("veracity"))
    outcome = await run(store, player, plan=cases(SAME_FAILURE + 30), width=1)
    assert outcome.failed == {"internal_error": SAME_FAILURE}
    assert outcome.stop_code == "internal_error"
    assert "KeyError: 'veracity'" in str(outcome.stopped)
    assert outcome.advice == (
        "once hipo or the plugin is mended, go on with the same command and --retry-failed"
    )


@pytest.mark.anyio
async def test_a_store_that_cannot_be_written_stops_the_run(store: RunStore) -> None:
    player = Player("a", lambda case, epoch: StoreFailed("disk full", "free some space"))
    outcome = await run(store, player, plan=cases(9))
    assert (outcome.stopped, outcome.stop_code) == ("disk full", "store")
    assert (outcome.advice, outcome.done, outcome.failed) == ("free some space", 0, {})


@pytest.mark.anyio
async def test_a_cancelled_run_records_no_failure(store: RunStore) -> None:
    def cancels(case: Case, epoch: int) -> BaseException | None:
        if case.repetition != 2:
            return None
        running.cancel()
        return asyncio.CancelledError()

    running = asyncio.ensure_future(run(store, Player("a", cancels), plan=cases(9), width=1))
    with pytest.raises(asyncio.CancelledError):
        await running
    state = store.state()
    assert (state.generated, state.failed) == (2, {})


@pytest.mark.anyio
async def test_each_dialogue_goes_on_to_the_next_stage_once_it_is_durable(
    store: RunStore, tmp_path: Path
) -> None:
    durable: list[bool] = []

    async def look(dialogue: Dialogue) -> None:
        with RunStore.open(tmp_path / "run", readonly=True) as other:
            durable.append(other.dialogue(f"{dialogue.case.id}/a") == dialogue)

    engine = Engine(store, {"a": Player("a")}, LocalExecutor(2), Stop(), then=look)
    outcome = await engine.run(cases(3))
    assert durable == [True] * 3
    assert outcome.done == 3


class Stuck(Player):
    """Gets no further until it is let go on."""

    def __init__(self, arm: str) -> None:
        super().__init__(arm)
        self.may_go_on = asyncio.Event()

    async def play(self, case: Case, epoch: int) -> Dialogue:
        await self.may_go_on.wait()
        return await super().play(case, epoch)


@pytest.mark.anyio
async def test_an_arm_that_gets_no_further_leaves_the_others_play_the_whole_plan(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.playing.engine.CHUNK", 8)
    plan = cases(30)
    stuck = Stuck("a")

    def last_one(case: Case, epoch: int) -> BaseException | None:
        if case.repetition == len(plan) - 1:
            stuck.may_go_on.set()
        return None

    free = Player("b", last_one)
    outcome = await asyncio.wait_for(run(store, stuck, free, plan=plan), 120)
    assert [case for case, _ in stuck.played] == [case.id for case in plan]
    assert outcome.done == 2 * len(plan)


@pytest.mark.anyio
async def test_an_arm_that_always_fails_stops_the_run_although_another_plays_well(
    store: RunStore,
) -> None:
    failing = Player("a", lambda case, epoch: ServerFault("502"))
    plan = cases(SAME_FAILURE + 30)
    outcome = await run(store, failing, Player("b"), plan=plan, width=2)
    assert outcome.failed == {"server_fault": SAME_FAILURE}
    assert outcome.stop_code == "unavailable"
    assert outcome.done >= SAME_FAILURE - 2
