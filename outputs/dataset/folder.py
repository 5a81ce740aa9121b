"""The folder of an export: what may be replaced, and written as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from outputs.dataset.manifest import MANIFEST
from scenarios.atomic_files import new_folder
from scenarios.errors import UsageError


def check_target(folder: Path, *, overwrite: bool) -> None:
    """Do nothing where an export may be written to ``folder``.

    Raises:
        UsageError: something is there that must not be replaced, or was not allowed to be.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is not a folder", "choose another one with -o")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).is_file():  # what marks a folder as one of ours
            raise UsageError(
                f"{folder} holds something that is not an export",
                "choose an empty or a new folder with -o",
            )
        if not overwrite:
            raise UsageError(
                f"{folder} holds an export already",
                "replace it with --overwrite, or choose another folder with -o",
            )


@contextmanager
def staged(folder: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside ``folder``; see :func:`scenarios.atomic_files.new_folder`.

    Raises:
        UsageError: see :func:`check_target`; or the place cannot be written to.
    """
    with new_folder(folder, partial(check_target, overwrite=overwrite)) as draft:
        yield draft
