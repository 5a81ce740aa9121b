"""What ``make quick`` runs needs nothing that the extra ``quick`` does not bring."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_files_that_make_quick_collects_import_what_its_extra_brings() -> None:
    modules = packages_distributions()
    known = {_name(one) for brought in modules.values() for one in brought}
    quick = _with_their_own(_named("quick") | set(map(_name, PROJECT["dependencies"])), known)
    missing = {
        module
        for module, brought in modules.items()
        if (names := set(map(_name, brought))) & (_named("all") | _named("dev"))
        and not names & quick
    }
    assert {"playwright", "torch"} <= missing
    files = list(_collected())
    assert len(files) > 100
    odd = {
        str(file.relative_to(ROOT)): found
        for file in files
        if (found := sorted(set(_imports(file, set())) & missing))
    }
    assert odd == {}


def _named(extra: str) -> set[str]:
    """Return the packages that an extra names, itself or by way of others."""
    found: set[str] = set()
    for one in PROJECT["optional-dependencies"][extra]:
        others = re.fullmatch(r"hipo\[(.*)\]", one)
        found |= {_name(one)} if others is None else set().union(*map(_named, others[1].split(",")))
    return found


def _with_their_own(names: set[str], known: set[str]) -> set[str]:
    """Return packages with all that they need, as far as it is installed."""
    found, new = set(names), names & known
    while new:
        needed = (one for name in new for one in requires(name) or () if "extra ==" not in one)
        new = (set(map(_name, needed)) & known) - found
        found |= new
    return found


def _name(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def _collected() -> Iterator[Path]:
    """Yield what QUICK in the Makefile collects."""
    words = re.search(
        r"^QUICK := (.*?[^\\])$", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL
    )
    assert words
    rooms, ignored, names = [], [], []
    for word in words[1].replace("\\\n", " ").split():
        option, _, value = word.partition("=")
        if word.startswith("tests/"):
            rooms.append(ROOT / word)
        elif option == "--ignore":
            ignored.append(ROOT / value)
        elif option == "--ignore-glob":
            names.append(value.strip('"').removeprefix("*/"))
    assert rooms
    for room in rooms:
        for file in sorted([*room.rglob("test_*.py"), *room.rglob("conftest.py")]):
            left_out = any(file.is_relative_to(one) for one in ignored)
            if not left_out and not any(file.match(name) for name in names):
                yield file


def _imports(file: Path, seen: set[Path]) -> Iterator[str]:
    """Yield the packages that a file imports as it is read, by way of other tests, too."""
    if file in seen or not file.is_file():
        return
    seen.add(file)
    for statement in ast.parse(file.read_text()).body:
        if "importorskip" in ast.unparse(statement):
            return  # what follows is not reached without it
        if isinstance(statement, ast.Import):
            modules = [one.name for one in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            modules = [statement.module]
            modules += [f"{statement.module}.{one.name}" for one in statement.names]
        else:
            continue
        for module in modules:
            if module.startswith("tests."):
                yield from _imports((ROOT / module.replace(".", "/")).with_suffix(".py"), seen)
            else:
                yield module.partition(".")[0]
