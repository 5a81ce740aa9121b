"""``hipo metrics reasoning``: how right reasonings in games are, by a solver and by raters."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.metrics.reasoning import ReasoningSet, check_new, read_reasoning
from hipo.cli.main import command_app
from hipo.cli.metrics.reasoning_text import reasoning_as_json, reasoning_as_text
from hipo.cli.terminal.console import hush
from hipo.cli.terminal.errors import ExitCode, say
from hipo.cli.terminal.json_target import JSON, deliver
from scenarios.plural import plural

app = command_app()


@app.command("reasoning")
def reasoning(
    *,
    sources: list[Path] = typer.Argument(
        ...,
        metavar="LOG|FORM|FOLDER...|RUN",
        help="Logs of reasoning, forms that raters filled in about them, folders of both, or a run "
        "that was played with --strategy verified.",
    ),
    game: str | None = typer.Option(
        None, "--game", metavar="ID", help="The game of every log; default: forms and names say it."
    ),
    games: Path | None = typer.Option(
        None,
        "--games",
        metavar="FILE",
        help="A YAML file of games besides pd, sh and hd; default: games.yaml in a folder of logs.",
    ),
    logs: Path | None = typer.Option(
        None,
        "--logs",
        metavar="FOLDER",
        help="Write the logs there, those of a run for raters say.",
    ),
    make_form: Path | None = typer.Option(
        None, "--make-form", metavar="FILE", help="Write an empty form about the logs for a rater."
    ),
    complete: Path | None = typer.Option(
        None,
        "--complete",
        metavar="FOLDER",
        help="Write the forms there with what follows from logs.",
    ),
    merge: Path | None = typer.Option(
        None,
        "--merge",
        metavar="FILE",
        help="Write one table of all raters and what they agree on.",
    ),
    json_target: str | None = JSON,
) -> int:
    """Solve the claims of logged reasonings again, and compare the solver with raters.

    A reasoning counts as right where every rater says so. Printed are claims that hold and fail,
    the confusion matrix of the solver against the raters for first and last attempts, shares of
    wrong reasonings, kinds of mistakes by game, agreement of raters, and what was odd in the files.
    """
    hush()
    for file in (make_form, merge):
        if file is not None:
            check_new(file)
    found = read_reasoning(sources, games_file=games, game=game)
    if logs is not None:
        say(f"written: {plural(len(found.write_logs(logs)), 'log')} in {logs}")
    for written in _write(found, make_form, complete, merge):
        say(f"written: {written}")
    shown = (found.figures(), found.oddities)
    deliver(lambda: reasoning_as_json(*shown), lambda: reasoning_as_text(*shown), json_target)
    return ExitCode.DONE


def _write(
    found: ReasoningSet, make_form: Path | None, complete: Path | None, merge: Path | None
) -> list[Path]:
    written: list[Path] = []
    if make_form is not None:
        found.make_form(make_form)
        written.append(make_form)
    if complete is not None:
        written += found.complete(complete)
    if merge is not None:
        found.merge(merge)
        written.append(merge)
    return written
