"""``hipo scheme new``: begin a label scheme with a file that is valid as it stands."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.cli.main import command_app
from hipo.cli.terminal.new_files import write_new
from scenarios.errors import UsageError
from scenarios.schemes.registry import scheme_names
from scenarios.schemes.scaffold import new_scheme
from scenarios.text_file import shown_path, typed_path

app = command_app()


@app.command("new")
def new(
    scheme_id: str = typer.Argument(..., metavar="ID", help="Its id, e.g. apologies."),
    flow: bool = typer.Option(
        False,
        "--flow",
        help="For any people in a conversation, in place of one who asks and one who answers under "
        "a goal.",
    ),
    output: Path = typer.Option(
        Path(), "-o", "--output", help="The folder to write it to; made if need be."
    ),
) -> None:
    """Write a small complete scheme with guidance above every field; nothing is overwritten."""
    text = new_scheme(scheme_id, flow=flow)
    if scheme_id in {name.partition("@")[0] for name in scheme_names()}:
        raise UsageError(f"there is a scheme {scheme_id!r} already, it ships", "take another id")
    path = write_new(output / f"{scheme_id}.yaml", text)
    typed = typed_path(shown_path(path))
    first = f"hipo scenarios new my_first --scheme {typed} -o my_pack"
    print(f"wrote {shown_path(path)}")
    print(f"check it:      hipo scheme validate {typed}")
    print(f"a scenario:    {first}")
