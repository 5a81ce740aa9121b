"""``hipo`` on a quick clock, killed by its own hand at a named moment of a batch.

``python -m tests.pipeline.batches.killed MOMENT TIMES ARGUMENTS...`` runs ``hipo ARGUMENTS...`` and kills
the process with SIGKILL when MOMENT comes for the TIMES-th time.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hipo.app.models import batching
from pipeline.batches import journey
from pipeline.providers import anthropic_batches, openai_batches
from pipeline.store.batches import BatchLog
from tests.forked import command
from tests.pipeline.batches.runs import QUICK

Step = Callable[..., Awaitable[Any]]

MOMENTS = (
    "gathered",
    "intended",
    "submitted",
    "committed",
    "polling",
    "partly stored",
    "ended",
    "never",
)
"""Before anything is uploaded; after the intent is written; after the batch is made and before its
name is written; after that; after a question about it; after some results are stored; after all are."""


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dying(times: int, *, before: bool = False) -> Callable[[Step], Step]:
    """Return a decorator that kills the process before or after a step, the n-th time."""
    left = [times]

    def decorate(step: Step) -> Step:
        async def dying(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if before and left[0] == 0:
                _die()
            result = await step(*arguments, **named)
            if left[0] == 0:
                _die()
            return result

        return dying

    return decorate


def arm(moment: str, times: int) -> None:
    """Have the process killed at a moment."""
    apis: tuple[Any, ...] = (openai_batches.OpenAIBatches, anthropic_batches.AnthropicBatches)
    dying = _dying(times)
    if moment == "gathered":
        dying = _dying(times, before=True)
        for api in apis:
            api.upload = dying(api.upload)
    elif moment in {"submitted", "polling"}:
        name = "create" if moment == "submitted" else "status"
        for api in apis:
            setattr(api, name, dying(getattr(api, name)))
    else:
        names = {"intended": "intend", "committed": "submitted", "partly stored": "store_results"}
        name = names.get(moment, moment)
        if name != "never":
            setattr(BatchLog, name, dying(getattr(BatchLog, name)))


def killed(arguments: Sequence[str]) -> None:
    """Run ``hipo`` in a process that is killed when a moment comes for the n-th time.

    Args:
        arguments: the moment, n, and those of ``hipo``.
    """
    moment, times, *rest = arguments
    batching.RULES = QUICK
    journey.STORED_AT_ONCE = 5
    arm(moment, int(times))
    command(rest)


if __name__ == "__main__":
    killed(sys.argv[1:])
