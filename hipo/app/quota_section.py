"""The section of a report about the quota of a run."""

from __future__ import annotations

from hipo.app.quota import QuotaStanding
from hipo.app.quota_table import HEADER, NOTE, quota_row
from outputs.report.page import ReportSection, Table


def quota_section(standing: QuotaStanding | None) -> tuple[ReportSection, ...]:
    """Return the section of a report about a quota; none where the run has none."""
    if standing is None:
        return ()
    filled = len(standing.of_state("filled"))
    caption = f"{filled:,} of {len(standing.cells):,} cells filled"
    table = Table(caption, HEADER, tuple(map(quota_row, standing.cells)))
    return (ReportSection("quota", "Quota", f"What was drawn for. {NOTE}", (table,)),)
