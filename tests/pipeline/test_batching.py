"""One thread that works off what many coroutines wait for."""

import asyncio

import pytest

from pipeline.batching import BatchThread


class Panic(BaseException):
    """As pyo3 raises where a library in Rust panics."""


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("raised", "seen"),
    [(ValueError("no"), ValueError), (Panic("index out of bounds"), RuntimeError)],
)
async def test_whatever_a_batch_dies_of_is_told_and_the_next_is_worked_off(raised, seen):
    def work(batch):
        if any(job.item == "bad" for job in batch):
            raise raised
        return [job.item.upper() for job in batch]

    thread = BatchThread("the model", work, lambda waiting: range(len(waiting)))
    with pytest.raises(seen) as failed:
        await asyncio.wait_for(thread.ask("bad"), 10)
    assert str(raised) in str(failed.value)
    assert await asyncio.wait_for(thread.ask("good"), 10) == "GOOD"
    await thread.close()
