"""The option ``--json FILE|-``: figures as JSON, beside the text or in its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import typer

from hipo.cli.terminal.console import write_json
from scenarios.atomic_files import check_place, write_text


def _checked(target: str | None) -> str | None:
    """Refuse a place where no file can be written before anything is computed."""
    if target not in (None, "-"):
        check_place(Path(target))
    return target


JSON = typer.Option(
    None,
    "--json",
    callback=_checked,
    metavar="FILE|-",
    help="Write the figures there as JSON; - prints them in place of the text.",
)


def deliver(value: Callable[[], object], text: Callable[[], str], target: str | None) -> None:
    """Print the text, and write plain data as JSON to a file; with ``-`` print the JSON alone.

    Only what is asked for is made: the data has every item, and may take more memory than all else.
    """
    if target == "-":
        write_json(value())
        return
    if target is not None:
        data = orjson.dumps(value(), option=orjson.OPT_INDENT_2).decode()
        write_text(Path(target), data + "\n")
    print(text())
