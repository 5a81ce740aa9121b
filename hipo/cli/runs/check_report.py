"""What ``hipo runs check`` and ``hipo runs repair`` say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hipo.app.runs.check import Repaired
from hipo.cli.terminal.console import columns, dollars, number
from pipeline.store.checking import Damage
from pipeline.store.salvage import TableResult
from pipeline.store.sqlite import DATABASE
from scenarios.plural import plural
from scenarios.text_file import typed_path


def findings_as_json(folder: Path, findings: Sequence[Damage]) -> dict[str, object]:
    """Return what ``hipo runs check RUN --format json`` prints.

    ``run`` (the folder), ``sound``, and ``findings``: a list of objects with ``about`` (the table,
    ``database``, ``materials`` or ``people``) and ``message``.
    """
    listed = [{"about": finding.about, "message": finding.message} for finding in findings]
    return {"run": str(folder), "sound": not findings, "findings": listed}


def findings_as_text(folder: Path, findings: Sequence[Damage]) -> str:
    """Return the findings for people."""
    if not findings:
        return f"{folder} is sound"
    lines = [f"{plural(len(findings), 'thing')} wrong with {folder}:"]
    lines += [f"  {finding.about}: {finding.message}" for finding in findings]
    if not (folder / DATABASE).stat().st_size:
        lines.append("nothing can be saved from it: put a copy of the file back")
    else:
        lines.append(f"hipo runs repair {typed_path(folder)} saves what can be read into a new run")
    return "\n".join(lines)


def repaired_as_json(repaired: Repaired) -> dict[str, object]:
    """Return what ``hipo runs repair RUN --format json`` prints.

    ``run`` (the new folder), ``sound``, ``findings`` (as of ``hipo runs check``), ``notes`` (a list of
    sentences), ``tables``: a list of objects with ``table``, ``saved`` and ``lost`` (rows) and
    ``more`` (whether more may be lost than is counted); ``lost_dialogues``: generated ones that are
    to be played again; ``spent_usd``, and ``lost_usd``: the part of it whose requests are lost.
    """
    saved = repaired.salvage
    return findings_as_json(repaired.folder, repaired.findings) | {
        "notes": list(repaired.notes),
        "tables": [
            {"table": t.table, "saved": t.saved, "lost": t.lost, "more": t.is_cut}
            for t in saved.tables
        ],
        "lost_dialogues": _lost_dialogues(repaired),
        "spent_usd": saved.usd,
        "lost_usd": saved.lost_usd,
    }


def repaired_as_text(repaired: Repaired) -> str:
    """Return what was saved and what was lost for people."""
    saved = repaired.salvage
    rows = [
        [t.table, number(t.saved), _lost(t)] for t in saved.tables if t.saved or t.lost or t.is_cut
    ]
    lines = [columns(["table", "saved", "lost"], rows), ""]
    lost = _lost_dialogues(repaired)
    if lost:
        lines.append(
            f"{plural(lost, 'dialogue')} lost: hipo generate plays them again, "
            "from the answers that are stored as far as they are"
        )
    lines.append(f"{dollars(saved.usd)} count as spent")
    if saved.lost_usd:
        lines[-1] += f", {dollars(saved.lost_usd)} of them for requests that could not be read"
    lines += repaired.notes
    lines += [f"still wrong: {f.about}: {f.message}" for f in repaired.findings]
    lines.append(f"the new run is {repaired.folder}; go on with it by -o {repaired.folder}")
    return "\n".join(lines)


def _lost(table: TableResult) -> str:
    if not table.is_cut:
        return number(table.lost)
    return f"{number(table.lost)} or more" if table.lost else "unknown"


def _lost_dialogues(repaired: Repaired) -> int:
    return sum(table.lost for table in repaired.salvage.tables if table.table == "dialogues")
