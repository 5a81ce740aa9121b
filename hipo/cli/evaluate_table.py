"""``hipo evaluate table``: results as Markdown, CSV or HTML."""

from __future__ import annotations

from enum import StrEnum

import typer

from hipo.cli.errors import ExitCode
from hipo.cli.main import command_app
from outputs.result_tables.documents import (
    results_as_csv,
    results_as_html,
    results_as_markdown,
)
from outputs.result_tables.paper import paper_results

app = command_app()


class TableFormat(StrEnum):
    """How tables are written to standard output."""

    MARKDOWN = "markdown"
    CSV = "csv"
    HTML = "html"


_WRITERS = {
    TableFormat.MARKDOWN: results_as_markdown,
    TableFormat.CSV: results_as_csv,
    TableFormat.HTML: results_as_html,
}


@app.command("table")
def table(
    output_format: TableFormat = typer.Option(
        TableFormat.MARKDOWN, "--format", help="csv: one number in a row, see docs/evaluation.md."
    ),
) -> int:
    """Print what the HIPO paper published: 22 models, fine-tuning, and people by class.

    These are results on other items with other labels than any corpus made here has, so no score
    on such a corpus belongs in one table with them. Notes say what does not add up in print.
    """
    print(_WRITERS[output_format]([paper_results()]), end="")
    return ExitCode.DONE
