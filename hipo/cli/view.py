"""``hipo view``: look through the dialogues of runs in a browser."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.runs.folders import find_run
from hipo.cli.main import command_app
from hipo.cli.terminal.errors import ExitCode, say
from hipo.cli.terminal.page_packages import check_page_packages
from scenarios.plural import plural

app = command_app()

_RUNS = typer.Argument(
    ..., metavar="RUN...", help="Folders, or names under ./runs; two can be compared."
)


@app.command("view")
def view(
    runs: list[str] = _RUNS,
    port: int = typer.Option(8643, "--port", min=1, max=65535, help="On this machine alone."),
) -> int:
    """Look through dialogues in a browser: filters, search, tables, prompts, side by side.

    Prints a link that lets one browser in, and a fresh one when it has been used. The runs are only
    read, also while hipo generate is writing them; which words are said where is kept in the file
    view-words.sqlite beside each.
    """
    check_page_packages("the viewer")
    folders = list(dict.fromkeys(find_run(run) for run in runs))
    _serve(folders, port)
    return ExitCode.DONE


def _serve(folders: list[Path], port: int) -> None:
    from hipo.app.viewing import open_viewing  # noqa: PLC0415 - optional
    from quality.viewer.app import build_app  # noqa: PLC0415 - optional
    from quality.web.server import Address, listening, server  # noqa: PLC0415 - optional

    address = Address(port=port)

    def announce(token: str) -> None:
        say(f"  {address.url}/enter?token={token}")

    with listening(address) as listener, open_viewing(folders, address, announce) as viewing:
        for run in viewing.runs:
            say(f"{run.folder}: {plural(len(run.columns), 'dialogue')}")
        say("the page, for one browser (Ctrl-C ends it):")
        announce(viewing.owner.mint())
        server(build_app(viewing), address).run(sockets=[listener])
