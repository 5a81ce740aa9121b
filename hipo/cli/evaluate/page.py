"""``hipo evaluate report``: the page about an evaluation, made anew from what is stored."""

from __future__ import annotations

import typer

from hipo.app.evaluation.tables import report_evaluation
from hipo.cli.main import command_app
from hipo.cli.terminal.console import Format, hush, write_json
from hipo.cli.terminal.errors import ExitCode

app = command_app()


@app.command("report")
def report(
    evaluation: str = typer.Argument(
        ..., metavar="DIR", help="What hipo evaluate wrote with -o, or a run that has one."
    ),
    output_format: Format = typer.Option(
        "text", "--format", help="json prints page, scores and plots: the files."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Say nothing."),
) -> int:
    """Score the stored answers of an evaluation anew, and write scores.json, index.html and plots.

    Nobody is asked anything: it reads results.jsonl, evaluation.json and items.jsonl.
    """
    hush()
    written = report_evaluation(evaluation)
    if output_format == "json":
        write_json(
            {
                "page": str(written.page),
                "scores": str(written.scores),
                "plots": [str(path) for path in written.plots],
            }
        )
    elif not quiet:
        print(f"page: {written.page}\nscores: {written.scores}")
        print(f"plots: {len(written.plots)} in {written.page.parent / 'plots'}")
    return ExitCode.DONE
