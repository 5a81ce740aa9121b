"""``hipo scenarios list``: which scenarios there are, and how many of each category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from hipo.app.options.values import split
from hipo.cli.main import command_app
from hipo.cli.scenarios.options import ONLY_OWN, SCENARIO_DIRS
from hipo.cli.terminal.console import Format, columns, one_line, plain, write_json
from scenarios.catalogue import Catalogue, CatalogueEntry
from scenarios.errors import UsageError
from scenarios.pack import FAMILIES
from scenarios.plural import plural
from scenarios.schemes.registry import load_scheme
from scenarios.spelling import suggestion

app = command_app()


@app.command("list")
def list_scenarios(
    *,
    category: list[str] | None = typer.Option(
        None, "--category", help="Only this one; repeatable.", show_default=False
    ),
    tag: list[str] | None = typer.Option(
        None,
        "--tag",
        help="Only those with this tag; repeated, with all of them.",
        show_default=False,
    ),
    scheme: str | None = typer.Option(
        None, "--scheme", help="Only those of this label scheme, an id or a file."
    ),
    scenario_dirs: list[Path] | None = SCENARIO_DIRS,
    only: bool = ONLY_OWN,
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> None:
    """List scenarios with their category, tags and number of facts."""
    dirs = scenario_dirs or ()
    catalogue = Catalogue.own(dirs) if only else Catalogue.load([FAMILIES, *dirs])
    everything = catalogue.entries.values()
    wanted = None if scheme is None else load_scheme(scheme).id
    entries = [
        entry
        for entry in everything
        if (not entry.of_family if wanted is None else entry.scenario.scheme == wanted)
    ]
    chosen = filtered(entries, split(category or ()), split(tag or ()))
    if output_format == "json":
        write_json(listing_as_json(chosen))
        return
    if chosen:
        print(columns(["id", "category", "facts", "title", "tags"], [_row(e) for e in chosen]))
        print()
    print("\n".join(_counts(chosen)))
    others = Counter(entry.scenario.scheme for entry in everything if entry.of_family)
    if others and not (scheme or category or tag):
        named = ", ".join(f"{name} ({count})" for name, count in sorted(others.items()))
        print(f"of other schemes, with --scheme: {named}")


def filtered(
    entries: Sequence[CatalogueEntry], categories: Sequence[str], tags: Sequence[str]
) -> list[CatalogueEntry]:
    """Return the entries of any of the categories that carry all of the tags.

    Raises:
        UsageError: no scenario at all has such a category or tag; says the nearest there is.
    """
    _check("category", categories, (entry.scenario.category for entry in entries))
    _check("tag", tags, (tag for entry in entries for tag in entry.scenario.tags))
    return [
        entry
        for entry in entries
        if (not categories or entry.scenario.category in categories)
        and set(tags) <= set(entry.scenario.tags)
    ]


def listing_as_json(entries: Sequence[CatalogueEntry]) -> dict[str, object]:
    """Return what ``hipo scenarios list --format json`` prints.

    ``scenarios``: a list of objects with ``id``, ``scheme``, ``title``, ``category``, ``summary``,
    ``tags``, ``languages``, ``facts`` (their ids), ``fictional`` (whether no public record is behind
    it), ``shipped`` and ``file``; ``counts``: an object with ``scenarios``, ``facts`` and
    ``categories`` (by category, an object with ``scenarios`` and ``facts``).
    """
    return {
        "scenarios": [_described(entry) for entry in entries],
        "counts": {
            "scenarios": len(entries),
            "facts": sum(len(entry.scenario.facts) for entry in entries),
            "categories": {
                name: {"scenarios": scenarios, "facts": facts}
                for name, (scenarios, facts) in _by_category(entries).items()
            },
        },
    }


def _check(kind: str, wanted: Iterable[str], existing: Iterable[str]) -> None:
    names = sorted(set(existing))
    for name in wanted:
        if name not in names:
            raise UsageError(
                f"no scenario has the {kind} {name!r}", suggestion(name, names, listing="there are")
            )


def _described(entry: CatalogueEntry) -> dict[str, object]:
    scenario = entry.scenario
    return plain(
        scenario,
        "id scheme title category summary tags languages facts",
        facts=[fact.id for fact in scenario.facts],
        fictional=scenario.sources == "fictional",
        shipped=entry.shipped,
        file=entry.located.file,
    )


def _row(entry: CatalogueEntry) -> list[str]:
    scenario = entry.scenario
    return [
        scenario.id,
        scenario.category,
        str(len(scenario.facts)),
        one_line(scenario.title, 48),
        one_line(", ".join(scenario.tags), 60),
    ]


def _by_category(entries: Sequence[CatalogueEntry]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for entry in entries:
        scenarios, facts = counts.get(entry.scenario.category, (0, 0))
        counts[entry.scenario.category] = (scenarios + 1, facts + len(entry.scenario.facts))
    return counts


def _counts(entries: Sequence[CatalogueEntry]) -> list[str]:
    """Return one line for each category, and one for all."""
    if not entries:
        return ["no scenario fits"]
    lines = [
        f"{one_line(name, 40)}: {plural(scenarios, 'scenario')}, {plural(facts, 'fact')}"
        for name, (scenarios, facts) in _by_category(entries).items()
    ]
    facts = sum(len(entry.scenario.facts) for entry in entries)
    return [*lines, f"in all: {plural(len(entries), 'scenario')}, {plural(facts, 'fact')}"]
