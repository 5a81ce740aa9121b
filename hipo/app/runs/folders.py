"""Find run folders: where a new run goes, and which run a name means."""

from __future__ import annotations

from pathlib import Path

from hipo.app.runs.old_runs import bring_up_to_date
from pipeline.store.locks import LOCK
from pipeline.store.sqlite import DATABASE, EVALUATION
from scenarios.errors import UsageError
from scenarios.spelling import suggestion
from scenarios.text_file import typed_path

RUNS = Path("runs")


def is_run(folder: Path) -> bool:
    """Return whether ``folder`` holds a run, readable or not."""
    return (folder / DATABASE).exists()


def names_run(source: str | Path) -> bool:
    """Return whether a source is a run, or the name of one under ``./runs`` and of nothing here."""
    path = Path(source)
    return is_run(path) or (not path.exists() and is_run(RUNS / path))


def is_evaluation(folder: Path) -> bool:
    """Return whether ``folder`` holds an evaluation, readable or not."""
    return (folder / EVALUATION).exists()


def check_output(folder: Path) -> None:
    """Do nothing where a run can be made or continued in ``folder``.

    Raises:
        UsageError: something else is there.
    """
    if is_run(folder):
        return
    if is_evaluation(folder):
        raise UsageError(f"{folder} holds an evaluation", "choose another folder with -o")
    check_empty(folder, "a run", "run.")


def check_empty(folder: Path, kind: str, ours: str) -> None:
    """Do nothing where something new can be made in ``folder``.

    Args:
        folder: need not be there.
        kind: what is to be made, e.g. ``a run``.
        ours: how the names of files begin that are left by one that was killed before it had begun.

    Raises:
        UsageError: something else is there.
    """
    if folder.is_symlink() and not folder.exists():
        raise UsageError(f"{folder} is a link that leads nowhere", "choose another output with -o")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder", "choose another output with -o")
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if any(not name.startswith((ours, LOCK)) for name in names):
        raise UsageError(
            f"{folder} holds something that is not {kind}",
            "choose an empty or a new folder with -o",
        )
    above = folder
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise UsageError(f"{above} is a file, so {folder} cannot be made", "choose another output")


def runs_in(folder: Path) -> list[Path]:
    """Return the folders in ``folder`` that hold a run or may not be looked into, sorted by name."""
    if not folder.is_dir():
        return []
    return sorted(child for child in folder.iterdir() if _is_run_or_closed(child))


def _is_run_or_closed(folder: Path) -> bool:
    try:
        return is_run(folder)
    except PermissionError:
        return True


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
        if is_evaluation(folder):
            raise UsageError(
                f"{folder} holds an evaluation, not a run",
                f"look at its results with: hipo evaluate table {typed_path(folder)}",
            )
    names = [folder.name for folder in runs_in(RUNS)]
    hint = suggestion(name, names, listing="runs here") or "list them with: hipo runs"
    if Path(name).exists():
        found = (
            "a folder that holds no run" if Path(name).is_dir() else "a file, and a run is a folder"
        )
        raise UsageError(f"{name} is {found}", hint)
    raise UsageError(f"there is no run {name!r}: neither a folder nor a name under ./{RUNS}", hint)
