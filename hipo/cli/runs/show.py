"""``hipo runs show``: where a run stands."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import typer

from hipo.app.runs.folders import find_run
from hipo.cli.main import RUN, command_app
from hipo.cli.reports.run import state_as_json, state_as_text
from hipo.cli.terminal.console import Format, write_json
from hipo.cli.terminal.wrapping import write_text
from pipeline.store.run_state import has_quota, read_run_state

MOST_COUNTED = 20_000
"""Dialogues that are gone through to count cells of a quota, where an answer is expected at once."""

app = command_app()


@app.command("show")
def show(
    run: str = RUN,
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> None:
    """Show the state of one run: what is generated, failed and pending, calls, tokens, cost."""
    folder = find_run(run)
    state = read_run_state(folder)
    quota = _quota(folder) if state.generated <= MOST_COUNTED and has_quota(folder) else None
    if output_format == "json":
        write_json(state_as_json(folder, state, quota and quota.cells))
    else:
        write_text(state_as_text(folder, state))
        if quota is not None:
            write_text(f"\n{quota.table}")


class _Quota(NamedTuple):
    """How a run stands to its quota, for programs and for people."""

    cells: list[dict[str, object]]
    table: str


def _quota(folder: Path) -> _Quota | None:
    # What a quota is counted with takes longer to import than all the rest, and few runs have one.
    from hipo.app.generation.quota import quota_fill  # noqa: PLC0415
    from hipo.cli.reports.quota import quota_as_json, quota_as_text  # noqa: PLC0415

    fill = quota_fill(folder)
    if fill is None:
        return None
    return _Quota(quota_as_json(fill), quota_as_text(fill))
