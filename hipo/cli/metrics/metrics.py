"""The group ``hipo metrics``: statistics that go with one kind of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hipo.cli.main import CommandEntry, LazyGroup, command_app


class MetricsGroup(LazyGroup):
    """The commands about statistics of labels, each in a module of its own."""

    table: ClassVar[Mapping[str, CommandEntry]] = {
        "strategic": CommandEntry(
            "hipo.cli.metrics.strategic",
            "Benefit and penalty of answers to somebody whose interest is opposed (CoBRA).",
        ),
        "intention": CommandEntry(
            "hipo.cli.metrics.intention",
            "Face acts and intentions in persuasion, questions about them, and answers.",
        ),
        "reasoning": CommandEntry(
            "hipo.cli.metrics.reasoning",
            "How right reasonings in games are, by a solver and by raters.",
        ),
    }


app = command_app(cls=MetricsGroup, no_args_is_help=True)


@app.callback()
def metrics() -> None:
    """Compute statistics that go with one kind of labels, from files or from a run."""
