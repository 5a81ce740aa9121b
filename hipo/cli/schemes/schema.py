"""``hipo scheme schema``: what an editor needs to check scheme files."""

from __future__ import annotations

from hipo.cli.main import command_app
from hipo.cli.terminal.console import write_json
from scenarios.json_schema import scheme_schema

app = command_app()


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of a scheme file.

    Write it to a file and name that on the first line of a scheme for the YAML language server:
    hipo scheme schema > scheme.schema.json, then
    "# yaml-language-server: $schema=./scheme.schema.json".
    """
    write_json(scheme_schema())
