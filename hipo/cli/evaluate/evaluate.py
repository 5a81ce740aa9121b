"""``hipo evaluate``: what models make of labelled dialogues."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from hipo.cli.main import CommandEntry, LazyGroup, command_app

if TYPE_CHECKING:
    from typer._click import Context


class EvaluateGroup(LazyGroup):
    """The commands about results of models, each in a module of its own."""

    table: ClassVar[Mapping[str, CommandEntry]] = {
        "run": CommandEntry(
            "hipo.cli.evaluate.run", "Ask models about a set, a run or gold; run may be left out."
        ),
        "table": CommandEntry("hipo.cli.evaluate.table", "Print results as tables."),
        "report": CommandEntry("hipo.cli.evaluate.page", "Write the page about an evaluation."),
        "people": CommandEntry("hipo.cli.evaluate.people", "Print people beside models."),
    }

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Take a first word that is no command for what ``run`` is to be of."""
        if args and args[0] not in (*self.table, *ctx.help_option_names):
            mistyped = get_close_matches(args[0], self.table, n=1)
            if not mistyped or Path(args[0]).exists() or Path("runs", args[0]).exists():
                args = ["run", *args]
        return super().parse_args(ctx, args)


app = command_app(cls=EvaluateGroup, no_args_is_help=True)


@app.callback()
def evaluate() -> None:
    """Ask models for the labels of dialogues, and look at what they and people score.

    hipo evaluate SET|RUN|gold --task TASK --model MODEL -o DIR is short for hipo evaluate run.
    """
