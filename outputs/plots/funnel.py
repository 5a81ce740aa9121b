"""A funnel: what is left after each stage, and how it narrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outputs.plots.canvas import WIDTH, Canvas

_HEAD = 20.0
_BAR = 18.0
_SLOPE = 10.0
_STAGE = _HEAD + _BAR + _SLOPE


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One stage; ``value`` None means that it is not known."""

    label: str
    value: int | None
    text: str


def funnel_chart(stages: Sequence[FunnelStage], *, label: str) -> str:
    """Return an SVG of a funnel; a stage whose number is not known is an empty frame.

    Args:
        stages: from the widest to the narrowest.
        label: what the plot shows, for those who cannot see it.
    """
    canvas = Canvas(WIDTH, max(1.0, len(stages) * _STAGE - _SLOPE), label)
    widest = max((stage.value or 0 for stage in stages), default=0) or 1
    for number, stage in enumerate(stages):
        y = number * _STAGE
        canvas.text((0, y + 14), stage.label, room=WIDTH * 0.4, kind="strong")
        canvas.text((WIDTH, y + 14), stage.text, room=WIDTH * 0.58, anchor="end", kind="value")
        canvas.rect((0, y + _HEAD), (WIDTH, _BAR), "track")
        if stage.value is None:
            continue
        width = WIDTH * stage.value / widest
        left = (WIDTH - width) / 2
        canvas.rect((left, y + _HEAD), (width, _BAR), f"bar f{min(number, 5)}",
                    tooltip=f"{stage.label}: {stage.text}")  # fmt: skip
    return canvas.svg()
