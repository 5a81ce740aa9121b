"""Fuzz everything that reads what an endpoint sent, for some minutes, and count what was tried.

The properties are those of the test suite (:mod:`tests.wire.fuzz`), with new seeds in every round.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter

from hypothesis import HealthCheck, given, seed, settings

from benchmarks.report import Goal, Row
from tests.wire.fuzz import PROPERTIES, Property

MINUTES, QUICK_MINUTES = 5.0, 0.2
EXAMPLES = 200
"""Examples of one property in one round."""


def run(*, quick: bool = False, minutes: float | None = None) -> list[Row]:
    """Try new examples until the time is over; every exception is shown and counted."""
    minutes = minutes or (QUICK_MINUTES if quick else MINUTES)
    end = time.monotonic() + 60 * minutes
    tried: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    number = time.time_ns() // 10**9
    print(f"fuzzing from seed {number} on", file=sys.stderr, flush=True)
    while time.monotonic() < end:
        for name, stated in PROPERTIES.items():
            try:
                tried[name] += _round(stated, number)
            except Exception:  # noqa: BLE001 - whatever comes is what is looked for
                broken[name] += 1
                traceback.print_exc(file=sys.stderr)
        number += 1
    return [
        Row("fuzzing, minutes", minutes),
        *(Row(f"fuzzing, examples of {name}", float(n)) for name, n in tried.items()),
        Row("fuzzing, examples that broke a property", float(broken.total()), "", Goal.below(0)),
    ]


def _round(stated: Property, number: int) -> int:
    """Try some examples of one property and return how many."""
    count = 0

    @seed(number)
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(stated.drawn)
    def holds(drawn: object) -> None:
        nonlocal count
        count += 1
        stated.assert_holds(drawn)

    holds()
    return count
