"""Where a run stands, read without opening the rest of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from pipeline.store.config_epochs import read_configs
from pipeline.store.locks import is_locked
from pipeline.store.materials import holds_kind
from pipeline.store.queries.status import RunState, read_state
from pipeline.store.reading import connect_run


def read_run_state(folder: Path) -> RunState:
    """Return where a run stands, in a time that does not grow with it.

    Raises:
        UsageError: there is no run, it was written by another version of hipo, or it is damaged.
    """
    with closing(connect_run(folder)) as connection:
        read_configs(connection)  # a run whose configuration is lost has no state either
        return read_state(connection, alive=is_locked(folder))


def has_quota(folder: Path) -> bool:
    """Return whether a run was ever played with a quota.

    Raises:
        UsageError: there is no run, it was written by another version of hipo, or it is damaged.
    """
    with closing(connect_run(folder)) as connection:
        return holds_kind(connection, "quota")
