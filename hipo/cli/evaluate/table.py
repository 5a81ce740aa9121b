"""``hipo evaluate table``: results as Markdown, CSV, HTML or LaTeX."""

from __future__ import annotations

from typing import Literal

import typer

from hipo.app.evaluation.tables import result_blocks
from hipo.cli.main import command_app
from hipo.cli.terminal.errors import ExitCode
from outputs.result_tables.documents import (
    results_as_csv,
    results_as_html,
    results_as_markdown,
)
from outputs.result_tables.latex import results_as_latex

app = command_app()


_WRITERS = {
    "markdown": results_as_markdown,
    "csv": results_as_csv,
    "html": results_as_html,
    "latex": results_as_latex,
}


@app.command("table")
def table(
    evaluations: list[str] = typer.Argument(
        None, metavar="[DIR]...", help="What hipo evaluate wrote with -o, or a run that has one."
    ),
    output_format: Literal["markdown", "csv", "html", "latex"] = typer.Option(
        "markdown", "--format", help="csv: one number in a row, see docs/evaluation.md."
    ),
    people: str | None = typer.Option(
        None, "--people", metavar="RUN", help="A run with a quiz: people and models on its items."
    ),
    by_label: bool = typer.Option(
        False, "--by-label", help="With precision, recall, F1 and number of every label."
    ),
    no_paper: bool = typer.Option(False, "--no-paper", help="Without the printed results."),
) -> int:
    """Print results of your own evaluations, and what the HIPO paper published.

    The paper has 22 models, fine-tuning, and people by class: other items with other labels than
    any corpus made here, so they stand in a block of their own, and not beside labels of other
    schemes alone. Only a corpus that models wrote by the recipe hipo-paper, with scheme hipo@1 and
    openings by goal, has its rows below the printed ones, too. Without DIR the printed results are
    there alone; notes say what does not add up.
    """
    blocks = result_blocks(evaluations or (), people=people, paper=not no_paper, by_label=by_label)
    print(_WRITERS[output_format](blocks), end="")
    return ExitCode.DONE
