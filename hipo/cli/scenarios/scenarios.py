"""``hipo scenarios``: look at the library, and write scenarios of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hipo.cli.main import CommandEntry, LazyGroup, command_app


class ScenarioGroup(LazyGroup):
    """The commands about scenarios, each in a module of its own."""

    table: ClassVar[Mapping[str, CommandEntry]] = {
        "list": CommandEntry("hipo.cli.scenarios.list", "List scenarios, and count them."),
        "show": CommandEntry("hipo.cli.scenarios.show", "Read one scenario."),
        "new": CommandEntry("hipo.cli.scenarios.new", "Begin one: a commented file that is valid."),
        "validate": CommandEntry(
            "hipo.cli.scenarios.validate", "Check files, all problems at once."
        ),
        "schema": CommandEntry("hipo.cli.scenarios.schema", "Print the JSON Schema, for editors."),
        "stats": CommandEntry("hipo.cli.scenarios.stats", "Count, measure and compare scenarios."),
        "preview": CommandEntry(
            "hipo.cli.scenarios.preview", "Play a dialogue per goal; keep nothing."
        ),
        "translate": CommandEntry(
            "hipo.cli.scenarios.translate", "Have a model put them into another language."
        ),
        "graph": CommandEntry(
            "hipo.cli.scenarios.graph", "Draw who knows, claims and reveals what."
        ),
    }


app = command_app(cls=ScenarioGroup, no_args_is_help=True)


@app.callback()
def scenarios() -> None:
    """Look at the scenarios that ship, and write, check and try out your own.

    Your own are files in a folder, named with --scenario-dir or in the variable HIPO_SCENARIO_PATH.
    """
