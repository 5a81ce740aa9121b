"""Play until a run yields hardly any distinct dialogues any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from hipo.app.generation.generate import PlayContext, play_plan, there_before
from hipo.app.judging.tools import equipped_once
from hipo.app.preparation.prepared import Prepared
from hipo.app.preparation.remaining import remaining
from hipo.app.runs.resumption import planned_with
from pipeline.playing.runner import RunOutcome
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from quality.saturation import FEWEST, SaturationCurve
from quality.saturation_window import WINDOW

MOST_CURVED = 20_000
"""Dialogues at the beginning of a run that a report draws the curve of."""

Play = Callable[[PlayContext], Awaitable[RunOutcome]]


@dataclass
class SaturatedPlay:
    """Plays larger and larger plans until the last dialogues add too few distinct ones.

    Give it to :func:`hipo.generate` as ``play``. ``curve`` is there when it has played.
    """

    share: float
    """Of distinct ones among the last ``window`` dialogues, below which the run ends."""
    window: int = WINDOW
    most: int | None = None
    """The most cases that may be played; None for no limit."""
    play: Play | None = None
    """Plays each plan; None: without verification."""
    curve: SaturationCurve | None = field(default=None, init=False)

    def first(self, prepared: Prepared, folder: Path) -> Prepared:
        """Return the first plan with anything left to play in a run; each has one window more.

        Of a run that is saturated it is the plan that is played.
        """
        if not RunStore.exists(folder):
            return prepared.of_size(self._grown(prepared, 0))
        with RunStore.open(folder, readonly=True) as store:
            size, following = self._reached(prepared, store)
            if size < following:
                curve = SaturationCurve(prepared.scheme, self.window)
                for dialogue in store.dialogues(traces=False, labels=False):
                    curve.add(dialogue)
                size = size if curve.is_saturated(self.share) else following
        return prepared.of_size(size)

    @property
    def is_saturated(self) -> bool:
        """Whether the last window added too few."""
        return self.curve is not None and self.curve.is_saturated(self.share)

    async def __call__(self, stage: PlayContext) -> RunOutcome:
        """Play one window after the other."""
        async with equipped_once() as equipped:
            return await self._windows(replace(stage, equipped=equipped))

    async def _windows(self, stage: PlayContext) -> RunOutcome:
        prepared = stage.connections.prepared
        (size, _), tried = self._reached(prepared, stage.store), 0
        counted = 0
        self.curve = SaturationCurve(prepared.scheme, self.window)
        whole = RunOutcome(present=there_before(stage))
        while True:
            grown_plan = prepared.of_size(size)
            stage.store.set_state("running", planned=planned_with(stage.store, grown_plan))
            connections = replace(stage.connections, prepared=grown_plan)
            window = replace(stage, connections=connections, tried=tried)
            outcome = await (self.play or play_plan)(window)
            whole.done += outcome.done
            whole.failed += outcome.failed
            whole.unjudged += outcome.unjudged
            if outcome.stopped is not None:
                whole.stopped, whole.stop_code = outcome.stopped, outcome.stop_code
                whole.advice = outcome.advice
                return whole
            reader = stage.store.reader
            for dialogue in reader.dialogues(traces=False, labels=False, after=counted):
                self.curve.add(dialogue)
            counted = reader.newest
            late = self.curve.late_share
            if late is not None:
                stage.watching.note(
                    f"{self.curve.distinct:,} of {self.curve.generated:,} dialogues are distinct, "
                    f"{late:.1%} of the last {self.window:,}"
                )
            grown = self._grown(prepared, size)
            if self.is_saturated or grown == size:
                return whole
            size, tried = grown, size

    def _reached(self, prepared: Prepared, store: RunStore) -> tuple[int, int]:
        """Return how many cases the run goes on with, and how many it plays next if it has to.

        It goes on with the first window that is begun and not played to its end. Where none is, it
        looks at what it has, and plays the next window unless that is saturated.
        """
        reached = size = self._grown(prepared, 0)
        left = remaining(prepared.of_size(size), store)
        while not any(arm.dialogues for arm in left.values()):
            reached, size = size, self._grown(prepared, size)
            if size == reached:
                break
            there = sum(arm.present for arm in left.values())
            left = remaining(prepared.of_size(size), store)
            if sum(arm.present for arm in left.values()) > there:
                reached = size
        return reached, size

    def _grown(self, prepared: Prepared, size: int) -> int:
        """Return the size of the plan that has one window more."""
        grown = size + -(-self.window // len(prepared.arms))
        return grown if self.most is None else min(grown, self.most)


def curve_of(folder: Path) -> SaturationCurve | None:
    """Return the curve of a run, of its first 20,000 dialogues; None: it has too few."""
    with RunStore.open(folder, readonly=True) as store:
        if store.state().generated < FEWEST:
            return None
        curve = SaturationCurve(load_material(store).scheme, WINDOW)
        for place, dialogue in enumerate(store.dialogues(traces=False, labels=False)):
            if place == MOST_CURVED:
                break
            curve.add(dialogue)
    return curve
