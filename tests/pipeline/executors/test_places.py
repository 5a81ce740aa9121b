"""Places are kept taken as long as the run lasts, and no longer."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.executors.driver import Driver
from pipeline.executors.places import kept_going
from pipeline.stopping.stop import MustStop

pytestmark = pytest.mark.anyio


class LongFarewell(Driver):
    """Has workers as soon as it is asked, and waits for one that leaves late."""

    def __init__(self) -> None:
        super().__init__({})
        self.dismissed = asyncio.Event()

    async def ready(self, count: int = 1) -> None:
        """Have them."""

    async def close(self) -> None:
        """Dismiss all; one goes at once, and everybody has time to see that."""
        await super().close()
        self.dismissed.set()
        for _ in range(10):
            await asyncio.sleep(0)


async def test_a_run_ends_whose_last_worker_cannot_be_started_again() -> None:
    driver = LongFarewell()
    codes = iter([-9])

    async def start() -> int:
        for code in codes:
            return code
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async with kept_going(driver, {"1": start}, lambda _: None):
        with pytest.raises(MustStop, match="worker 1 cannot be started: "):
            await Driver.ready(driver)


async def test_a_worker_that_leaves_at_the_end_before_others_is_not_replaced() -> None:
    driver, started, notes = LongFarewell(), [], []

    async def early() -> int:
        started.append("early")
        await driver.dismissed.wait()
        return 0

    async def late() -> int:
        await asyncio.Event().wait()
        return 0

    async with kept_going(driver, {"1": early, "2": late}, notes.append):
        await asyncio.sleep(0)
    assert started == ["early"]
    assert notes == []
