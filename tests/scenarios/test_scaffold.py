from __future__ import annotations

import pytest
import yaml

from scenarios.catalogue import Catalogue
from scenarios.errors import InputError, UsageError
from scenarios.inspection import inspect_files
from scenarios.scaffold import WIDTH, new_scenario
from scenarios.scheme_inspection import inspect_schemes
from scenarios.schemes.model import Dimension, Label, Scheme
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.schemes.scaffold import new_scheme
from scenarios.spec import Scenario
from scenarios.yaml_source import read_yaml_text


def problems(tmp_path, scheme: Scheme, **options) -> list[str]:
    path = tmp_path / "lost_luggage.yaml"
    path.write_text(new_scenario("lost_luggage", scheme, **options), encoding="utf-8")
    found = inspect_files([path], scheme=scheme).problems
    return [str(problem) for problem in found if problem.code != "template-text"]


def odd_scheme(**changes: object) -> Scheme:
    """A scheme whose labels need quotes, and which leaves categories, tags and acts open."""
    stance = Dimension(
        id="stance",
        level="dialogue",
        question="Which?",
        labels=(
            Label(id="true", definition="a"),
            Label(id="half: half", definition="b"),
            Label(id='"quoted" #1', definition="c"),
        ),
    )
    tone = Dimension(
        id="tone",
        level="utterance",
        question="How?",
        labels=(Label(id="None", definition="a"), Label(id="- loud", definition="b")),
    )
    plain = {"id": "odd", "title": "Odd", "dimensions": (stance, tone), "assigned": "stance"}
    return Scheme.model_validate({**plain, **changes})


@pytest.mark.parametrize("name", scheme_names())
def test_a_new_file_is_valid_as_it_stands_for_every_scheme_that_ships(tmp_path, name):
    assert problems(tmp_path, load_scheme(name)) == []


def test_a_new_file_is_valid_for_a_scheme_of_ones_own(tmp_path):
    assert problems(tmp_path, odd_scheme()) == []
    rule = {"labels": {"stance": ("half: half",), "tone": ("- loud",)}, "reason": "no"}
    full = odd_scheme(
        felicity="tone", tags=("a: b", "null"), categories=("#1", "é"), contradictions=(rule,)
    )
    assert problems(tmp_path, full) == []
    assert problems(tmp_path, full, category="é") == []


def test_a_new_file_has_the_roles_that_the_dimensions_of_a_scheme_with_goals_are_of(tmp_path):
    """Judges and benchmarks would never ask for a dimension that is of nobody in the scenario."""
    stance, tone = odd_scheme().dimensions
    of_two = tone.model_copy(update={"of": ("head", "sales")})
    scheme = odd_scheme(dimensions=(stance, of_two))
    assert problems(tmp_path, scheme) == []
    written = yaml.safe_load(new_scenario("lost_luggage", scheme))
    assert list(written["roles"]) == ["head", "sales"]


@pytest.mark.parametrize("role", ["agent", "second"])
def test_a_new_file_for_a_scheme_of_one_role_labels_that_role_alone(tmp_path, role):
    tone = odd_scheme().dimensions[1].model_copy(update={"of": (role,)})
    scheme = Scheme(id="apology", title="Apologies", dimensions=(tone,))
    assert problems(tmp_path, scheme) == []
    roles = yaml.safe_load(new_scenario("lost_luggage", scheme))["roles"]
    assert [(name, "labelled" in one) for name, one in roles.items()] == [
        (role, True), ("third" if role == "second" else "second", False),
    ]  # fmt: skip


def test_a_labelled_role_that_no_dimension_is_of_is_an_error(tmp_path):
    stance, tone = odd_scheme().dimensions
    path = tmp_path / "lost_luggage.yaml"
    path.write_text(new_scenario("lost_luggage", odd_scheme()), encoding="utf-8")
    scheme = odd_scheme(dimensions=(stance, tone.model_copy(update={"of": ("head", "sales")})))
    (found,) = [p for p in inspect_files([path], scheme=scheme).problems if p.code == "labelled"]
    assert "'responder', which no dimension of scheme 'odd' is of" in found.found
    assert found.expected == "a role that they are of: head, sales"


def test_a_new_file_says_something_above_every_field_and_keeps_to_the_width(hipo):
    text = new_scenario("lost_luggage", hipo)
    lines = text.splitlines()
    above = {line.split(":")[0]: lines[i - 1] for i, line in enumerate(lines) if line[:1].islower()}
    assert set(above) == set(Scenario.model_fields) - {
        "placeholders", "flow", "goals", "data", "wording", "variant_of",
    }  # fmt: skip
    assert all(line.startswith("# ") for line in above.values())
    assert "# placeholders:" in text
    assert max(map(len, lines)) <= WIDTH + 8
    for name in (*hipo.categories, *hipo.tags, *hipo.goal.values):
        assert name in text


def test_the_category_and_the_id_are_those_asked_for(hipo):
    data = read_yaml_text(new_scenario("lost_luggage", hipo, "finance"), "f.yaml").data
    assert (data["id"], data["category"]) == ("lost_luggage", "finance")


def test_an_unknown_category_is_answered_with_the_nearest(hipo):
    with pytest.raises(UsageError, match="did you mean 'finance'"):
        new_scenario("lost_luggage", hipo, "finances")


@pytest.mark.parametrize("name", ["", "Lost", "1st", "lost-luggage", "../x", "a" * 65, "x\n"])
def test_what_cannot_be_an_id_is_refused(hipo, name):
    with pytest.raises(UsageError, match="cannot be the id"):
        new_scenario(name, hipo)


def test_other_readers_of_yaml_read_the_same(hipo):
    text = new_scenario("lost_luggage", hipo)
    assert yaml.safe_load(text) == read_yaml_text(text, "f.yaml").data


def test_a_scheme_among_scenarios_is_one_problem_and_not_one_for_each_of_its_fields(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("id: mine\ntitle: Mine\nassigned: goal\ndimensions: []\n", encoding="utf-8")
    (found,) = inspect_files([path]).problems
    assert (found.code, found.line, found.found) == ("scheme", 4, "a label scheme")
    assert found.hint == "name it with --scheme"
    with pytest.raises(InputError, match="found a label scheme"):
        Catalogue.own([path])


def test_a_folder_may_hold_scenarios_and_their_scheme_as_the_form_of_authors_writes_them(tmp_path):
    scheme = tmp_path / "advice.yaml"
    scheme.write_text(new_scheme("advice", flow=True), encoding="utf-8")
    text = new_scenario("stairs", load_scheme(str(scheme)))
    (tmp_path / "stairs.yaml").write_text(text, encoding="utf-8")
    assert list(Catalogue.own([tmp_path]).entries) == ["stairs"]
    found = inspect_files([tmp_path], scheme=load_scheme(str(scheme)))
    assert (found.files, found.errors, found.passed_over) == (1, (), (scheme,))
    schemes = inspect_schemes([tmp_path])
    assert (schemes.files, schemes.errors) == (1, ())
    assert schemes.passed_over == (tmp_path / "stairs.yaml",)
    (named,) = inspect_schemes([tmp_path / "stairs.yaml"]).problems
    assert (named.found, named.expected) == ("a scenario", "a label scheme")
