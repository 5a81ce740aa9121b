from __future__ import annotations

import copy

import pytest
from jsonschema import Draft202012Validator

from scenarios.catalogue import LIBRARY
from scenarios.json_schema import scenario_schema
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.spec import Scenario
from scenarios.yaml_source import read_yaml


@pytest.fixture(scope="module")
def validator():
    return Draft202012Validator(scenario_schema(load_scheme("hipo")))


@pytest.mark.parametrize("name", scheme_names())
def test_it_is_a_schema_for_every_scheme(name):
    Draft202012Validator.check_schema(scenario_schema(load_scheme(name)))


def test_every_file_of_the_library_fits(validator):
    for path in LIBRARY.glob("*/*.yaml"):
        errors = [error.message for error in validator.iter_errors(read_yaml(path).data)]
        assert errors == [], path.name


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("titel",), "x"),
        (("category",), "boats"),
        (("tags",), ["sailing"]),
        (("tags",), ["everyday", "everyday"]),
        (("felicitous",), ["Promises"]),
        (("scheme",), "cei"),
        (("id",), "Old Boat"),
        (("title",), ""),
        (("roles", "captain"), {"name": "a", "description": "b", "aim": "c"}),
        (("roles",), {"initiator": {"name": "a", "description": "b", "aim": "c"}}),
        (("opening", "by_goal", 0, "statements", "lying"), {"text": "x"}),
        (("opening", "shared", "hard_question"), []),
        (("opening", "shared", "hard_question"), ["x"] * 13),
        (("opening", "shared", "exchanges"), []),
        (("facts", 0, "cover", 0, "gain"), "fun"),
        (("facts", 0, "owner"), "buyer"),
        (("facts", 0, "also_known_by"), ["initiator"]),
        (("facts",), []),
        (("evidence", 0, "reveals"), []),
        (("outcome", "as_of"), "June"),
        (("sources",), "none"),
        (("placeholders",), {"Bad Name": {"alias": "x"}}),
    ],
)
def test_what_the_models_refuse_does_not_fit(validator, boat, path, value):
    assert validator.is_valid(boat)
    damaged = copy.deepcopy(boat)
    here = damaged
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    assert not validator.is_valid(damaged)


def test_one_wording_may_stand_without_its_list(validator, boat):
    shared = boat["opening"]["shared"]
    shared["hard_question"] = "Is she ready?"
    assert validator.is_valid(boat)
    opening = Scenario.model_validate(boat).opening
    assert opening.shared
    assert opening.shared.hard_question == ("Is she ready?",)


def test_every_field_is_described_in_plain_words(validator):
    schema = validator.schema
    for model in (schema, *schema["$defs"].values()):
        assert model["description"]
        for name, field in model["properties"].items():
            assert field.get("description"), name
            assert "``" not in field["description"]
            assert "\n" not in field["description"]


def test_a_file_of_another_scheme_must_name_it():
    schema = scenario_schema(load_scheme("cei"))
    assert schema["properties"]["scheme"]["const"] == "cei"
    assert "scheme" in schema["required"]
    assert "scheme" not in scenario_schema(load_scheme("hipo"))["required"]
