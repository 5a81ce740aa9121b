"""Load scenarios from the library and from own folders, and select some of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType

from scenarios.checks.references import check_references
from scenarios.errors import InputError, Problem, UsageError
from scenarios.located import Located
from scenarios.pack import (
    FAMILIES,
    LIBRARY,
    PATH_VARIABLE,
    SchemeFound,
    check_place,
    id_clash,
    is_for_examples,
    named_root,
    read_scenario,
    roots_in,
    scenario_files,
    where_example,
)
from scenarios.real_names import with_real_names
from scenarios.selection import select_facts, select_scenarios
from scenarios.spec import Scenario
from scenarios.spelling import OWN_FOLDER, suggestion
from scenarios.text_file import real_path, shown_path

__all__ = ["LIBRARY", "PATH_VARIABLE", "Catalogue", "CatalogueEntry", "select_facts"]

SHIPPED = (LIBRARY, FAMILIES)
"""Folders that come with hipo and are played."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One scenario of a catalogue, and where it came from."""

    scenario: Scenario
    """With its placeholders filled."""
    template: Scenario
    """As it is written, with its placeholders."""
    located: Located
    shipped: bool
    left_out: tuple[str, ...] = ()
    """Ids of the facts that may not stand beside real names, where those are asked for."""
    for_examples: bool = False
    """Whether it belongs to ``library-plus``: examples are written for it, and it is never played."""

    pack: str = ""
    """What it was read from, in words: the library, a family, or a folder of one's own."""

    @property
    def of_family(self) -> bool:
        """Whether it belongs to the families that ship for other schemes than HIPO's library."""
        return Path(self.located.file).resolve().is_relative_to(FAMILIES)

    @property
    def is_playable(self) -> bool:
        """Whether the responder is left with a fact to play; with a flow, nobody needs one."""
        return bool(self.template.flow) or any(
            f.owner == "responder" and f.id not in self.left_out for f in self.template.facts
        )


