"""Bring the run of an older hipo up to date: its tables, and what its dialogues are made of."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from pipeline.store.materials import is_incomplete
from pipeline.store.migrations import is_older
from pipeline.store.sqlite import DATABASE, connect_readonly
from scenarios.errors import UsageError


def bring_up_to_date(folder: Path) -> None:
    """Migrate a run of an older hipo after a backup, and take in what it only referred to.

    What is found under its fingerprint where the run found it is stored in the run: scenarios,
    scheme, templates, axes, tactics. What is not is named in a warning, and looked for again
    the next time. Nothing is done to a run that is up to date.

    Raises:
        UsageError: the run has to be migrated, and its folder cannot be written, is being written
            by another process, or lies on a network file system.
    """
    path = folder / DATABASE
    with closing(connect_readonly(path)) as connection:
        old = is_older(connection, path)
        if not old and not is_incomplete(connection):
            return
    if not os.access(folder, os.W_OK) or not os.access(path, os.W_OK):
        if not old:
            return
        raise UsageError(
            f"{folder} was made by an older hipo and has to be brought up to date, "
            "but it cannot be written",
            "copy it to where you may write, and use the copy",
        )
    # It takes most of hipo, and a run needs it once at most.
    from hipo.app.runs.old_material import migrate_and_complete  # noqa: PLC0415

    migrate_and_complete(folder, old=old)
