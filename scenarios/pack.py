"""Read the scenario files of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from scenarios.errors import InputError, Problem, UsageError
from scenarios.located import Located
from scenarios.spec import Scenario
from scenarios.text_file import shown_path
from scenarios.yaml_source import read_yaml, validate_model

LIBRARY = Path(__file__).parent / "library"
LIBRARY_PLUS = Path(__file__).parent / "library_plus"
"""Scenarios that examples are written for; no dialogue is ever made of them."""
FAMILIES = Path(__file__).parent / "families"
"""Scenarios of the other schemes that ship."""
PLUS_NAME = "library-plus"
"""What stands for the folder ``LIBRARY_PLUS`` wherever a folder of scenarios is named."""
PATH_VARIABLE = "HIPO_SCENARIO_PATH"
"""Environment variable with directories of scenarios, separated as in ``PATH``."""
MAX_FILES = 10_000


class SchemeFound(InputError):
    """A file among scenarios holds a label scheme, as the author's form writes it beside them."""


def scenario_files(root: Path, what: str = "scenarios") -> Iterator[Path]:
    """Yield the YAML files under a directory in order, or the one file that is named.

    Links to directories are not followed, hidden files are left out.

    Raises:
        UsageError: there is nothing at ``root``, it cannot be read, or it holds too many files.
    """
    if root.is_file():
        yield root
        return
    if not root.is_dir():
        raise UsageError(
            f"there is no directory or file of {what} at {shown_path(root)}",
            f"check the path, or the variable {PATH_VARIABLE}"
            if what == "scenarios"
            else "check the path",
        )
    count = 0
    for folder, below, names in os.walk(root, onerror=_unreadable):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if name.endswith((".yaml", ".yml")) and not name.startswith("."):
                count += 1
                if count > MAX_FILES:
                    raise UsageError(f"more than {MAX_FILES} files under {shown_path(root)}")
                yield Path(folder, name)


def named_root(root: Path) -> Path:
    """Return the folder that is meant: ``library-plus`` ships, unless it is a path from here."""
    return LIBRARY_PLUS if root == Path(PLUS_NAME) and not root.exists() else root


def is_for_examples(file: Path) -> bool:
    """Return whether a file belongs to ``library-plus``, whichever way it was found."""
    return file.resolve().is_relative_to(LIBRARY_PLUS.resolve())


def where_example(name: str) -> str | None:
    """Return how to read ``library-plus``, or a scenario of it, in words; None for any other name."""
    if name not in {PLUS_NAME, *(path.stem for path in scenario_files(LIBRARY_PLUS))}:
        return None
    where = "it is a folder" if name == PLUS_NAME else f"it is in {PLUS_NAME}"
    return f"{where}, which is read with --scenario-dir {PLUS_NAME} and never played"


def roots_in(variable: str) -> list[Path]:
    """Return the directories that a value of ``HIPO_SCENARIO_PATH`` names."""
    return [Path(part) for part in variable.split(os.pathsep) if part]


def read_scenario(path: Path, root: Path) -> tuple[Scenario, Located]:
    """Return the scenario of a file as it is written, and where its parts stand.

    Args:
        path: the file.
        root: the directory it was found under, which it must not lead out of; or the file itself.

    Raises:
        SchemeFound: the file is a label scheme.
        InputError: the file is no scenario; every problem of its shape.
    """
    located = read_yaml(path, within=root if root.is_dir() else None)
    if (
        isinstance(located.data, dict)
        and "dimensions" in located.data.keys() - Scenario.model_fields.keys()
    ):
        raise SchemeFound([_scheme_found(located)])
    return validate_model(Scenario, located), located


def _scheme_found(located: Located) -> Problem:
    """Return the one problem of a label scheme among scenarios, instead of one for each field."""
    return located.problem(
        ("dimensions",),
        found="a label scheme",
        expected="a scenario",
        hint="name it with --scheme",
        code="scheme",
    )


def check_place(
    template: Scenario, located: Located, path: Path, *, shipped: bool
) -> Iterator[Problem]:
    """Find a scenario that is not called as its file is or, in the library, as its folder is."""
    if template.id != path.stem:
        yield located.problem(
            ("id",),
            found=repr(template.id),
            expected=f"{path.stem!r}, the name of the file",
            hint="rename the one or the other",
            code="id",
        )
    if shipped and template.category != path.parent.name:
        yield located.problem(
            ("category",),
            found=repr(template.category),
            expected=f"{path.parent.name!r}, the name of the folder",
            code="category",
        )


def id_clash(template: Scenario, located: Located, other: str) -> Problem:
    """Return the problem of a scenario whose id the file ``other`` has already."""
    return located.problem(
        ("id",),
        found=f"{template.id!r}, which {other} has already",
        expected="an id of its own",
        hint="rename this file and its id",
        code="id-clash",
    )


def _unreadable(error: OSError) -> None:
    raise UsageError(f"cannot read the directory {error.filename}", str(error.strerror))
