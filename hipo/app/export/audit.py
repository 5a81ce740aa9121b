"""What the documents of an export say of an audit: of its own rows, or of the run."""

from __future__ import annotations

from pathlib import Path

from hipo.app.audit import audit_export
from outputs.audit.findings import read_audit, write_audit
from outputs.audit.gate import check_shortcuts
from outputs.audit.telling import told_audit
from outputs.dataset.told_audit import AUDIT, ToldAudit
from outputs.selecting.wish import Selection


def checked(folder: Path, selection: Selection, name: str, most: float) -> ToldAudit:
    """Audit the rows of an export, refuse them if they tell too much, and keep what was found.

    Args:
        folder: of the data set that is being made.
        selection: what it is made of.
        name: of the data set.
        most: how far above the floor a label may be read for certain.

    Raises:
        UsageError: something that should tell nothing reads a label better than that.
    """
    found = audit_export(folder, selection, name)
    check_shortcuts(found, most)
    write_audit(folder / AUDIT, found)
    return told_audit(found)


def of_run(path: Path) -> ToldAudit | None:
    """Return what an earlier audit found in the run, in words; None where its file has none."""
    kept = read_audit(path)
    return None if kept is None else told_audit(kept, of_run=kept.name)
