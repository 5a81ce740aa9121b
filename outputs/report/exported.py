"""Count the dialogues of a run that exports hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import orjson

from outputs.dataset.manifest import MANIFEST
from outputs.export.recorded import RecordedExport
from scenarios.errors import UsageError


def exported_dialogues(
    folders: Sequence[Path], run: str, passed_over: Callable[[str], None] | None = None
) -> int | None:
    """Count the dialogues of one run that any of these exports holds, each once; None without any.

    Args:
        folders: of exports.
        run: the name of the run, as rows bear it.
        passed_over: is called about each folder that cannot be counted; None: that is an error.

    Raises:
        UsageError: a folder is no export, or none of its rows is of this run.
    """
    found: list[set[tuple[str, str]]] = []
    for folder in folders:
        try:
            found.append(_dialogues(folder, run))
        except (UsageError, OSError) as error:
            if passed_over is None:
                raise
            said = error.message if isinstance(error, UsageError) else str(error)
            passed_over(f"an export is not counted: {said}")
    return len(set().union(*found)) if found else None


def _dialogues(folder: Path, run: str) -> set[tuple[str, str]]:
    mine = {(case, arm) for name, case, arm in _rows(folder) if name == run}
    if not mine:
        raise UsageError(
            f"the export in {folder} holds no dialogue of the run {run!r}",
            "name the folder of another export, or leave --export out",
        )
    return mine


def still_there(run: Path, exports: Sequence[RecordedExport]) -> list[Path]:
    """Return the folders of recorded exports of accepted dialogues that are still such exports."""
    found = []
    for export in exports:
        folder = export.place(run)
        if export.verdict != "accepted" or not export.dialogues:
            continue
        try:
            if orjson.loads((folder / MANIFEST).read_bytes())["runs"] == list(export.runs):
                found.append(folder)
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
            continue  # it was moved or deleted: the record says what it held
    return found


def _rows(folder: Path) -> Iterable[tuple[str, str, str]]:
    """Yield (run, case, arm) of every row.

    Raises:
        UsageError: a line is no row.
    """
    for path in _files(folder):
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    row = orjson.loads(line)
                    yield str(row.get("run")), str(row.get("case")), str(row.get("arm"))
                except (orjson.JSONDecodeError, AttributeError) as error:
                    raise UsageError(
                        f"{path}, line {number}: found no row of an export",
                        "export again, or leave --export out",
                    ) from error


def _files(folder: Path) -> list[Path]:
    """Return the files of rows of an export, those that are read line by line."""
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        listed = [entry["path"] for entry in manifest["files"] if "rows" in entry]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder} is not the folder of an export: its {MANIFEST} cannot be read",
            "name the folder that hipo export wrote (-o)",
        ) from error
    files = [folder / path for path in listed if str(path).endswith(".jsonl")]
    missing = [path for path in files if not path.is_file()]
    if missing or not files:
        raise UsageError(
            f"the export in {folder} has no rows that can be read: "
            + (f"{missing[0].name} is missing" if missing else "it has no JSONL file"),
            "export again, or leave --export out",
        )
    return files
