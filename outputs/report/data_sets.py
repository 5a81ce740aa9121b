"""The data sets that were made of a run, and what each of them left out."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.export.recorded import RecordedExport
from outputs.report.page import Table
from outputs.report.wording import count, moment


def data_sets_table(exports: Sequence[RecordedExport]) -> Table:
    """Return a table with a line for each data set; folders are seen from that of the run."""
    return Table(
        "Data sets made of this run",
        ("folder", "kind", "dialogues", "rows", "left out", "made"),
        tuple(
            (
                export.folder,
                export.kind if export.verdict == "accepted" else f"{export.kind}, any verdict",
                count(export.dialogues),
                ", ".join(f"{split} {count(n)}" for split, n in export.rows.items()),
                "; ".join(export.left_out.reasons()) or "nothing",
                moment(export.at),
            )
            for export in exports
        ),
    )
