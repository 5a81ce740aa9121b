"""Play until a run yields hardly any distinct dialogues any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from hipo.app.generation import PlayContext, play_plan
from hipo.app.preparation import Prepared
from pipeline.run_material import load_material
from pipeline.runner import RunOutcome
from pipeline.store.run_store import RunStore
from quality.saturation import FEWEST, SaturationCurve
from quality.saturation_window import WINDOW

MOST_CURVED = 20_000
"""Dialogues at the beginning of a run that a report draws the curve of."""

Play = Callable[[PlayContext], Awaitable[RunOutcome]]


@dataclass
class SaturatedPlay:
    """Plays larger and larger plans until the last dialogues add too few distinct ones.

    Give it to ``generate_async`` as ``play``. ``curve`` is there when it has played.
    """

    share: float
    """Of distinct ones among the last ``window`` dialogues, below which the run ends."""
    window: int = WINDOW
    most: int | None = None
    """The most cases that may be played; None for no limit."""
    play: Play | None = None
    """Plays each plan; None: without verification."""
    curve: SaturationCurve | None = field(default=None, init=False)

    def first(self, prepared: Prepared) -> Prepared:
        """Return the first plan: as many cases as one window has."""
        return prepared.of_size(self._capped(-(-self.window // len(prepared.arms))))

    @property
    def is_saturated(self) -> bool:
        """Whether the last window added too few."""
        return self.curve is not None and self.curve.is_saturated(self.share)

    async def __call__(self, stage: PlayContext) -> RunOutcome:
        """Play one window after the other."""
        prepared = stage.connections.prepared
        cases = -(-self.window // len(prepared.arms))
        size, counted = self._capped(cases), set[tuple[str, str]]()
        self.curve = SaturationCurve(prepared.scheme, self.window)
        whole = RunOutcome(present=stage.store.state().settled)
        while True:
            connections = replace(stage.connections, prepared=prepared.of_size(size))
            outcome = await (self.play or play_plan)(replace(stage, connections=connections))
            whole.done += outcome.done
            whole.failed += outcome.failed
            if outcome.stopped is not None:
                whole.stopped, whole.stop_code = outcome.stopped, outcome.stop_code
                whole.advice = outcome.advice
                return whole
            for dialogue in stage.store.dialogues(traces=False):
                key = (dialogue.case.id, dialogue.arm)
                if key not in counted:
                    counted.add(key)
                    self.curve.add(dialogue)
            late = self.curve.late_share
            if late is not None:
                stage.watching.note(
                    f"{self.curve.distinct:,} of {self.curve.generated:,} dialogues are distinct, "
                    f"{late:.1%} of the last {self.window:,}"
                )
            grown = self._capped(size + cases)
            if self.is_saturated or grown == size:
                return whole
            size = grown

    def _capped(self, size: int) -> int:
        return size if self.most is None else min(size, self.most)


def curve_of(folder: Path, window: int = WINDOW) -> SaturationCurve | None:
    """Return the curve of a run, of its first 20,000 dialogues; None: it has too few."""
    with RunStore.open(folder, readonly=True) as store:
        if store.state().generated < FEWEST:
            return None
        curve = SaturationCurve(load_material(store).scheme, window)
        for place, dialogue in enumerate(store.dialogues(traces=False)):
            if place == MOST_CURVED:
                break
            curve.add(dialogue)
    return curve
