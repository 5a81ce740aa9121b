"""``hipo metrics intention``: face acts, intentions, and questions with options about them."""

from __future__ import annotations

import typer

from hipo.app.metrics.intention import DEFAULT_MAP, DEFAULT_TASK, intention_metrics
from hipo.cli.main import command_app
from hipo.cli.metrics.intention_text import intention_as_json, intention_as_text
from hipo.cli.terminal.console import hush
from hipo.cli.terminal.errors import ExitCode
from hipo.cli.terminal.json_target import JSON, deliver

app = command_app()


@app.command("intention")
def intention(
    *,
    sources: list[str] = typer.Argument(
        ...,
        metavar="FILE...|RUN|EVALUATION",
        help="Tables of dialogues with labels and questions, a run, or the folder of an evaluation.",
    ),
    map_name: str = typer.Option(
        DEFAULT_MAP, "--map", metavar="NAME|FILE", help="What the columns of the files stand for."
    ),
    task: str = typer.Option(
        DEFAULT_TASK,
        "--task",
        metavar="TASK",
        help="Questions are checked against the rules of its options.",
    ),
    majority: str = typer.Option(
        "",
        "--majority",
        metavar="WHO,...",
        help="People whose answers stand in a table: score what most of them choose, too, where "
        "three or more answered.",
        show_default=False,
    ),
    json_target: str | None = JSON,
) -> int:
    """Count what persuader and persuadee do, check questions about it, and score answers.

    Printed are turns, intentions and runs of turns by face act and speaker, with the agreement of
    annotators; how often each option of a question is right, and which options break a rule; and
    of everybody who answered, accuracy by face act and speaker, and which options are preferred.
    """
    hush()
    people = [name.strip() for name in majority.split(",") if name.strip()]
    found = intention_metrics(sources, map_name=map_name, task=task, majority_of=people)
    deliver(lambda: intention_as_json(found), lambda: intention_as_text(found), json_target)
    return ExitCode.DONE