@dataclass(frozen=True)
class Catalogue:
    """All scenarios that can be chosen, by id; in order of category, then id."""

    entries: Mapping[str, CatalogueEntry]

    @classmethod
    def load(
        cls,
        dirs: Sequence[Path] = (),
        *,
        real_names: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Catalogue:
        """Read the shipped library, the given directories, and those of ``HIPO_SCENARIO_PATH``.

        Args:
            dirs: directories (searched with everything below them) or single files;
                ``library-plus`` is the pack of that name.
            real_names: fill placeholders with the real name where the record supports one, and
                leave out the facts that are not documented there.
            environment: where to look for ``HIPO_SCENARIO_PATH``; by default the process's.

        Raises:
            UsageError: a directory does not exist.
            InputError: files that are no scenarios, or ids that stand twice; all of them at once.
        """
        variable = (os.environ if environment is None else environment).get(PATH_VARIABLE, "")
        return cls._read([LIBRARY, *dirs, *roots_in(variable)], real_names=real_names)

    @classmethod
    def own(
        cls,
        dirs: Sequence[Path] = (),
        *,
        real_names: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Catalogue:
        """Read the given directories alone; where there is none, those of ``HIPO_SCENARIO_PATH``.

        Args:
            dirs: as in :meth:`load`.
            real_names: as in :meth:`load`.
            environment: as in :meth:`load`.

        Raises:
            UsageError: none is given, or one does not exist.
            InputError: files that are no scenarios, or ids that stand twice; all of them at once.
        """
        variable = (os.environ if environment is None else environment).get(PATH_VARIABLE, "")
        roots = [*dirs] or roots_in(variable)
        if not roots:
            raise UsageError(
                "--only takes the scenarios of folders of your own, and none is named",
                f"give --scenario-dir FOLDER, or set {PATH_VARIABLE}",
            )
        return cls._read(roots, real_names=real_names)

    @classmethod
    def _read(cls, folders: Sequence[Path], *, real_names: bool) -> Catalogue:
        """Read every file under the folders once; a label scheme beside scenarios is none of them."""
        roots = [named_root(folder) for folder in folders]
        entries: dict[str, CatalogueEntry] = {}
        problems: list[Problem] = []
        seen: set[Path] = set()
        for root in roots:
            for path in scenario_files(root):
                real = real_path(path)
                if real in seen:
                    continue
                seen.add(real)
                try:
                    _add(entries, _read_entry(path, root, real_names=real_names))
                except SchemeFound as error:
                    problems += error.problems if root.is_file() else ()
                except InputError as error:
                    problems += error.problems
        if problems:
            raise InputError(problems)
        return cls(MappingProxyType(dict(sorted(entries.items(), key=_place))))

    @cached_property
    def scenarios(self) -> Mapping[str, Scenario]:
        """The scenarios by id, with their placeholders filled."""
        return MappingProxyType({name: entry.scenario for name, entry in self.entries.items()})

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that occur, sorted."""
        return tuple(sorted({entry.scenario.category for entry in self.entries.values()}))

    def entry(self, scenario_id: str) -> CatalogueEntry:
        """Return one scenario with where it came from.

        Raises:
            UsageError: there is no such scenario; says the nearest id there is.
        """
        if scenario_id in self.entries:
            return self.entries[scenario_id]
        raise UsageError(
            f"there is no scenario {scenario_id!r}",
            where_example(scenario_id)
            or f"{suggestion(scenario_id, self.entries, listing='scenarios')}; {OWN_FOLDER}",
        )

    def select(self, patterns: Sequence[str] | None = None) -> list[Scenario]:
        """Return the scenarios that any pattern names, each once, in the catalogue's order.

        A pattern is an id, a category, a glob over ids or ``category/id``, or ``tag:`` with a tag
        (or a glob). None or no pattern selects all.

        Raises:
            UsageError: a pattern selects nothing; says the nearest name there is.
        """
        return select_scenarios(list(self.scenarios.values()), patterns)


def _place(item: tuple[str, CatalogueEntry]) -> tuple[str, str]:
    return item[1].scenario.category, item[0]


def _read_entry(path: Path, root: Path, *, real_names: bool) -> CatalogueEntry:
    """Return the scenario of a file; a shipped one is read once as long as it does not change."""
    if root not in SHIPPED:
        return _entry(path, root, real_names=real_names)
    return _shipped_entry(path, root, real_names, path.stat().st_mtime_ns, shown_path(path))


@lru_cache(maxsize=1024)
def _shipped_entry(
    path: Path, root: Path, real_names: bool, changed_ns: int, shown: str
) -> CatalogueEntry:
    """Read a shipped file; when it was changed, and how errors show its path, are part of the key."""
    return _entry(path, root, real_names=real_names)


def _entry(path: Path, root: Path, *, real_names: bool) -> CatalogueEntry:
    template, located = read_scenario(path, root)
    for_examples = is_for_examples(path)
    shipped = root in SHIPPED or for_examples
    problems = [
        *check_references(template, located),
        *check_place(template, located, path, shipped=shipped),
    ]
    if problems:
        raise InputError(problems)
    scenario, left_out = with_real_names(template) if real_names else (template.named(), ())
    return CatalogueEntry(
        scenario, template, located, shipped, left_out, for_examples, _pack(path, root)
    )


def _pack(path: Path, root: Path) -> str:
    """Return in words what a file was read from."""
    if root == LIBRARY:
        return "the library"
    if root == FAMILIES:
        return f"the family {path.relative_to(FAMILIES).parts[0]}"
    return shown_path(root)


def _add(entries: dict[str, CatalogueEntry], entry: CatalogueEntry) -> None:
    name = entry.template.id
    if name in entries:
        raise InputError([id_clash(entry.template, entry.located, entries[name].located.file)])
    entries[name] = entry
