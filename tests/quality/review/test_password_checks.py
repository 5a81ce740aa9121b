"""Guesses are counted before they are looked at, and stop nobody but the one who guesses."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field

import pytest

from quality.review.login_throttle import (
    LONGEST_PAUSE_S,
    MOST_KEYS,
    TRIES,
    UNSLOWED,
    WINDOW_S,
    LoginThrottle,
)
from quality.review.password_checks import (
    AT_ONCE,
    MOST_OF_AN_ORIGIN,
    MOST_WAITING,
    AttemptRefused,
    PasswordChecks,
)

pytestmark = pytest.mark.anyio
RIGHT = "correct horse battery"


@dataclass
class Watched:
    """Checks with a clock of their own, whose comparisons and pauses are counted."""

    now: float = 0.0
    compared: int = 0
    at_once: int = 0
    most_at_once: int = 0
    pauses: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()
        self.throttle = LoginThrottle(clock=lambda: self.now)
        self.checks = PasswordChecks(self.throttle, compare=self.compare, sleep=self.sleep)

    def compare(self, secret: str, stored: str) -> bool:
        with self.lock:
            self.compared += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.gate.wait(20)
        with self.lock:
            self.at_once -= 1
        return secret == stored

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def guess(self, secret: str = "wrong", *, account: str = "ada", origin: str = "o") -> str:
        try:
            right = await self.checks.fits(secret, RIGHT, account=account, origin=origin)
        except AttemptRefused as refused:
            return refused.why
        return "right" if right else "wrong"


async def test_of_120_guesses_sent_at_once_no_more_are_looked_at_than_one_by_one() -> None:
    watched = Watched()
    found = await asyncio.gather(*(watched.guess() for _ in range(120)))
    assert found.count("wrong") == watched.compared == TRIES
    assert found.count("too many") == 120 - TRIES
    assert await watched.guess(RIGHT) == "too many"


async def test_a_right_password_takes_its_attempt_back() -> None:
    watched = Watched()
    for _ in range(3 * TRIES):
        assert await watched.guess(RIGHT) == "right"
    for _ in range(TRIES - 1):
        await watched.guess()
    assert await watched.guess(RIGHT) == "right"
    assert await watched.guess() == "wrong"
    assert await watched.guess() == "too many"


async def test_guesses_from_elsewhere_never_stop_a_right_password() -> None:
    watched = Watched()
    for stranger in range(100):
        for _ in range(TRIES + 1):
            await watched.guess(origin=f"stranger {stranger}")
    assert await watched.guess(RIGHT, origin="home") == "right"
    assert watched.pauses[-1] == LONGEST_PAUSE_S


async def test_guesses_at_one_account_do_not_stop_another_at_the_same_address() -> None:
    watched = Watched()
    for _ in range(TRIES + 1):
        last = await watched.guess(account="eve's guess")
    assert last == "too many"
    assert await watched.guess(RIGHT, account="ada") == "right"


async def test_many_guesses_are_slowed_down_by_account_and_by_origin() -> None:
    by_account, by_origin = Watched(), Watched()
    for i in range(2 * UNSLOWED):
        await by_account.guess(origin=f"o{i}")
        await by_origin.guess(account=f"a{i}")
    for watched in (by_account, by_origin):
        assert watched.pauses[:UNSLOWED] == [0] * UNSLOWED
        later = watched.pauses[UNSLOWED:]
        assert later == sorted(later)
        assert 0 < later[0] < later[-1] <= LONGEST_PAUSE_S


async def test_what_was_wrong_long_ago_is_forgotten() -> None:
    watched = Watched()
    for _ in range(TRIES):
        await watched.guess()
    watched.now += WINDOW_S - 1
    assert await watched.guess(RIGHT) == "too many"
    watched.now += 1
    assert await watched.guess(RIGHT) == "right"


async def test_no_more_hashes_are_computed_at_once_than_fit_in_memory() -> None:
    watched = Watched()
    origins = range(120)
    found = await asyncio.gather(*(watched.guess(account=f"a{i}", origin=f"o{i}") for i in origins))
    assert watched.most_at_once <= AT_ONCE
    assert found.count("wrong") == MOST_WAITING
    assert found.count("busy") == 120 - MOST_WAITING


async def test_one_origin_does_not_fill_the_queue() -> None:
    watched = Watched()
    watched.gate.clear()
    flood = [
        asyncio.create_task(watched.guess(account=f"a{i}", origin="stranger")) for i in range(500)
    ]
    await asyncio.sleep(0)
    mine = asyncio.create_task(watched.guess(RIGHT, origin="home"))
    await asyncio.sleep(0)
    watched.gate.set()
    assert await mine == "right"
    found = await asyncio.gather(*flood)
    assert found.count("wrong") == MOST_OF_AN_ORIGIN
    assert found.count("busy") == 500 - MOST_OF_AN_ORIGIN


async def test_who_was_turned_away_for_the_crowd_has_not_failed() -> None:
    watched = Watched()
    for _ in range(3):
        await asyncio.gather(*(watched.guess(account=f"a{i}", origin="o") for i in range(500)))
    assert len(watched.throttle._pairs) < 4 * MOST_OF_AN_ORIGIN
    assert await watched.guess(RIGHT, account="a499") == "right"


async def test_a_new_code_waits_in_the_same_queue() -> None:
    watched = Watched()
    watched.gate.clear()
    tasks = [
        asyncio.create_task(watched.guess(account=f"a{i}", origin="o"))
        for i in range(MOST_OF_AN_ORIGIN)
    ]
    await asyncio.sleep(0)
    with pytest.raises(AttemptRefused):
        await watched.checks.hash_of("a code", origin="o")
    watched.gate.set()
    await asyncio.gather(*tasks)
    assert (await watched.checks.hash_of("a code", origin="o")).startswith("scrypt$")


def test_no_number_of_names_and_addresses_fills_the_memory() -> None:
    throttle = LoginThrottle(clock=lambda: 0.0, most_keys=1000)
    for i in range(5000):
        assert throttle.begin(f"name {i}", f"address {i}")
    assert len(throttle._pairs) == len(throttle._sides) == 1000
    assert MOST_KEYS > WINDOW_S * AT_ONCE / 0.06


def test_the_counts_of_a_window_that_is_over_are_dropped() -> None:
    now = [0.0]
    throttle = LoginThrottle(clock=lambda: now[0])
    for i in range(500):
        throttle.begin(f"name {i}", "address")
    now[0] = WINDOW_S + 1
    throttle.begin("another", "address")
    assert len(throttle._pairs) == 1
