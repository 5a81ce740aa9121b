"""``hipo scenarios graph``: a picture of who knows, claims and reveals what."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.cli.main import command_app
from hipo.cli.scenarios.options import REAL_NAMES, SCENARIO_DIRS, SCHEME, TARGET, find_of_scheme
from scenarios.atomic_files import new_file
from scenarios.errors import UsageError
from scenarios.graph import KnowledgeGraph
from scenarios.graph_drawing import to_png, to_svg
from scenarios.plural import plural
from scenarios.text_file import shown_path

app = command_app()


@app.command("graph")
def graph(
    target: str = TARGET,
    output: Path = typer.Option(
        ..., "-o", "--output", help="The picture: a file ending in .svg or .png; it is replaced."
    ),
    real_names: bool = REAL_NAMES,
    scheme: str | None = SCHEME,
    scenario_dirs: list[Path] | None = SCENARIO_DIRS,
) -> None:
    """Draw the knowledge graph of a scenario: roles, facts, claims, evidence.

    PNG needs the package of hipo[draw]; SVG needs nothing.
    """
    suffix = output.suffix.lower()
    if suffix not in (".svg", ".png"):
        raise UsageError(f"cannot draw {output.name!r}", "name a file that ends in .svg or .png")
    entry = find_of_scheme(target, scenario_dirs, scheme, real_names=real_names)
    knowledge = KnowledgeGraph.of(entry.scenario)
    picture = to_png(knowledge) if suffix == ".png" else to_svg(knowledge).encode()
    with new_file(output) as file:
        file.write(picture)
    nodes, edges = len(knowledge.graph.nodes), len(knowledge.graph.edges)
    print(f"wrote {shown_path(output)}: {plural(nodes, 'node')}, {plural(edges, 'edge')}")
