"""The review form of a dialogue of three: whose turns are asked what, and what is asked beside what."""

from __future__ import annotations

import re

import orjson
import pytest

from quality.agreement.annotations import RawAnswer
from quality.annotation_qc.schema import check_schema
from quality.review.exhibits import exhibit
from quality.review.forms import read_form, sections
from quality.review.opinions import reasons
from quality.review.outgoing import facts_text
from quality.review.web import environment
from scenarios.reviews import ReviewStudy
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from tests.sixth_scheme.material import held, mediation, pear_tree, shared_secret

STUDY = ReviewStudy(1, "review", "review", per_item=3, seed=1, hidden={})
ROLES = {1: "tenant", 5: "mediator"}


def form(scheme=None, roles=ROLES):
    return sections(scheme or mediation(), list(roles), {}, roles=roles)


def fields(turn):
    return {f.dimension.id: f for part in form() if part.turn == turn for f in part.fields}


def test_turns_of_each_role_are_asked_what_concerns_it_with_the_labels_it_can_have():
    assert list(fields(1)) == ["move", "ground", "yielding", "warmth"]
    assert list(fields(5)) == ["move", "warmth"]
    assert "direct" in {c.value for c in fields(5)["move"].choices}
    assert "direct" not in {c.value for c in fields(1)["move"].choices}
    assert list(fields(None)) == ["settled"]


def test_a_conditional_question_says_where_it_is_asked_to_people_and_to_the_script():
    ground = fields(1)["ground"]
    assert ground.only_where == "Only where move is refuse or demand."
    assert orjson.loads(ground.condition) == {"t1.move": ["refuse", "demand"]}
    assert fields(1)["move"].condition == ""


