"""What the commands about scenarios share: their options, and finding the one that is meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from scenarios.catalogue import Catalogue, CatalogueEntry
from scenarios.errors import UsageError
from scenarios.pack import FAMILIES, PATH_VARIABLE, PLUS_NAME
from scenarios.schemes.registry import load_scheme
from scenarios.text_file import real_path, shown_path

TARGET = typer.Argument(..., metavar="ID", help="The id of a scenario, or a file that holds one.")
SCENARIO_DIRS = typer.Option(
    None,
    "--scenario-dir",
    help=f"A folder of scenarios, or {PLUS_NAME}, beside the library and those of {PATH_VARIABLE}; "
    "repeatable.",
    show_default=False,
)
ONLY_OWN = typer.Option(
    False, "--only", help="Of the folders of scenarios alone, without what ships."
)
REAL_NAMES = typer.Option(
    False, "--real-names/--aliases", help="Names as on the public record, or fictional ones."
)
SCHEME = typer.Option(
    None, "--scheme", help="Refuse a scenario that is not of this label scheme, an id or a file."
)
EMBEDDINGS = typer.Option(
    True,
    "--embeddings/--no-embeddings",
    help="Whether meanings are compared too, if hipo[embeddings] is installed.",
)
_SUFFIXES = (".yaml", ".yml")


def with_target(target: str, dirs: Sequence[Path] | None) -> list[Path]:
    """Return the folders of scenarios, with the target among them where it is a file."""
    given = list(dirs or ())
    return [*given, Path(target)] if target.endswith(_SUFFIXES) else given


def find_of_scheme(
    target: str, dirs: Sequence[Path] | None, scheme: str | None, *, real_names: bool = False
) -> CatalogueEntry:
    """Return the scenario that is meant, which has to be of a scheme if one is named.

    Raises:
        UsageError: it is of another one, or see :func:`find`.
        InputError: a file is no scenario, or no scheme.
    """
    entry = find(target, dirs, real_names=real_names)
    if scheme is not None and entry.scenario.scheme != load_scheme(scheme).id:
        raise UsageError(
            f"{entry.scenario.id} is of the scheme {entry.scenario.scheme!r}, not {scheme!r}"
        )
    return entry


def find(target: str, dirs: Sequence[Path] | None, *, real_names: bool = False) -> CatalogueEntry:
    """Return the scenario that is meant.

    Args:
        target: an id, or the path of a YAML file.
        dirs: folders of scenarios beside those that ship.
        real_names: fill placeholders with the real name where the record supports one.

    Raises:
        UsageError: there is no such scenario; says the nearest.
        InputError: a file is no scenario.
    """
    catalogue = Catalogue.load([FAMILIES, *with_target(target, dirs)], real_names=real_names)
    if not target.endswith(_SUFFIXES):
        return catalogue.entry(target)
    path = real_path(Path(target))
    for entry in catalogue.entries.values():
        if Path(entry.located.file).resolve() == path:
            return entry
    raise UsageError(f"there is no scenario in {shown_path(path)}")
