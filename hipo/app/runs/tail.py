"""Follow a run that another process plays: what has become durable, and how it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from pipeline.store.queries.endings import Ending
from pipeline.store.queries.status import RUNNING, RunState
from pipeline.store.run_store import RunStore

OVERLAP_S = 10.0
"""Endings are looked for again that are so much older than the newest seen: they are dated when
they are written, and may be committed in another order."""

TailEvent = Ending | RunState
"""A dialogue that ended, or the state of a run that is no longer played."""


def follow(
    folder: Path, count: int, *, wait: Callable[[], None], once: bool = False
) -> Iterator[TailEvent]:
    """Yield what ended last, then whatever ends, and at last the state of the run.

    Args:
        folder: the run.
        count: how many of the endings that are there to begin with.
        wait: is called between two looks at the run.
        once: whether to look only once, though the run is being played.

    Raises:
        UsageError: there is no such run, or it cannot be read.
    """
    with RunStore.open(folder, readonly=True) as store:
        state = store.state()
        there = store.reader.latest(max(count, 1))
        newest = there[-1].finished_at if there else 0.0
        seen = {_mark(ending) for ending in store.reader.latest(-1, newest - OVERLAP_S)}
        yield from there[-count:] if count else ()
        while state.state == RUNNING and not once:
            wait()
            state = store.state()  # before the endings: once it is over, all of them are there
            recent = store.reader.latest(-1, newest - OVERLAP_S)
            yield from (ending for ending in recent if _mark(ending) not in seen)
            seen = {_mark(ending) for ending in recent}
            newest = recent[-1].finished_at if recent else newest
        yield state


def _mark(ending: Ending) -> tuple[str, int, str]:
    """Return what tells an ending from others, and from an earlier one of the same case."""
    return ending.id, ending.epoch, ending.status
