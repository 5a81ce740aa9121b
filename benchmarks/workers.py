"""Two workers against one process: the rate of calls, and how long the stream takes.

Workers are processes of the command and, where Ray is installed, such as Ray placed. A rate is that of
a whole run: all of its calls, from when it begins, all workers being connected and their players built
by then, to its last stored dialogue; neither the start of Ray nor what a worker imports is in it. What
comes before is told as a row of its own. Beside a server a rate stands on 3,000 calls (``--quick``) or
6,000. One process and workers alternate within one run, each in processes that are started for it. On
a machine that does other things as well, three processes get more of it than one does, and none gets
all: the processor time per call depends less on that, and so does what it allows, the ratio of the
rates that two free cores would come to. Two cores may also be slower together than one alone, as
threads of one core are: two runs at once, in a process each and with nothing to say to one another,
show what is there for workers to reach.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec

from benchmarks.played_run import PlayedRun, played
from benchmarks.report import Goal, Row
from benchmarks.server import running_server
from pipeline.recipes.recipe import Recipe

WORKERS = 2
CONCURRENCY = 512
ROUNDS = 3
FEW = 100
"""Fewer dialogues than places."""
DELAY_S = 0.2


@dataclass(frozen=True, slots=True)
class _Way:
    """Who plays a recipe."""

    workers: int | None
    ray: bool = False

    def play(self, *recipes: Recipe) -> tuple[PlayedRun, ...]:
        return played(recipes, self.workers, ray=self.ray)


_ALONE = _Way(None)
_BESIDE = _Way(WORKERS)
_PLACED = _Way(WORKERS, ray=True)


def _recipe(n: int, model: Mapping[str, str], concurrency: int) -> Recipe:
    return Recipe.model_validate(
        {
            "name": "bench",
            "turns": [2],
            "n": n,
            "models": {"default": model},
            "limits": {"max_concurrency": concurrency},
        }
    )


def _allowed(alone: PlayedRun, together: PlayedRun) -> float:
    """Return how many times as many calls two free cores could make, by processor time alone.

    The busiest process bounds it as well: none can use more than a core.
    """
    busiest = max(together.cpu_ms / 2, together.own_ms, together.worker_ms / WORKERS)
    return alone.cpu_ms / busiest


def _at_once(recipe: Recipe) -> float:
    """Return the calls per second of as many runs at once as there would be workers."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return sum(one.rate for (one,) in pool.map(_ALONE.play, [recipe] * WORKERS))


def run(*, quick: bool = False) -> list[Row]:
    """Measure three rounds of each and take the medians of the ratios."""
    recipe = _recipe(1000 if quick else 2000, {"model": "offline/rules"}, 32)
    rounds = [
        (_ALONE.play(recipe)[0], _BESIDE.play(recipe)[0], _at_once(recipe)) for _ in range(ROUNDS)
    ]
    pairs = [(one, two) for one, two, _ in rounds]
    rows = _rows("in-process provider", pairs, 1.6)
    allowed = statistics.median(_allowed(one, two) for one, two in pairs)
    name = f"workers: {WORKERS} / 1 process, in-process provider, what processor time allows"
    rows.append(Row(f"{name} on 2 free cores", allowed, "x"))
    ceiling = statistics.median(both / one.rate for one, _, both in rounds)
    name = f"workers: {WORKERS} runs at once / 1 run, a process each, in-process provider"
    rows.append(Row(name, ceiling, "x"))
    has_ray = find_spec("ray") is not None
    if not has_ray:
        print("  Ray is not installed: its workers are left out", file=sys.stderr)
    ways = {"workers": _BESIDE} | ({"Ray": _PLACED} if has_ray else {})
    with running_server(DELAY_S) as base_url:
        served = {"model": "compatible/bench", "base_url": base_url}
        # Few dialogues after the many, in the same process: for them it is waited on the stream
        # and the commit alone.
        recipes = [_recipe(n, served, CONCURRENCY) for n in (1000 if quick else 2000, FEW)]
        played = [[way.play(*recipes) for way in (_ALONE, *ways.values())] for _ in range(ROUNDS)]
    many, few = ([[runs[size] for runs in one] for one in played] for size in (0, 1))
    rows += _rows(f"loopback server, {CONCURRENCY} in flight", many, 1.25)
    if has_ray:
        rows += _ray_rows(many)
    return rows + _latency_rows(few, ways)


def _ray_rows(found: Sequence[Sequence[PlayedRun]]) -> list[Row]:
    ratio = statistics.median(placed.rate / one.rate for one, _, placed in found)
    start_s = statistics.median(placed.start_s for *_, placed in found)
    name = f"Ray: {WORKERS} workers x {CONCURRENCY // WORKERS} / 1 process at {CONCURRENCY}"
    return [
        Row(name, ratio, "x", Goal.above(0.95)),
        Row(f"Ray: start of it and of {WORKERS} workers", start_s, " s"),
    ]


def _latency_rows(found: Sequence[Sequence[PlayedRun]], names: Iterable[str]) -> list[Row]:
    """Tell of fewer dialogues than there are places: they wait for the stream and the commit."""
    return [
        Row(
            f"{name}: added from a reply to the next request, p{percent}, {FEW} dialogues",
            statistics.median(
                runs[place].gap_ms[percent] - runs[0].gap_ms[percent] for runs in found
            ),
            " ms",
            Goal.below(goal),
        )
        for place, name in enumerate(names, start=1)
        for percent, goal in (("50", 20.0), ("95", 80.0))
    ]


def _rows(what: str, found: Sequence[Sequence[PlayedRun]], bound: float) -> list[Row]:
    median, cores = statistics.median, os.cpu_count() or 1
    pairs = [(one, two) for one, two, *_ in found]
    ratio = median(two.rate / one.rate for one, two in pairs)
    name = f"workers: {WORKERS} / 1 process, {what}, {cores} cores"
    starts = [("1", [one for one, _ in pairs]), (f"{WORKERS}", [two for _, two in pairs])]
    return [
        Row(name, ratio, "x", Goal.above(bound)),
        *(
            row
            for count, runs in starts
            for row in (
                Row(f"workers: rate of {count}, {what}", median(r.rate for r in runs), " calls/s"),
                Row(f"workers: start of {count}, {what}", median(r.start_s for r in runs), " s"),
            )
        ),
        Row(f"workers: CPU a call of 1, {what}", median(one.cpu_ms for one, _ in pairs), " ms"),
        Row(
            f"workers: CPU a call of the driver, {what}",
            median(two.own_ms for _, two in pairs),
            " ms",
        ),
        Row(
            f"workers: CPU a call of {WORKERS} workers, {what}",
            median(two.worker_ms for _, two in pairs),
            " ms",
        ),
    ]
