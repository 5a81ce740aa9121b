"""What the commands about label schemes share."""

from __future__ import annotations

import typer

from hipo.cli.terminal.console import Format

PRINT = typer.Option(Format.TEXT, "--print", "--format", help="json: see docs/json-shapes.md.")
