"""What hipo needs at run time: its dependencies and those of its extras, and theirs in turn."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

NOT_FOR_USERS = frozenset({"all", "quick", "dev"})
"""Extras that name others, or are for development."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package that is installed with hipo, or with one of its extras."""

    name: str
    """As the index spells it: lower case, with hyphens."""
    distribution: metadata.Distribution
    requires: tuple[str, ...]
    """Names of what it needs itself, in alphabetical order."""
    optional: bool
    """Whether only extras need it."""


def run_time_dependencies(pyproject: Path) -> list[Dependency]:
    """Return every package that some installation of hipo on this machine brings, sorted by name.

    Raises:
        LookupError: one is not installed here; the development environment has all of them.
    """
    core, optional = requirements(pyproject)
    needed = _closure(core)
    every = _closure([*core, *optional])
    return [
        Dependency(name, distribution, requires, optional=name not in needed)
        for name, (distribution, requires) in sorted(every.items())
    ]


def requirements(pyproject: Path) -> tuple[list[Requirement], list[Requirement]]:
    """Return what hipo itself needs, and what its extras for users need."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras: Mapping[str, Sequence[str]] = project["optional-dependencies"]
    optional = [
        Requirement(text)
        for name, texts in extras.items()
        if name not in NOT_FOR_USERS
        for text in texts
    ]
    return [Requirement(text) for text in project["dependencies"]], optional


def normalised(name: str) -> str:
    """Return the name of a package as the index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _closure(
    roots: Iterable[Requirement],
) -> dict[str, tuple[metadata.Distribution, tuple[str, ...]]]:
    """Follow requirements to the end; a package asked for with several extras has them all."""
    extras: dict[str, set[str]] = {}
    found: dict[str, tuple[metadata.Distribution, tuple[str, ...]]] = {}
    waiting = list(roots)
    while waiting:
        wanted = waiting.pop()
        name = normalised(wanted.name)
        known = extras.setdefault(name, set())
        if name in found and set(wanted.extras) <= known:
            continue
        known |= set(wanted.extras)
        try:
            distribution = metadata.distribution(wanted.name)
        except metadata.PackageNotFoundError as error:
            raise LookupError(f"{wanted.name} is not installed: make check installs it") from error
        needs = [r for r in map(Requirement, distribution.requires or ()) if _applies(r, known)]
        found[name] = distribution, tuple(sorted({normalised(need.name) for need in needs}))
        waiting += needs
    return found


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))
