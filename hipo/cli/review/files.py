"""``hipo review export`` and ``hipo review import``: answers for other tools, and from them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hipo.app.options.values import AnswerFormat
from hipo.app.runs.folders import find_run
from hipo.cli.main import RUN
from hipo.cli.terminal.console import Format, columns, one_line, write_json
from hipo.cli.terminal.errors import ExitCode, say
from scenarios.plural import plural
from scenarios.reviews import Mode

if TYPE_CHECKING:
    from quality.review.importing import ImportedReviews

_STUDY = typer.Option(None, "--study", help="Which study, where there are several.")


def export_answers(
    *,
    run: str = RUN,
    to: AnswerFormat = typer.Option(..., "--to", help="label-studio, argilla, csv or pdf."),
    output: Path | None = typer.Option(
        None,
        "-o",
        "--output",
        help="Folder, or the file itself (tasks.json); default RUN/review-<study>.",
    ),
    study: str | None = _STUDY,
    annotator: str | None = typer.Option(None, "--annotator", help="One code's answers only."),
    blank: bool = typer.Option(False, "--blank", help="csv: rows to fill in instead of answers."),
    blind: bool | None = typer.Option(
        None, "--blind/--declared", help="Without declared labels; default for a quiz."
    ),
    mode: Mode | None = typer.Option(
        None, "--mode", help="Of a study that is begun by this; default review.", show_default=False
    ),
    everything: bool = typer.Option(False, "--all", help="The same: every dialogue."),
    most: int | None = typer.Option(
        None, "-n", "--count", min=1, help="The same: at most so many."
    ),
    per_item: int | None = typer.Option(
        None, "--per-item", min=1, help="The same: people per item; default 3.", show_default=False
    ),
) -> int:
    """Write a study for another tool, or to print: its dialogues, and the answers so far.

    A study is begun where the run has none. Annotators are codes in every file; cells that a
    spreadsheet would compute are made harmless.
    """
    from hipo.app.review.answer_files import export_answers as write_answers  # noqa: PLC0415 - with all that reviews
    from hipo.app.review.reviewing import ReviewOptions  # noqa: PLC0415 - with all that reviews

    folder = find_run(run)
    options = ReviewOptions(
        mode=mode or "review", name=study, everything=everything, most=most,
        per_item=per_item or 3,
    )  # fmt: skip
    told = [name for name, said in (("mode", mode), ("per_item", per_item)) if said is not None]
    written = write_answers(
        folder, to, output, options, annotator=annotator, blank=blank, blind=blind, told=told
    )
    for path in written.paths:
        print(path)
    say(f"{plural(written.dialogues, 'dialogue')}, {plural(written.answers, 'answer')}")
    return ExitCode.DONE


def import_answers(
    run: str = RUN,
    file: Path = typer.Argument(..., metavar="FILE", help="Label Studio's .json, or a .csv."),
    study: str | None = _STUDY,
) -> int:
    """Bring answers in that were given in Label Studio or a spreadsheet.

    The whole file is checked before anything is stored. Parts of a study are welcome; the same
    file again changes nothing. Exit code 1 where answers were left out.
    """
    from hipo.app.review.answer_files import import_answers as read_answers  # noqa: PLC0415 - with all that reviews

    return _report(read_answers(find_run(run), file, study))


def list_reports(
    run: str = RUN,
    study: str | None = _STUDY,
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> None:
    """List what reviewers find wrong with scenarios, for their authors."""
    from hipo.app.review.answer_files import reported_scenarios  # noqa: PLC0415 - with all that reviews

    reports = reported_scenarios(find_run(run), study)
    if output_format == "json":
        write_json([asdict(report) for report in reports])
    elif not reports:
        print("nobody has reported a scenario")
    else:
        rows = [[r.scenario, r.fact, r.annotator, one_line(r.problem, 100)] for r in reports]
        print(columns(["scenario", "fact", "by", "what is wrong"], rows))


def _report(done: ImportedReviews) -> int:
    counts = done.outcomes
    print(
        f"{plural(counts['added'], 'answer')} added, {counts['changed']} changed,"
        f" {counts['unchanged']} known already"
    )
    for why, left_out in (
        ("the item has all its annotators", done.surplus),
        ("an expert has settled the item", done.closed),
    ):
        for answer in left_out:
            say(f"left out: {answer}: {why}")
    return ExitCode.FAILED_CASES if done.surplus or done.closed else ExitCode.DONE
