"""Calls per second by requests in flight, beside the ideal and a bare aiohttp loop.

A server in its own process answers after 0.2 s. So many requests in flight bring at best that many
calls in 0.2 s: the ideal line. Pipeline (``compatible/``, store and cache on) and loop have their
turn at each number three times, and once more with the number found out (``auto``). Whole runs are
timed, from opening the store to the last commit, and dialogues end unevenly: both cost the most
where calls are many.

``python -m benchmarks.scaling --svg FILE`` draws it, too.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.plain_loop import plain_loop
from benchmarks.report import Row
from benchmarks.server import running_server
from benchmarks.throughput import recipe_of, sent_bodies
from hipo.app.generation.generate import generate
from outputs.plots.canvas import standalone
from outputs.plots.curves import Curve, curve_chart

DELAY_S = 0.2
IN_FLIGHT = (1, 4, 16, 64, 128, 256, 512, 1_024)
QUICK = (16, 256)
DIALOGUES_EACH = 4
"""Dialogues for each place; a dialogue's calls wait for each other."""
MOST_DIALOGUES = 2_048
AUTO = 1_500
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Point:
    """One number of requests in flight."""

    in_flight: int
    hipo: float
    """Calls per second."""
    plain: float
    """Calls per second of the bare loop."""
    auto: bool = False
    """Whether the number was found out; it is the median that flew when one was sent."""

    @property
    def ideal(self) -> float:
        """Calls per second of a client that costs nothing."""
        return self.in_flight / DELAY_S

    @property
    def of_plain(self) -> float:
        """The rate as a share of that of the bare loop."""
        return self.hipo / self.plain


def measure(in_flights: Sequence[int], auto: int) -> list[Point]:
    """Measure each number of requests in flight, and ``auto`` with so many dialogues.

    Of three times the one with the median ratio to the loop counts.
    """
    points = []
    with running_server(DELAY_S) as base_url:
        sample = sent_bodies(base_url)  # loads and warms, too
        for fixed in (*in_flights, None):
            n = auto if fixed is None else min(DIALOGUES_EACH * fixed, MOST_DIALOGUES)
            times = [_measured(base_url, sample, n, fixed) for _ in range(ROUNDS)]
            points.append(sorted(times, key=lambda point: point.of_plain)[ROUNDS // 2])
    return points


def _measured(
    base_url: str, sample: Sequence[dict[str, object]], n: int, fixed: int | None
) -> Point:
    """Let pipeline and loop make the calls of so many dialogues."""
    seconds, flights = _played(base_url, n, fixed)
    found = fixed or usual_in_flight(flights)
    bodies = [{**sample[i % len(sample)], "seed": i} for i in range(len(flights))]
    *_, plain_s = asyncio.run(plain_loop(base_url, bodies, found))
    return Point(found, len(flights) / seconds, len(flights) / plain_s, auto=fixed is None)


def _played(
    base_url: str, n: int, in_flight: int | None
) -> tuple[float, list[tuple[float, float]]]:
    """Generate ``n`` dialogues; return the seconds, and when each request began and how long it flew."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "run"
        began = time.perf_counter()
        run = generate(recipe_of("compatible", base_url, n, in_flight), output=output)
        seconds = time.perf_counter() - began
        if run.state().generated != n:
            raise RuntimeError(f"{run.state().generated} of {n} dialogues were generated")
        database = f"file:{output / 'run.sqlite'}?mode=ro"
        with closing(sqlite3.connect(database, uri=True)) as connection:
            flights = connection.execute("select sent_at, latency_s from requests").fetchall()
    return seconds, flights


def usual_in_flight(flights: Sequence[tuple[float, float]]) -> int:
    """Return the median of the requests in flight, seen whenever one is sent."""
    starts = sorted(at for at, _ in flights)
    ends = sorted(at + took for at, took in flights)
    return round(
        statistics.median(i - bisect_right(ends, at) for i, at in enumerate(starts, start=1))
    )


def drawing(points: Sequence[Point]) -> str:
    """Return the points as the text of an SVG file."""
    fixed = [point for point in points if not point.auto]
    reach = max(point.plain for point in points)
    # The ideal goes on far above what is reached; the plot ends a little above that.
    ideal = [(p.in_flight, p.ideal) for p in fixed if p.ideal <= reach]
    ideal.append((1.1 * reach * DELAY_S, 1.1 * reach))
    curves = [
        Curve(f"ideal: requests in flight / {DELAY_S} s", tuple(ideal)),
        Curve("plain aiohttp loop, stores nothing", tuple((p.in_flight, p.plain) for p in fixed)),
        Curve("hipo, compatible/", tuple((p.in_flight, p.hipo) for p in fixed)),
        Curve("hipo, auto", tuple((p.in_flight, p.hipo) for p in points if p.auto)),
    ]
    return standalone(
        curve_chart(
            curves,
            label="Calls per second by requests in flight",
            axis="requests in flight",
            up="calls per second",
            by_powers=True,
        )
    )


def listing(points: Sequence[Point]) -> str:
    """Return the points as a Markdown table of calls per second."""
    lines = [
        "| in flight | ideal | plain loop | hipo | hipo / plain loop | hipo / ideal |",
        "|---|---|---|---|---|---|",
    ]
    for p in points:
        name = f"{p.in_flight:,}" + (" (found by auto)" if p.auto else "")
        rates = f"{p.ideal:,.0f} | {p.plain:,.0f} | {p.hipo:,.0f}"
        lines.append(f"| {name} | {rates} | {p.of_plain:.2f} | {p.hipo / p.ideal:.2f} |")
    return "\n".join(lines)


def run(*, quick: bool = False) -> list[Row]:
    """Return at each number the rate of the pipeline as a share of the ideal and of the loop."""
    rows = []
    for point in _points(quick=quick):
        name = f"scaling: {'auto, ' if point.auto else ''}{point.in_flight:,} in flight"
        rows += [
            Row(f"{name}: calls/s / ideal", point.hipo / point.ideal, "x"),
            Row(f"{name}: calls/s / plain aiohttp loop", point.of_plain, "x"),
        ]
    return rows


def _points(*, quick: bool) -> list[Point]:
    return measure(QUICK, AUTO * 2 // 5) if quick else measure(IN_FLIGHT, AUTO)


def main() -> int:
    """Measure, print a table, and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer points")
    parser.add_argument("--svg", type=Path, help="also draw the lines into this file")
    arguments = parser.parse_args()
    points = _points(quick=arguments.quick)
    print(listing(points))
    if arguments.svg:
        arguments.svg.write_text(drawing(points), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
