"""Find run folders: where a new run goes, and which run a name means."""

from __future__ import annotations

from pathlib import Path

from hipo.app.old_runs import bring_up_to_date
from pipeline.store.sqlite import DATABASE
from scenarios.errors import UsageError
from scenarios.spelling import suggestion

RUNS = Path("runs")


def is_run(folder: Path) -> bool:
    """Return whether ``folder`` holds a run, readable or not."""
    return (folder / DATABASE).exists()


def check_output(folder: Path) -> None:
    """Do nothing where a run can be made or continued in ``folder``.

    Raises:
        UsageError: something else is there.
    """
    if is_run(folder):
        return
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder", "choose another output with -o")
    if folder.is_dir() and any(not _is_ours(child) for child in folder.iterdir()):
        raise UsageError(
            f"{folder} holds something that is not a run", "choose an empty or a new folder with -o"
        )
    above = folder
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise UsageError(f"{above} is a file, so {folder} cannot be made", "choose another output")


def _is_ours(path: Path) -> bool:
    """Return whether a file is what a run leaves that was killed before it had begun."""
    return path.is_file() and path.name.startswith("run.")


def runs_in(folder: Path) -> list[Path]:
    """Return the folders in ``folder`` that hold a run, sorted by name."""
    if not folder.is_dir():
        return []
    return sorted(child for child in folder.iterdir() if is_run(child))


def find_run(name: str) -> Path:
    """Return the folder of a run, given as a path or as its name under ``./runs``.

    A run that an older hipo made is brought up to date.

    Raises:
        UsageError: there is no such run, says the nearest name; or it cannot be brought up to date.
    """
    folder = locate_run(name)
    bring_up_to_date(folder)
    return folder


def locate_run(name: str) -> Path:
    """Find the folder of a run like :func:`find_run`, without opening it.

    Raises:
        UsageError: there is no such run, says the nearest name.
    """
    folders = [Path(name), RUNS / name]
    if Path(name).name == DATABASE:
        folders.append(Path(name).parent)
    for folder in folders:
        if is_run(folder):
            return folder
    names = [folder.name for folder in runs_in(RUNS)]
    hint = suggestion(name, names, listing="runs here") or "list them with: hipo runs"
    raise UsageError(f"there is no run {name!r}: neither a folder nor a name under ./{RUNS}", hint)
