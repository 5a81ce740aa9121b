"""``hipo report``: one page about a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hipo.cli.main import RUN, command_app
from hipo.cli.options.shared import PLUGINS
from hipo.cli.reports.saturation import saturation_as_json
from hipo.cli.terminal.console import Format, hush, write_json
from hipo.cli.terminal.errors import ExitCode, say

if TYPE_CHECKING:
    from hipo.app.report.report import WrittenReport

app = command_app()


@app.command("report")
def report(
    *,
    run: str = RUN,
    output: Path | None = typer.Option(
        None, "-o", "--output", help="The HTML file; default report.html in the folder of the run."
    ),
    samples: int = typer.Option(10, "--samples", min=0, help="How many dialogues to show."),
    export: list[Path] = typer.Option(
        [],
        "--export",
        metavar="DIR",
        help="A folder that hipo export wrote: counts it; default all that are recorded in the run.",
    ),
    benchmark: Path | None = typer.Option(
        None,
        "--benchmark",
        metavar="CSV",
        help="What models scored: columns model, dimension, turns, correct, items.",
    ),
    evaluation: list[Path] = typer.Option(
        [],
        "--evaluation",
        metavar="DIR",
        help="What hipo evaluate wrote; default RUN/evaluation, if it is there; repeatable.",
    ),
    plugins: list[Path] | None = PLUGINS,
    no_embeddings: bool = typer.Option(
        False, "--no-embeddings", help="Do not embed answers to see how varied they are: quicker."
    ),
    output_format: Format = typer.Option(
        "text",
        "--format",
        help="json prints report (the file), bytes, run (the folder), and saturation (the curve).",
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Say nothing."),
) -> int:
    """Write one self-contained page about a run: what was generated, how good it is, what it took.

    It loads nothing, can be printed and read on a phone, and works on a run that has only been
    generated: what needs judges or people says how to get there.
    """
    from hipo.app.report.report import report as write_report  # noqa: PLC0415 - most of hipo

    hush()
    written = write_report(
        run,
        output,
        samples=samples,
        exports=export,
        benchmark=benchmark,
        evaluations=evaluation,
        embeddings=not no_embeddings,
        notice=say,
    )
    if output_format == "json":
        write_json(_as_json(written))
    elif not quiet:
        print(f"report: {written.path}")
    return ExitCode.DONE


def _as_json(written: WrittenReport) -> dict[str, object]:
    curve = None if written.curve is None else saturation_as_json(written.curve)
    told = {"report": str(written.path), "bytes": written.size, "run": str(written.run)}
    return told | {"saturation": curve}
