"""``hipo evaluate``: what models make of labelled dialogues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hipo.cli.main import CommandEntry, LazyGroup, command_app


class EvaluateGroup(LazyGroup):
    """The commands about results of models, each in a module of its own."""

    table: ClassVar[Mapping[str, CommandEntry]] = {
        "table": CommandEntry("hipo.cli.evaluate_table", "Print results as tables."),
        "people": CommandEntry("hipo.cli.evaluate_people", "Print people beside models."),
    }


app = command_app(cls=EvaluateGroup, no_args_is_help=True)


@app.callback()
def evaluate() -> None:
    """Look at what models and people score on labelled dialogues."""
