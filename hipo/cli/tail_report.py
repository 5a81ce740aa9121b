"""What a run that is followed prints, for people and for programs."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

from hipo.app.tail import TailEvent
from hipo.cli.console import number, one_line, plain, readable_json
from pipeline.store.queries.status import RunState

LONGEST_REASON = 100


def tail_line(event: TailEvent) -> str:
    """Return an event on one line."""
    if isinstance(event, RunState):
        failed = sum(event.failed.values())
        return (
            f"{_moment(event.updated)}  {event.state}: {number(event.generated)} generated, "
            f"{number(failed)} failed, {number(event.pending)} pending"
        )
    case = event.case
    arm = event.arm[:8]
    line = (
        f"{_moment(event.finished_at)}  {event.status}  {case.id[:8]}/{arm}  "
        f"{case.scenario} {case.fact} {case.goal}"
    )
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
            "at": _moment(event.updated),
            "state": event.state,
            "generated": event.generated,
            "failed": sum(event.failed.values()),
            "pending": event.pending,
        }
    else:
        value = {
            "event": event.status,
            "at": _moment(event.finished_at),
            "id": event.id,
            **plain(event.case, "scenario fact goal"),
            **plain(event, "code reason"),
        }
    return readable_json(orjson.dumps(value).decode())


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
