"""``hipo runs tail``: follow a run, for people and for programs."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

import orjson
import typer

from hipo.app.runs.folders import find_run
from hipo.app.runs.tail import TailEvent, follow
from hipo.cli.main import RUN, command_app
from hipo.cli.terminal.console import Format, moment, number, one_line, plain, readable_json
from hipo.cli.terminal.errors import ExitCode
from pipeline.store.queries.status import RunState

LONGEST_REASON = 100
TAIL_INTERVAL_S = 1.0
"""Seconds between two looks at a run that is followed."""

app = command_app()


@app.command("tail")
def tail(
    run: str = RUN,
    count: int = typer.Option(
        10, "-n", "--count", min=0, help="How many of what ended last to begin with."
    ),
    keep_following: bool = typer.Option(
        True, "--follow/--no-follow", help="Go on as long as the run is played."
    ),
    output_format: Format = typer.Option(
        "text", "--format", help="json: one object a line; see docs/overnight.md."
    ),
) -> int:
    """Show dialogues, failures and stops of a run as they become durable, whoever plays it.

    It only reads. It ends when the run does, or with Ctrl-C.
    """
    events = follow(
        find_run(run), count, wait=lambda: time.sleep(TAIL_INTERVAL_S), once=not keep_following
    )
    with suppress(KeyboardInterrupt):
        for event in events:
            print(tail_line(event) if output_format == "text" else tail_json(event))
            sys.stdout.flush()
    return ExitCode.DONE


def tail_line(event: TailEvent) -> str:
    """Return an event on one line."""
    if isinstance(event, RunState):
        failed = sum(event.failed.values())
        return (
            f"{moment(event.updated)}  {event.state}: {number(event.generated)} generated, "
            f"{number(failed)} failed, {number(event.pending)} pending"
        )
    case = event.case
    arm = event.arm[:8]
    what = f"{case.scenario} {case.fact} {case.goal}".replace("\n", "\\n")  # it poses as no line
    line = f"{moment(event.finished_at)}  {event.status}  {case.id[:8]}/{arm}  {what}"
    if event.status == "generated":
        return line
    return f"{line}  {event.code}: {one_line(str(event.reason), LONGEST_REASON)}"


def tail_json(event: TailEvent) -> str:
    """Return an event as one line of JSON.

    ``event``: ``generated``, ``failed`` or ``state``; ``at``: UTC, ISO 8601. Of a dialogue: ``id``,
    ``scenario``, ``fact``, ``goal``, ``code`` and ``reason`` (None unless it failed). Of a state:
    ``state``, ``generated``, ``failed`` and ``pending``.
    """
    if isinstance(event, RunState):
        value: dict[str, object] = {
            "event": "state",
            "at": moment(event.updated),
            "state": event.state,
            "generated": event.generated,
            "failed": sum(event.failed.values()),
            "pending": event.pending,
        }
    else:
        value = {
            "event": event.status,
            "at": moment(event.finished_at),
            "id": event.id,
            **plain(event.case, "scenario fact goal"),
            **plain(event, "code reason"),
        }
    return readable_json(orjson.dumps(value).decode())
