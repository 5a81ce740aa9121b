"""``hipo scenarios new``: begin a scenario with a file that is valid as it stands."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.cli.main import command_app
from hipo.cli.scenarios.options import SCENARIO_DIRS
from hipo.cli.terminal.new_files import write_new
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.scaffold import new_scenario
from scenarios.schemes.registry import load_scheme
from scenarios.text_file import shown_path, typed_path

app = command_app()


@app.command("new")
def new(
    scenario_id: str = typer.Argument(..., metavar="ID", help="Its id, e.g. lost_luggage."),
    category: str | None = typer.Option(
        None, "--category", help="One of the scheme's; default its first.", show_default=False
    ),
    output: Path = typer.Option(
        Path(), "-o", "--output", help="The folder to write it to; made if need be."
    ),
    scheme: str = typer.Option("hipo", "--scheme", help="Its label scheme, an id or a file."),
    scenario_dirs: list[Path] | None = SCENARIO_DIRS,
) -> None:
    """Write a small complete scenario with guidance above every field; nothing is overwritten."""
    text = new_scenario(scenario_id, load_scheme(scheme), category)
    taken = Catalogue.load(scenario_dirs or ()).entries.get(scenario_id)
    path = output / f"{scenario_id}.yaml"
    if taken is not None and not path.exists():
        raise UsageError(
            f"there is a scenario {scenario_id!r} already, in {taken.located.file}",
            "take another id",
        )
    write_new(path, text)
    print(f"wrote {shown_path(path)}")
    named = f" --scheme {typed_path(scheme)}" if scheme != "hipo" else ""
    typed = typed_path(shown_path(path))
    print(f"check it:   hipo scenarios validate {typed}{named}")
    print(f"try it out: hipo scenarios preview {typed}{named} --model offline/rules")
