from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from scenarios.errors import InputError
from scenarios.located import dotted, shortened
from scenarios.spec import Scenario
from scenarios.yaml_source import Located, read_yaml, validate_model


def problems(data, model=Scenario, **extra):
    with pytest.raises(InputError) as error:
        validate_model(model, Located(data, "f.yaml", {}), **extra)
    return {p.field: p for p in error.value.problems}


def test_a_right_file_becomes_the_model(boat, written):
    assert validate_model(Scenario, read_yaml(written(boat))).id == "old_boat"


def test_an_unknown_field_is_named_with_its_line_and_the_nearest_spelling(boat, written):
    boat["facts"][2]["onwer"] = "responder"
    path = written(boat)
    with pytest.raises(InputError) as error:
        validate_model(Scenario, read_yaml(path))
    (problem,) = error.value.problems
    assert problem.field == "facts[2].onwer"
    lines = path.read_text().splitlines()
    assert "onwer" in lines[problem.line - 1]
    assert "did you mean 'owner'?" in problem.hint
    assert str(problem).startswith(f"{problem.file}:{problem.line}: facts[2].onwer: found ")


def test_a_missing_field_points_at_its_parent(boat, written):
    del boat["facts"][1]["about"]
    path = written(boat)
    with pytest.raises(InputError) as error:
        validate_model(Scenario, read_yaml(path))
    (problem,) = error.value.problems
    assert (problem.field, problem.found, problem.code) == (
        "facts[1].about", "nothing", "missing-field",
    )  # fmt: skip
    assert "radio" in path.read_text().splitlines()[problem.line - 1]


@pytest.mark.parametrize("field", ["opening", "facts"])
def test_what_is_left_out_and_needed_is_named_as_such(boat, field):
    del boat[field]
    found = problems(boat)
    assert list(found) == [field]
    assert found[field].found == "nothing"


def test_all_problems_are_shown_at_once(boat):
    boat["facts"][0]["cover"][0]["gain"] = "slef"
    boat["outcome"]["as_of"] = "May 2026"
    boat["title"] = 7
    found = problems(boat)
    assert set(found) == {"facts[0].cover[0].gain", "outcome.as_of", "title"}
    assert found["facts[0].cover[0].gain"].hint == "did you mean 'self'?"
    assert found["outcome.as_of"].expected == "a date as YYYY, YYYY-MM or YYYY-MM-DD"
    assert found["title"].hint == "put it in quotes"


@pytest.mark.parametrize("wrong", ["ficional", [], {"date": 1}, 3])
def test_a_union_that_fits_nothing_gives_one_problem(boat, wrong):
    boat["sources"] = wrong
    (problem,) = problems(boat).values()
    assert problem.field == "sources"
    assert "'fictional' or " in problem.expected


def test_a_union_that_nearly_fits_is_told_by_its_nearest_member(boat):
    boat["sources"] = [{"document": "A ruling", "body": "A court", "date": 2020, "pages": 3}]
    found = problems(boat)
    assert set(found) == {"sources[0].date", "sources[0].pages"}
    assert "document" in found["sources[0].pages"].hint


def test_a_missing_role_and_a_wrong_key_are_told_readably(boat):
    boat["roles"]["respnder"] = boat["roles"].pop("responder")
    (problem,) = problems(boat).values()
    assert problem.field == "roles"
    assert "responder is missing, and 'respnder' is there" in problem.hint
    del boat["roles"]["respnder"]
    (problem,) = problems(boat).values()
    assert "responder is missing" in problem.hint


@pytest.mark.parametrize("data", [None, [1], "text", 4])
def test_what_is_no_mapping_is_one_problem(data):
    (problem,) = problems(data).values()
    assert problem.expected == "a mapping of fields"


def test_extra_fields_win_over_those_of_the_file():
    class Point(BaseModel):
        x: int
        y: int = 0

    assert validate_model(Point, Located({"x": 1, "y": 2}, "f"), y=5) == Point(x=1, y=5)


def test_paths_are_written_the_way_people_do():
    assert dotted(("facts", 2, "owner")) == "facts[2].owner"
    assert dotted(("statements", "truthful non-disclosure", "text", 0)) == (
        "statements['truthful non-disclosure'].text[0]"
    )
    assert dotted(()) == ""


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(_anything)
def test_any_value_is_described_on_one_short_line(value):
    text = shortened(value)
    assert "\n" not in text
    assert text
    if not isinstance(value, int):
        assert len(text) < 130


def test_signs_that_do_not_print_make_no_description_long():
    hidden = "\U000e0001" * 70
    assert len(shortened(hidden)) <= 62
    assert len(shortened({f"{hidden}{i}": i for i in range(5)})) < 130
    assert shortened("a" * 61) == repr("a" * 57 + "...")
    assert shortened("a" * 60) == repr("a" * 60)


@given(
    st.dictionaries(
        st.sampled_from(["id", "facts", "roles", "sources", "opening", "claims", "x"]), _anything
    )
)
def test_whatever_the_data_the_problems_have_places(data):
    for field, problem in problems(data).items():
        assert problem.file == "f.yaml"
        assert problem.expected
        assert field.split(".")[0].split("[")[0] in {*data, *Scenario.model_fields, ""}
