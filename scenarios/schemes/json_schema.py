"""The JSON Schema of a scheme file, for editors that check YAML."""

from __future__ import annotations

from typing import Any

from scenarios.model_documentation import DIALECT, documented_schema
from scenarios.schemes import dimension, model
from scenarios.schemes.model import Scheme


def scheme_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a scheme file.

    It knows fields and their types; whether rules name labels that exist is for the validation.
    """
    schema = documented_schema(Scheme, (dimension, model))
    definitions = schema.pop("$defs")
    return {"$schema": DIALECT, **schema, "title": "hipo scheme", "$defs": definitions}
