"""The JSON Schema of a scenario file, for editors that check YAML."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

from scenarios import conversation, fixed_lines, spec
from scenarios.checks.labels import ANY_GOAL
from scenarios.schemes.model import Scheme
from scenarios.spec import INITIATOR, RESPONDER, Scenario

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FIRST_PARAGRAPH = re.compile(r"\n\s*\n")


def scenario_schema(scheme: Scheme) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a scenario file of the given scheme.

    It knows fields and their types, and the scheme's goals, categories, tags and felicitous acts;
    what the texts say is for the validation to judge. Fields are described by the documentation
    of the models.
    """
    schema = Scenario.model_json_schema()
    definitions: dict[str, Any] = schema.pop("$defs")
    documented = _documentation()
    for name, definition in {"Scenario": schema, **definitions}.items():
        _describe(definition, documented.get(name, {}))
    fields = schema["properties"]
    _fix_scheme(schema, scheme)
    statements = definitions["GoalOpening"]["properties"]["statements"]
    statements["propertyNames"] = {"enum": [*scheme.goals, ANY_GOAL]}
    fields["goals"]["items"] = {"enum": list(scheme.goals)}
    if scheme.categories:
        fields["category"]["enum"] = list(scheme.categories)
    if scheme.tags:
        fields["tags"]["items"] = {"enum": list(scheme.tags)}
    if scheme.felicity is None:
        fields["felicitous"]["maxItems"] = 0
    else:
        fields["felicitous"]["items"] = {"enum": list(scheme.dimension(scheme.felicity).values)}
    for unique in ("tags", "felicitous", "goals"):
        fields[unique]["uniqueItems"] = True
    fields["placeholders"]["additionalProperties"] = False
    schema["if"] = {"not": {"required": ["flow"]}}
    schema["then"] = _without_flow()
    for name in ("opening", "facts"):
        fields[name].pop("default", None)
    return {"$schema": DIALECT, **schema, "title": "hipo scenario", "$defs": definitions}


def _without_flow() -> dict[str, Any]:
    """Return what holds where question and answer alternate."""
    pair = [INITIATOR, RESPONDER]
    return {
        "required": ["opening", "facts"],
        "properties": {
            "roles": {"required": pair, "propertyNames": {"enum": pair}},
            "facts": {"minItems": 1, "items": {"properties": {"owner": {"enum": pair}}}},
            "opening": {"anyOf": [{"required": ["shared"]}, {"required": ["by_goal"]}]},
        },
    }


def _fix_scheme(schema: dict[str, Any], scheme: Scheme) -> None:
    """Let a file name this scheme only, and have it do so unless it is the default."""
    field = schema["properties"]["scheme"]
    field["const"] = scheme.id
    if field["default"] != scheme.id:
        del field["default"]
        schema["required"].append("scheme")


def _describe(definition: dict[str, Any], documented: dict[str, str]) -> None:
    """Put the documentation of fields into a definition, in plain words."""
    if "description" in definition:
        definition["description"] = _plain(definition["description"])
    for name, field in definition["properties"].items():
        field.pop("title", None)
        if name in documented:
            field["description"] = _plain(documented[name])


def _plain(text: str) -> str:
    """Return the first paragraph of a docstring without its markup."""
    first = _FIRST_PARAGRAPH.split(text.strip())[0]
    return " ".join(first.replace("``", "`").split())


def _documentation() -> dict[str, dict[str, str]]:
    """Return the texts that stand below the fields of the models, by model and field."""
    definitions: dict[str, dict[str, str]] = {}
    parts = (ast.parse(inspect.getsource(part)) for part in (fixed_lines, conversation, spec))
    for model in (model for part in parts for model in part.body):
        if isinstance(model, ast.ClassDef):
            fields = definitions.setdefault(model.name, {})
            for above, below in zip(model.body, model.body[1:], strict=False):
                if (
                    isinstance(above, ast.AnnAssign)
                    and isinstance(above.target, ast.Name)
                    and isinstance(below, ast.Expr)
                    and isinstance(below.value, ast.Constant)
                ):
                    fields[above.target.id] = str(below.value.value)
    return definitions
