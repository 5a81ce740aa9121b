"""Scenarios with any roles and a flow, and schemes that assign nothing, compute and condition."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from scenarios.catalogue import Catalogue
from scenarios.checks.references import check_references
from scenarios.errors import InputError
from scenarios.located import Located
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario
from scenarios.yaml_source import validate_model


def tribunal(**changes):
    fields = {
        "id": "tribunal",
        "scheme": "watched",
        "title": "A hearing",
        "category": "courts",
        "summary": "A neighbour is heard.",
        "background": "A hearing about a fence.",
        "roles": {
            "clerk": {"name": "clerk", "description": "Reads.", "aim": "read"},
            "counsel": {"name": "counsel", "description": "Asks.", "aim": "find out"},
            "witness": {
                "name": "neighbour", "description": "Answers.", "aim": "get home",
                "labelled": True,
            },
            "public": {
                "name": "public", "description": "Listens.", "aim": "listen", "speaks": False,
            },
        },
        "flow": [
            {"id": "oath", "who": "clerk", "text": "Please state your name."},
            {
                "id": "examination", "who": ["counsel", "witness"], "rounds": [2, 4],
                "brief": "Counsel asks about the fence.",
                "strategies": {"counsel": ["ask again"]},
            },
        ],
        "facts": [
            {"id": "saw", "owner": "witness", "about": "the night", "text": "He saw it."},
            {"id": "photo", "owner": "counsel", "about": "a picture", "text": "There is one."},
        ],
        "outcome": {"text": "Not told.", "as_of": "2020"},
        "sources": "fictional",
    }  # fmt: skip
    return fields | changes


def watched(**changes):
    fields = {
        "id": "watched",
        "title": "Watched",
        "dimensions": [
            {
                "id": "stance", "level": "utterance", "question": "How firm?", "of": "witness",
                "labels": [
                    {"id": "firm", "definition": "Firm."}, {"id": "vague", "definition": "Vague."},
                ],
            },
            {
                "id": "way", "level": "span", "question": "In which way?", "by": "reader",
                "when": {"stance": "vague"},
                "labels": [
                    {"id": "dodges", "definition": "Dodges.", "for": {"stance": ["vague"]}},
                    {
                        "id": "asks back", "definition": "Asks.", "group": "questions",
                        "for": {"role": "counsel", "stance": ["vague"]},
                    },
                ],
            },
            {
                "id": "drift", "level": "utterance", "measurement": "interval", "by": "reader",
                "question": "Whither?", "derived": {"function": "sum", "of": "stance", "weight": 2},
            },
        ],
    }  # fmt: skip
    return fields | changes


def test_any_roles_speak_in_phases_and_know_what_is_theirs():
    scenario = Scenario.model_validate(tribunal())
    assert scenario.labelled_roles == ("witness",)
    assert [fact.id for fact in scenario.private("counsel")] == ["photo"]
    assert scenario.private("clerk") == ()
    assert scenario.flow[0].text == ("Please state your name.",)
    assert scenario.flow[1].rounds == (2, 4)
    again = Scenario.model_validate(scenario.model_dump(mode="json", by_alias=True))
    assert again == scenario
    assert again.fingerprint == scenario.fingerprint


def test_without_a_flow_two_roles_take_turns_and_the_responder_is_labelled():
    scenario = Catalogue.load().entry("used_car").scenario
    assert scenario.labelled_roles == ("responder",)
    assert scenario.flow == ()


def test_what_is_new_in_the_form_changes_no_hash_of_what_does_without():
    car = Catalogue.load().entry("used_car").template
    plain = car.model_dump(mode="json")
    assert {"flow", "goals", "data"} <= set(plain)
    assert car.fingerprint != Scenario.model_validate(plain | {"data": {"a": 1}}).fingerprint
    hipo = load_scheme("hipo")
    first = hipo.content["dimensions"][0]
    assert not {"of", "when", "derived"} & set(first)
    assert not {"applies", "group"} & set(first["labels"][0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"flow": []}, "the initiator is missing, and 'clerk' is there"),
        ({"opening": {"shared": {"exchanges": [{"question": "a", "answer": "b"}],
                                 "hard_question": "c"}}}, "has no opening"),
        ({"flow": [{"id": "oath", "who": ["clerk", "counsel"], "text": "So."}]}, "said by one role"),
        ({"flow": [{"id": "talk", "who": "counsel"}]}, "nobody who improvises is labelled"),
        ({"flow": [{"id": "talk", "who": "witness", "rounds": [3, 2]}]}, "above the most"),
        ({"flow": [{"id": "talk", "who": "witness", "strategies": {"clerk": ["x"]}}]},
         "does not speak in this phase"),
    ],
)  # fmt: skip
def test_a_flow_that_cannot_be_played_is_refused(change, message):
    with pytest.raises(ValidationError, match=message):
        Scenario.model_validate(tribunal(**change))


def test_roles_that_are_not_there_are_told_where_they_stand():
    damaged = tribunal()
    damaged["facts"][0]["owner"] = "witnes"
    damaged["flow"] = [
        *damaged["flow"],
        {"id": "oath", "who": ["public", "witness"]},
    ]
    scenario = Scenario.model_validate(damaged)
    located = Located(damaged, "tribunal.yaml", {(): 1})
    found = {p.field: p.found for p in check_references(scenario, located)}
    assert found == {
        "facts[0].owner": "the unknown role 'witnes'",
        "flow[2].who[0]": "the unknown speaking role 'public'",
        "flow[2].id": "'oath', which flow[0] has already",
    }


def test_a_scheme_may_assign_nothing_and_compute_what_nobody_is_asked():
    scheme = Scheme.model_validate(watched())
    assert scheme.goals == ("",)
    assert [d.id for d in scheme.declared] == ["stance"]
    assert [d.id for d in scheme.read_dimensions("utterance")] == ["way"]
    assert [d.id for d in scheme.read_dimensions("span")] == ["way"]
    (drift,) = scheme.derived
    assert drift.derived.function == "sum"
    assert drift.derived.parameters == {"of": "stance", "weight": 2}
    assert Scheme.model_validate(scheme.model_dump(mode="json", by_alias=True)) == scheme


def test_labels_depend_on_who_speaks_and_on_other_labels():
    scheme = Scheme.model_validate(watched())
    way = scheme.dimension("way")
    assert [x.id for x in way.choices("witness", {"stance": "vague"})] == ["dodges"]
    assert [x.id for x in way.choices("counsel", {"stance": "vague"})] == ["dodges", "asks back"]
    assert way.choices("witness", {"stance": "firm"}) == ()
    assert [x.id for x in way.choices("witness")] == ["dodges"]
    assert scheme.dimension("stance").concerns("witness")
    assert not scheme.dimension("stance").concerns("counsel")


@pytest.mark.parametrize(
    ("place", "condition", "message"),
    [
        ("when", {"way": ["dodges"]}, "no dimension 'way' stands before it"),
        ("when", {"role": ["witness"]}, "no dimension 'role' stands before it"),
        ("when", {"stance": ["loud"]}, "'loud' is no label of 'stance'"),
        ("for", {"mood": ["x"]}, "no dimension 'mood' stands before it"),
    ],
)
def test_conditions_name_what_stands_before_them(place, condition, message):
    data = watched()
    if place == "when":
        data["dimensions"][1]["when"] = condition
    else:
        data["dimensions"][1]["labels"][0]["for"] = condition
    with pytest.raises(ValidationError, match=message):
        Scheme.model_validate(data)


def test_a_derived_dimension_has_no_labels():
    data = watched()
    data["dimensions"][2]["labels"] = [{"id": "a", "definition": "A."}]
    with pytest.raises(ValidationError, match="derived dimension"):
        Scheme.model_validate(data)


def test_a_phase_that_is_wrong_is_the_only_problem():
    """Whether roles, opening and facts fit is only known of a flow that can be read."""
    broken = tribunal(facts=[])
    broken["flow"][1]["who"] = ["counsel", "witness", "counsel"]
    with pytest.raises(InputError) as caught:
        validate_model(Scenario, Located(broken, "tribunal.yaml", {}))
    assert [problem.field for problem in caught.value.problems] == ["flow[1]"]
    assert "a role stands twice" in caught.value.problems[0].hint
