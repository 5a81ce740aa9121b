"""The JSON Schemas of scenario and scheme files, for editors that check YAML."""

from __future__ import annotations

from typing import Any

from scenarios import conversation, fixed_lines, spec
from scenarios.checks.labels import ANY_GOAL
from scenarios.model_documentation import DIALECT, documented_schema
from scenarios.schemes import dimension, model
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import INITIATOR, RESPONDER


def scenario_schema(scheme: Scheme) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a scenario file of the given scheme.

    It knows fields and their types, and the scheme's goals, categories, tags and felicitous acts;
    what the texts say is for the validation to judge. Fields are described by the documentation
    of the models.
    """
    schema = documented_schema(Scenario, (fixed_lines, conversation, spec))
    definitions: dict[str, Any] = schema.pop("$defs")
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


def scheme_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a scheme file.

    It knows fields and their types; whether rules name labels that exist is for the validation.
    """
    schema = documented_schema(Scheme, (dimension, model))
    definitions = schema.pop("$defs")
    return {"$schema": DIALECT, **schema, "title": "hipo scheme", "$defs": definitions}


def _without_flow() -> dict[str, Any]:
    """Return what holds where question and answer alternate."""
    pair = [INITIATOR, RESPONDER]
    told = {"owner": {"enum": pair}, "also_known_by": {"maxItems": 0}}
    return {
        "required": ["opening", "facts"],
        "properties": {
            "roles": {"required": pair, "propertyNames": {"enum": pair}},
            "facts": {"minItems": 1, "items": {"properties": told}},
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
