"""What the commands about label schemes share."""

from __future__ import annotations

import typer

PRINT = typer.Option("text", "--print", "--format", help="json: see docs/json-shapes.md.")
