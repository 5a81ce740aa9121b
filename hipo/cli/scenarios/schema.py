"""``hipo scenarios schema``: what an editor needs to check scenario files."""

from __future__ import annotations

import typer

from hipo.cli.main import command_app
from hipo.cli.terminal.console import write_json
from scenarios.json_schema import scenario_schema
from scenarios.schemes.registry import load_scheme

app = command_app()


@app.command("schema")
def schema(
    scheme: str = typer.Option("hipo", "--scheme", help="The label scheme, an id or a file."),
) -> None:
    """Print the JSON Schema of a scenario file.

    Write it to a file and name that on the first line of a scenario for the YAML language server:
    hipo scenarios schema > scenario.schema.json, then
    "# yaml-language-server: $schema=./scenario.schema.json".
    """
    write_json(scenario_schema(load_scheme(scheme)))
