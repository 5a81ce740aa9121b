"""``hipo scheme list``: which label schemes there are, and where they come from."""

from __future__ import annotations

import textwrap

from hipo.cli.main import command_app
from hipo.cli.schemes.options import PRINT
from hipo.cli.terminal.console import Format, columns, one_line, plain, write_json
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme, scheme_names

app = command_app()


@app.command("list")
def list_schemes(output_format: Format = PRINT) -> None:
    """List the label schemes that ship: what they ask, and where they come from."""
    schemes = {name: load_scheme(name) for name in scheme_names()}
    if output_format == "json":
        write_json([listed_scheme(name, scheme) for name, scheme in schemes.items()])
        return
    header = ["name", "version", "assigns", "dimensions", "title"]
    print(columns(header, [_row(name, scheme) for name, scheme in schemes.items()]))
    for name, scheme in schemes.items():
        source = textwrap.fill(
            scheme.source, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        print(f"\n{name}: {', '.join(d.id for d in scheme.dimensions)}\n{source}")
    print("\nread one: hipo scheme show NAME; begin one of your own: hipo scheme new ID")


def listed_scheme(name: str, scheme: Scheme) -> dict[str, object]:
    """Return one object of the list that ``hipo scheme list --print json`` prints.

    ``name``: what ``--scheme`` takes; ``id``, ``version``, ``title``, ``source``; ``assigned``: the
    dimension that is the goal of a dialogue, or ""; ``dimensions``: objects with ``id``, ``level``,
    ``measurement``, ``by`` and ``labels`` (how many).
    """
    return plain(
        scheme,
        "name id version title source assigned",
        name=name,
        dimensions=[
            plain(dimension, "id level measurement by", labels=len(dimension.labels))
            for dimension in scheme.dimensions
        ],
    )


def _row(name: str, scheme: Scheme) -> list[str]:
    assigned = scheme.assigned or "nothing"
    dimensions = str(len(scheme.dimensions))
    return [name, str(scheme.version), assigned, dimensions, one_line(scheme.title, 56)]
