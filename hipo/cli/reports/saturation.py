"""How soon the dialogues of a run repeat each other: for programs and for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hipo.cli.terminal.console import columns, number, plain

if TYPE_CHECKING:
    from quality.saturation import SaturationCurve


def saturation_as_json(curve: SaturationCurve) -> dict[str, object]:
    """Return the curve as ``hipo report RUN --format json`` prints it.

    ``generated`` and ``distinct`` dialogues; ``window`` and ``late_share`` (of distinct ones among so
    many last dialogues; null: there are fewer); ``points``: a list of objects with ``generated`` and
    ``distinct``; ``shared``: by name the share of near-duplicates that have it in common with their
    twin (``case``: the same case, said by another strategy word for word).
    """
    points = [plain(point, "generated distinct") for point in curve.points()]
    return plain(
        curve,
        "generated distinct window late_share points shared",
        points=points,
        shared=dict(curve.shared()),
    )


def saturation_as_text(curve: SaturationCurve, share: float, open_axes: Iterable[str]) -> str:
    """Return the curve and the advice the way ``hipo generate --until-saturated`` ends."""
    rows = [[number(p.generated), number(p.distinct)] for p in curve.points()[1:]]
    late = curve.late_share
    said = "fewer dialogues than a window" if late is None else f"{late:.1%} of the last window"
    ended = "saturated" if curve.is_saturated(share) else "not saturated"
    head = (
        f"{ended}: {number(curve.distinct)} of {number(curve.generated)} dialogues are distinct, "
        f"{said} ({number(curve.window)})"
    )
    advice = [f"- {line}" for line in curve.advice(open_axes)]
    return "\n".join(
        [head, "", columns(["dialogues", "distinct"], rows), *([""] * bool(advice)), *advice]
    )
