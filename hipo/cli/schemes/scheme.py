"""``hipo scheme``: look at the label schemes that ship, and write one of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hipo.cli.main import CommandEntry, LazyGroup, command_app


class SchemeGroup(LazyGroup):
    """The commands about label schemes, each in a module of its own."""

    table: ClassVar[Mapping[str, CommandEntry]] = {
        "list": CommandEntry("hipo.cli.schemes.list", "List schemes with where they come from."),
        "show": CommandEntry("hipo.cli.schemes.show", "Read one: questions, labels, procedure."),
        "new": CommandEntry("hipo.cli.schemes.new", "Begin one: a commented file that is valid."),
        "validate": CommandEntry("hipo.cli.schemes.validate", "Check files, all problems at once."),
        "schema": CommandEntry("hipo.cli.schemes.schema", "Print the JSON Schema, for editors."),
    }


app = command_app(cls=SchemeGroup, no_args_is_help=True)


@app.callback()
def scheme() -> None:
    """Look at the label schemes that ship, and write and check your own.

    One of your own is a file, named with --scheme wherever a scheme is asked for.
    """
