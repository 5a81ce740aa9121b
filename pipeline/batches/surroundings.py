"""What the batches of one model share: the way to the provider, the log of the run, and the rules."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.batches.calls import PatientCalls
from pipeline.providers.batch_api import BatchApi
from pipeline.stopping.stop import Stop
from pipeline.store.batches import BatchLog


@dataclass(frozen=True, slots=True)
class BatchRules:
    """When a batch is sent and how its provider is asked about it; times in seconds."""

    look_s: float = 0.2
    """Between two looks at what is gathered."""
    quiet_looks: int = 10
    """Looks without a new request after which all live dialogues wait, so that a batch is sent."""
    age_s: float = 300.0
    """The oldest gathered request waits no longer than this."""
    most_requests: int = 50_000
    """In one batch, where the provider takes more."""
    first_poll_s: float = 1.0
    """Before the first question how far a batch is; each further pause is half as long again."""
    poll_s: float = 60.0
    """The longest pause between two."""
    settle_s: float = 60.0
    """How long after a batch was perhaps sent a list without it proves that it did not arrive; and
    how long after it was sent a provider may not know it yet."""
    unheard_s: float = 180.0
    """How much longer it is looked for where the process ended before it heard of it: nobody knows
    how long the provider takes to make it."""
    late_results_s: float = 300.0
    """How long results are waited for that the provider counts and does not hand out yet."""


@dataclass(slots=True)
class Surroundings:
    """What the batches of one model share."""

    api: BatchApi
    calls: PatientCalls
    log: BatchLog
    stop: Stop
    """Of the run."""
    rules: BatchRules
    notice: Callable[[str], None]
    warn: Callable[[str], None]
    """Is told of a batch that is waited for, also where people asked for quiet."""
    model: str
    """``provider/model``."""
    base_url: str
    clock: Callable[[], float] = time.time
    """Unix time in seconds."""
