"""``hipo audit``: what goal and labels can be read from, besides the words that carry them."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.audit import audit as audit_source
from hipo.cli.main import command_app
from hipo.cli.terminal.console import Format, columns, hush, write_json
from hipo.cli.terminal.errors import ExitCode
from outputs.audit.findings import Audit
from outputs.audit.run_corpus import MOST
from outputs.audit.telling import told_audit
from outputs.dataset.told_audit import AuditTable

app = command_app()


@app.command("audit")
def audit(
    *,
    source: str = typer.Argument(
        ..., metavar="RUN|SET", help="A run, or the file or folder of an exported data set."
    ),
    output: Path | None = typer.Option(
        None,
        "-o",
        "--output",
        metavar="FILE",
        help="Write the audit there as JSON; default audit.json in the run, nothing for a set.",
    ),
    most: int = typer.Option(
        MOST, "--dialogues", min=1, help="Look at about so many: whole pairs, drawn by the seed."
    ),
    seed: int = typer.Option(
        0, "--seed", min=0, max=2**32 - 1, help="Of folds, permutations and resamples."
    ),
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Say nothing."),
) -> int:
    """Look for shortcuts: what tells goal or labels although it should tell nothing.

    Every scenario is guessed from the others by plain classifiers: from the opening, positions,
    lengths, the initiator's lines, personas, ids and the like, which must be no better than chance,
    and from the surface of the words, which is only told. Needs scikit-learn: hipo[audit].
    """
    hush()
    found = audit_source(source, seed=seed, most=most, output=output)
    if output_format == "json":
        write_json(found.plain())
    elif not quiet:
        print(audit_as_text(found))
    return ExitCode.DONE


def audit_as_text(audit: Audit) -> str:
    """Return an audit in words."""
    told = told_audit(audit)
    first, *rest = told.sentences
    return "\n\n".join([f"{audit.name}: {first}", *map(_table, told.tables), "\n".join(rest)])


def _table(table: AuditTable) -> str:
    return f"{table.caption}\n{columns(table.header, table.rows)}"
