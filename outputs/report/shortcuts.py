"""Report section: what goal and labels can be read from, if the run was audited."""

from __future__ import annotations

from outputs.audit.findings import read_audit
from outputs.audit.telling import told_audit
from outputs.dataset.told_audit import AUDIT
from outputs.report.gathered import Gathered
from outputs.report.page import Block, Remark, ReportSection, Table
from scenarios.plural import plural


def shortcuts_section(run: Gathered) -> ReportSection:
    """Return what the audit that is kept in the run has found."""
    lead = (
        "Whether goal and labels can be read from what should tell nothing, and how far from the "
        "surface of the words, in scenarios that were not learnt from."
    )
    audit = read_audit(run.material.folder / AUDIT)
    if audit is None:
        note = Remark("The run has not been audited. To audit it:", f"hipo audit {run.run}")
        return ReportSection("audit", "Shortcuts", lead, (note,), absent=True)
    told = told_audit(audit)
    first, *rest = told.sentences
    found = f"{first[0].upper()}{first[1:]}."
    blocks: list[Block] = [Remark(found, tone="warning" if audit.shortcuts else "info")]
    if audit.of != run.generated:
        then = plural(audit.of, "dialogue")
        blocks.append(
            Remark(
                f"The audit is of the run as it was with {then}. To audit it anew:",
                f"hipo audit {run.run}",
                tone="warning",
            )
        )
    blocks += [Table(t.caption, t.header, t.rows) for t in told.tables]
    blocks += [Remark(sentence) for sentence in rest]
    return ReportSection("audit", "Shortcuts", lead, tuple(blocks))
