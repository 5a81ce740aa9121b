"""Report section: how many distinct dialogues a run yields the longer it goes on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from outputs.plots.curves import Curve, curve_chart
from outputs.report.page import Block, Grid, Plot, Remark, ReportSection, Table
from outputs.report.wording import count, percent
from quality.saturation import FEWEST, SaturationCurve

_TITLE = "Saturation"


def saturation_section(curve: SaturationCurve | None, open_axes: Iterable[str]) -> ReportSection:
    """Return the yield curve, what near-duplicates share, and what could be varied.

    Args:
        curve: of the run; None: it has too few dialogues.
        open_axes: the axes of variation that the run draws from.
    """
    lead = (
        "Distinct dialogues against dialogues, in the order of the cases. A dialogue is distinct "
        "unless 70 % of the word triples of its improvised turns are those of one before it. Strategies "
        "that play one case begin with the same draft: of the same case only a dialogue that another "
        "one repeats word for word is not distinct."
    )
    if curve is None:
        note = Remark(f"Fewer than {FEWEST} dialogues: too few for a curve.")
        return ReportSection("saturation", _TITLE, lead, (note,), absent=True)
    points = curve.points()
    drawn = curve_chart(
        (
            Curve("distinct", tuple((p.generated, p.distinct) for p in points)),
            Curve("if all were", ((0, 0), (curve.generated, curve.generated))),
        ),
        label=f"{count(curve.distinct)} of {count(curve.generated)} dialogues are distinct",
        axis="dialogues",
    )
    rows = tuple(
        (count(b.generated), count(b.distinct),
         percent((b.distinct - a.distinct) / (b.generated - a.generated)))
        for a, b in pairwise(points)
    )  # fmt: skip
    header = ("dialogues", "distinct", "distinct among those since the row above")
    blocks: list[Block] = [
        Grid((Plot("Distinct dialogues", drawn, Table("The curve in numbers", header, rows)),))
    ]
    shared = curve.shared()
    if shared:
        alike = tuple((name, percent(share)) for name, share in shared.items())
        caption = "What near-duplicates have in common with their twin"
        blocks.append(Table(caption, ("in common", "near-duplicates"), alike))
    blocks += [Remark(line) for line in curve.advice(open_axes)]
    return ReportSection("saturation", _TITLE, lead, tuple(blocks))
