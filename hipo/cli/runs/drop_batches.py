"""``hipo runs drop-batches``: give up what lies at providers."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.models.batching import give_up_batches
from hipo.app.runs.folders import find_run, is_evaluation
from hipo.cli.main import command_app
from scenarios.plural import plural

app = command_app()


@app.command("drop-batches")
def drop_batches(
    run: str = typer.Argument(
        ...,
        metavar="RUN|EVALUATION",
        help="A run, by folder or name, or the folder of an evaluation.",
    ),
) -> None:
    """Give up what lies at providers in batches, or came back and was not used.

    It counts at its worst, and is asked for and paid for again. For batches that are deleted at
    the provider; any other is picked up by the command that sent it.
    """
    folder = Path(run)
    dropped = give_up_batches(folder if is_evaluation(folder) else find_run(run))
    print(f"{plural(dropped, 'request')} given up")
