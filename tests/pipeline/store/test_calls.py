from __future__ import annotations

import asyncio
import shutil

import pytest

from pipeline.store.call_rows import CallReport
from pipeline.store.flight_mark import FlightMark
from pipeline.store.run_store import RunStore
from pipeline.store.texts import parted
from tests.factories import make_choice_row
from tests.pipeline.store.samples import begun, case, request

KEY = b"k" * 32
MESSAGES = [("system", "# Task\nAct.\n"), ("user", "# Now\nSpeak.\n")]


@pytest.fixture
def store(tmp_path):
    with begun(tmp_path / "run") as store:
        yield store


@pytest.mark.anyio
async def test_a_choice_is_found_again_as_soon_as_it_is_durable(store):
    assert store.calls.choices(KEY, [0, 1], 0) == {}
    await store.calls.record(
        CallReport(
            KEY,
            parted(MESSAGES),
            [request()],
            [make_choice_row(0), make_choice_row(1, text="other")],
        )
    )
    assert store.calls.choices(KEY, [0, 1, 2], 0) == {
        0: make_choice_row(0),
        1: make_choice_row(1, text="other"),
    }
    assert store.calls.choices(b"x" * 32, [0], 0) == {}


@pytest.mark.anyio
@pytest.mark.parametrize("most", [0, 1, 300_000])
async def test_what_an_earlier_session_stored_is_found_beside_what_this_one_stores(
    tmp_path, monkeypatch, most
):
    monkeypatch.setattr("pipeline.store.calls.READ_AT_MOST", most)
    folder, later = tmp_path / "run", b"l" * 32
    with begun(folder) as store:
        await store.calls.record(
            CallReport(KEY, parted(MESSAGES), [request()], [make_choice_row()])
        )
    with RunStore.open(folder) as store:
        stored = store.calls.record(
            CallReport(later, parted(MESSAGES), [request()], [make_choice_row()])
        )
        assert store.calls.choices(KEY, [0], 0) == {0: make_choice_row()}
        await stored
        assert store.calls.choices(later, [0], 0) == {0: make_choice_row()}
        assert store.calls.choices(b"x" * 32, [0], 0) == {}


@pytest.mark.anyio
async def test_an_epoch_sees_its_own_choices_and_the_readable_ones_before_it(store):
    known = [
        make_choice_row(0, 0, "ok", "first"),
        make_choice_row(0, 1, "ok", "second"),
        make_choice_row(1, 0, "unparseable", "torn"),
        make_choice_row(2, 0, "ok", "good"),
        make_choice_row(2, 1, "invalid", "bad"),
        make_choice_row(3, 3, "ok", "later"),
    ]
    await store.calls.record(CallReport(KEY, parted(MESSAGES), [request()], known))

    def texts(epoch):
        return {s: c.text for s, c in store.calls.choices(KEY, range(4), epoch).items()}

    assert texts(0) == {0: "first", 1: "torn", 2: "good"}
    assert texts(1) == {0: "second", 2: "bad"}
    assert texts(2) == {0: "second", 2: "good"}
    assert texts(3) == {0: "second", 2: "good", 3: "later"}


@pytest.mark.anyio
async def test_a_choice_that_is_known_is_never_replaced(store):
    await store.calls.record(
        CallReport(KEY, parted(MESSAGES), [request()], [make_choice_row(text="first")])
    )
    await store.calls.record(
        CallReport(KEY, parted(MESSAGES), [request()], [make_choice_row(text="second")])
    )
    assert store.calls.choices(KEY, [0], 0)[0].text == "first"
    assert store.state().calls == 2


@pytest.mark.anyio
async def test_the_calls_of_a_case_come_back_with_prompts_requests_and_choices(store):
    limited = request(code="rate_limited", status=429, message="slow down", n_got=0, cost_usd=0.0,
                      prompt_tokens=None, completion_tokens=None, cached_tokens=None,
                      reasoning_tokens=None, omitted="seed top_p")  # fmt: skip
    await store.calls.record(
        CallReport(KEY, parted(MESSAGES), [limited, request()], [make_choice_row()])
    )
    other = [("user", "# Now\nAsk.\n")]
    await store.calls.record(
        CallReport(b"o" * 32, parted(other), [request(turn=2, purpose="initiator")], [])
    )
    await store.calls.record(CallReport(b"p" * 32, parted(MESSAGES), [request(case="other")], []))
    first, second = store.calls.of_case(case().id)
    assert first.messages == tuple(MESSAGES)
    assert first.requests == (limited, request())
    assert first.choices == (make_choice_row(),)
    assert second.messages == tuple(other)
    assert [r.purpose for r in second.requests] == ["initiator"]


@pytest.mark.anyio
async def test_the_request_takes_its_reservation_away_in_the_same_moment(store):
    held = await store.calls.reserve(0.5, 1000)
    assert store.spent() == (0.5, 1000)
    await store.calls.record(
        CallReport(KEY, parted(MESSAGES), [request(reservation=held)], [make_choice_row()])
    )
    assert store.spent() == (0.001, 120)


@pytest.mark.anyio
async def test_a_reservation_given_back_or_cancelled_leaves_nothing(tmp_path):
    with begun(tmp_path / "run") as store:
        store.calls.release(await store.calls.reserve(0.5, 1000))
        waiting = asyncio.ensure_future(store.calls.reserve(0.7, 10))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await store.calls.reserve(0.1, 1)
        await asyncio.sleep(0)  # the cancelled one becomes known and is released
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert store.spent() == (pytest.approx(0.1), 1)


@pytest.mark.anyio
async def test_what_a_dead_process_had_in_flight_is_charged_at_its_worst(tmp_path):
    with begun(tmp_path / "run") as store:
        await store.calls.reserve(0.5, 1000)
        await store.calls.reserve(None, 7)
    for _ in range(2):
        with RunStore.open(tmp_path / "run") as store:
            assert store.spent() == (0.5, 1007)
            state = store.state()
            assert (state.calls, state.unpriced_calls, state.cost_usd) == (2, 2, None)


@pytest.mark.anyio
async def test_without_a_budget_as_much_as_is_written_down_last_is_charged_after_a_kill(tmp_path):
    with begun(tmp_path / "run") as store:
        await store.calls.mark_flight(FlightMark(4, None, 140))
        await store.calls.mark_flight(FlightMark(3, 0.6, 100))
        assert store.spent() == (0, 0)
        assert store.state().calls_lost == 0, "what is in flight is not lost yet"
        shutil.copytree(tmp_path / "run", tmp_path / "killed")
    with RunStore.open(tmp_path / "run") as store:
        assert (store.spent(), store.state().calls, store.calls.lost) == ((0, 0), 0, 0)
    with RunStore.open(tmp_path / "killed", readonly=True) as store:
        state = store.state()
        assert store.spent() == (state.charged_usd, state.charged_tokens) == (0.6, 100)
        assert (state.calls_lost, state.calls_in_flight) == (3, 3)
    for lost in (3, 0):
        with RunStore.open(tmp_path / "killed") as store:
            assert store.spent() == (pytest.approx(0.6), 100)
            state = store.state()
            assert (state.calls, state.unpriced_calls, state.calls_lost) == (3, 3, 3)
            assert store.calls.lost == lost


@pytest.mark.anyio
async def test_cache_hits_are_counted_and_durable_after_closing(tmp_path):
    with begun(tmp_path / "run") as store:
        store.calls.count_hits(3)
        store.calls.count_hits(1)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert store.state().cached_calls == 4
