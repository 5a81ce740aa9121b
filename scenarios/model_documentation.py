"""JSON Schemas of models that are read from files, described by the documentation of their fields."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FIRST_PARAGRAPH = re.compile(r"\n\s*\n")


def documented_schema(model: type[BaseModel], modules: Iterable[ModuleType]) -> dict[str, Any]:
    """Return the JSON Schema of a model; texts below its fields are their descriptions.

    Args:
        model: what a file holds.
        modules: where it and the models of its fields are defined.
    """
    schema = model.model_json_schema(by_alias=True)
    documented = _documentation(modules)
    for name, definition in {model.__name__: schema, **schema.get("$defs", {})}.items():
        _describe(definition, documented.get(name, {}))
    return schema


def _describe(definition: dict[str, Any], documented: dict[str, str]) -> None:
    """Put the documentation of fields into a definition, in plain words."""
    if "description" in definition:
        definition["description"] = _plain(definition["description"])
    for name, field in definition.get("properties", {}).items():
        field.pop("title", None)
        if name in documented:
            field["description"] = _plain(documented[name])


def _plain(text: str) -> str:
    """Return the first paragraph of a docstring without its markup."""
    first = _FIRST_PARAGRAPH.split(text.strip())[0]
    return " ".join(first.replace("``", "`").split())


def _documentation(modules: Iterable[ModuleType]) -> dict[str, dict[str, str]]:
    """Return the texts that stand below the fields of the models, by model and name in a file."""
    definitions: dict[str, dict[str, str]] = {}
    parts = [(part, ast.parse(inspect.getsource(part))) for part in modules]
    for module, model in ((module, model) for module, part in parts for model in part.body):
        if isinstance(model, ast.ClassDef):
            fields = definitions.setdefault(model.name, {})
            written = getattr(getattr(module, model.name), "model_fields", {})
            for above, below in zip(model.body, model.body[1:], strict=False):
                if (
                    isinstance(above, ast.AnnAssign)
                    and isinstance(above.target, ast.Name)
                    and isinstance(below, ast.Expr)
                    and isinstance(below.value, ast.Constant)
                ):
                    name = above.target.id
                    alias = written[name].alias if name in written else None
                    fields[alias or name] = str(below.value.value)
    return definitions