SENT = {
    "t1.yielding": ["none"], "t5.move": ["direct"], "d.settled": ["open"], "t1.warmth": ["3.0"],
    "t5.warmth": ["3.0"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("move", "ground", "labels", "problems"),
    [
        ("demand", ["a loss"], "a loss", {}),
        ("tell", [], None, {}),
        ("tell", ["a loss"], None, {}),  # what a page without script sends
        ("refuse", [], None, {"t1.ground": "not answered"}),
        ("refuse", ["a hunch"], None, {"t1.ground": "not an answer on offer"}),
        ("direct", [], None, {"t1.move": "not an answer on offer"}),
    ],
)
def test_a_conditional_answer_is_kept_where_its_condition_holds(move, ground, labels, problems):
    filled = read_form(form(), {**SENT, "t1.move": [move], "t1.ground": ground})
    found = {g.dimension: g.value for g in filled.labels if g.turn == 1}
    assert found.get("ground") == labels
    assert filled.problems == problems


def test_a_choice_that_goes_with_other_answers_is_refused_beside_others():
    data = mediation().model_dump(mode="json", by_alias=True)
    data["dimensions"][1]["labels"][0]["for"] = {"move": ["demand"]}
    asked = form(Scheme.model_validate(data))
    filled = read_form(asked, {**SENT, "t1.move": ["refuse"], "t1.ground": ["a rule"]})
    assert filled.problems == {"t1.ground": "does not go with the other answers"}
    (rule, *_) = next(f for f in asked[0].fields if f.dimension.id == "ground").choices
    assert orjson.loads(rule.condition) == {"t1.move": ["demand"]}


def test_reviewers_see_everybody_and_what_each_keeps_back():
    shown = exhibit(held(), pear_tree(), mediation(), STUDY)
    assert [name for name, _ in shown.roles] == [
        "mediator", "owner of the tree", "tenant next door",
    ]  # fmt: skip
    assert [fact.knowers for fact in shown.facts] == [("owner of the tree",), ("tenant next door",)]
    assert shown.targets == (1, 2, 3, 4, 5, 6, 7)
    assert shown.declared[2, "ground"] == "nothing"
    assert (None, "") not in shown.declared
    assert {u.speaker for u in shown.utterances} == {name for name, _ in shown.roles}


def test_a_page_names_everybody_who_knows_a_fact():
    shown = exhibit(held(), shared_secret(), mediation(), STUDY)
    macros = environment().get_template("macros.html.j2").module
    page = " ".join(re.sub("<[^>]*>", "", macros.setting(shown, lambda _: "", "en", True)).split())
    assert "Only the owner of the tree and the mediator know A surveyor told" in page
    assert "Only the tenant next door knows Mr Bode has" in page
    assert facts_text(shown).startswith("owner of the tree and mediator: A surveyor told")


def test_without_a_scenario_everybody_has_a_letter_and_no_fact_is_told():
    shown = exhibit(held(), None, mediation(), STUDY)
    assert {u.speaker for u in shown.utterances} == {"A", "B", "C"}
    assert shown.facts == ()
    offered = {choice.value for choice in reasons(mediation(), (), keeps_back=False)}
    assert "fact" not in offered


def test_what_only_readers_label_is_asked_of_people_too():
    data = mediation().model_dump(mode="json", by_alias=True)
    for dimension in data["dimensions"]:
        dimension["by"] = "reader"
    asked = [d.id for d in Scheme.model_validate(data).people_dimensions("utterance")]
    assert asked == ["move", "ground", "yielding", "warmth"]
    hipo = load_scheme("hipo").people_dimensions("utterance")
    assert hipo == load_scheme("hipo").utterance_dimensions


def test_what_is_not_asked_beside_other_answers_is_not_missing():
    rows = [("move", "tell"), ("yielding", "none"), ("warmth", 3)]
    told = [RawAnswer("x#1", name, "A", value) for name, value in rows]
    assert check_schema(mediation(), told).findings == ()
    refused = [RawAnswer("x#1", "move", "A", "refuse"), *told[1:]]
    scheme = mediation().model_copy(
        update={
            "dimensions": tuple(d.model_copy(update={"of": ()}) for d in mediation().dimensions)
        }
    )
    (finding,) = check_schema(scheme, refused).findings
    assert (finding.code, finding.dimension) == ("missing", "ground")


def test_a_face_act_for_which_a_speaker_has_no_intention_leaves_the_form_complete():
    asked = form(load_scheme("face_acts"), {0: "persuader"})
    (of_turn, *_) = asked
    intention = next(one for one in of_turn.fields if one.dimension.id == "intention")
    assert set(intention.when["t0.face_act"]).isdisjoint({"spos-", "sneg+", "other"})
    filled = read_form(asked[:1], {"t0.face_act": ["spos-"]})
    assert [(label.dimension, label.value) for label in filled.labels] == [("face_act", "spos-")]
    assert filled.problems == {}


PERSUASION = load_scheme("face_acts")


@pytest.mark.parametrize(
    ("role", "act", "missing"),
    [
        ("persuader", "hneg-", ["intention"]),  # as the form asks
        ("persuader", "spos-", []),  # no intention of a persuader goes with it
        ("persuadee", "spos-", ["intention"]),
        ("persuadee", "other", []),
        ("bystander", "hneg-", []),  # whom nobody asks for intentions
    ],
)
def test_what_is_missing_is_what_the_form_asks_of_whoever_spoke(role, act, missing):
    said = [RawAnswer("x#1", "face_act", "A", act)]
    found = check_schema(PERSUASION, said, roles={"x#1": role}).findings
    assert [finding.dimension for finding in found] == missing
    asked = check_schema(
        PERSUASION, said, roles={"x#1": role}, required=["face_act", "intention"]
    ).findings
    assert [finding.dimension for finding in asked] == missing


def test_of_whoever_spoke_nothing_is_missing_where_that_is_not_known():
    said = [RawAnswer("x#1", "face_act", "A", "hneg-")]
    assert check_schema(PERSUASION, said).findings == ()
