"""Validation of scenarios with a flow: what holds for question and answer does not bind them."""

from __future__ import annotations

import pytest

from scenarios.graph import KnowledgeGraph
from scenarios.inspection import inspect_files
from scenarios.pack import FAMILIES, LIBRARY_PLUS
from scenarios.scaffold import new_scenario
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario
from scenarios.validation import check_scenario

CEI = load_scheme("cei")
PLAIN_HASH = "57f965c2fe5673f7523f431c73f0edbb4a2b37380dc7a15712de9800d6b3fb3e"
"""Of a scenario whose fact one knows: runs are stored under it."""


def remark(**changes):
    fields = {
        "id": "broken_vase",
        "scheme": "cei",
        "title": "The vase",
        "category": "family",
        "summary": "A vase has been broken.",
        "tags": ["peer"],
        "background": "A vase stood on the piano. This morning it lies on the carpet.",
        "roles": {
            "speaker": {
                "name": "aunt", "description": "She owned it.", "aim": "say something",
                "labelled": True,
            },
            "listener": {
                "name": "nephew", "description": "He was there.", "aim": "get away",
                "speaks": False,
            },
        },
        "flow": [{"id": "remark", "who": "speaker", "brief": "One remark about the vase."}],
        "goals": ["sarcasm"],
        "outcome": {"text": "It was glued.", "as_of": "2020"},
        "sources": "fictional",
    }  # fmt: skip
    return Scenario.model_validate(fields | changes)


def codes(scenario, similarity=None):
    found = check_scenario(scenario, CEI, similarity=similarity, shipped=True)
    return [(problem.code, problem.field) for problem in found]


@pytest.mark.parametrize("shipped", [True, False])
@pytest.mark.parametrize("last", ["aunt", "nephew"])
def test_nobody_speaks_last_in_one_phase_and_first_in_the_next(last, shipped):
    both = remark().model_dump()["roles"]
    both = {"aunt": both["speaker"], "nephew": both["listener"] | {"speaks": True}}
    first = {"id": "talk", "who": sorted(both, key=lambda role: role == last), "rounds": [1, 2]}
    scenario = remark(roles=both, flow=[first, {"id": "remark", "who": ["aunt"]}])
    found = [
        (problem.code, problem.severity, problem.field)
        for problem in check_scenario(scenario, CEI, shipped=shipped)
    ]
    severity = "error" if shipped else "warning"
    assert found == ([("twice-in-a-row", severity, "flow[1].who")] if last == "aunt" else [])


@pytest.mark.parametrize("folder", [FAMILIES, LIBRARY_PLUS], ids=["families", "library_plus"])
def test_in_no_shipped_scenario_somebody_speaks_twice_in_a_row(folder):
    found = [p for p in inspect_files([folder]).problems if p.code == "twice-in-a-row"]
    assert found == []


FACT = {
    "id": "ball", "owner": "listener", "about": "the evening before",
    "text": "The nephew kicked a leather football through the music room at midnight.",
}  # fmt: skip


def test_a_scenario_of_one_remark_needs_neither_facts_nor_an_opening():
    assert codes(remark()) == []


def test_what_two_people_know_each_without_the_other_may_be_alike():
    twice = [FACT, FACT | {"id": "ball_of_the_aunt", "owner": "speaker"}]
    assert "near-duplicate" not in [code for code, _ in codes(remark(facts=twice))]
    twice = [FACT, FACT | {"id": "ball_again"}]
    assert ("near-duplicate", "facts[1].text") in codes(remark(facts=twice))


def test_meanings_are_compared_with_nothing_where_there_is_no_fact():
    def refuse(left, right):
        raise AssertionError((left, right))

    assert codes(remark(), refuse) == []


def test_facts_may_belong_to_anybody_without_a_cover():
    assert codes(remark(facts=[FACT])) == []


def test_a_goal_that_the_scheme_does_not_assign_is_named():
    assert codes(remark(goals=["sarcasm", "irony"])) == [("unknown-goal", "goals[1]")]


def test_a_background_of_one_sentence_is_too_short():
    assert codes(remark(background="A vase is broken.")) == [("length", "background")]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"brief": "He kicked a football through the music room at midnight."}, "flow[0].brief"),
        ({"text": "You kicked a leather football through the music room at midnight!"}, "flow[0].text[0]"),
        (
            {"strategies": {"speaker": ["hint at the football in the music room at midnight he kicked"]}},
            "flow[0].strategies.speaker[0]",
        ),
    ],
)  # fmt: skip
def test_what_others_are_told_may_not_give_a_fact_away(change, place):
    phase = {"id": "remark", "who": "speaker"} | change
    spoken = {"id": "more", "who": "speaker"}
    assert codes(remark(flow=[phase, spoken], facts=[FACT])) == [("leak", place)]


def test_the_strategies_of_who_knows_a_fact_may_speak_of_it():
    own = FACT | {"owner": "speaker"}
    strategies = {"speaker": ["hint at the football in the music room at midnight he kicked"]}
    flow = [{"id": "remark", "who": "speaker", "strategies": strategies}]
    assert codes(remark(flow=flow, facts=[own])) == []


SHARED = FACT | {"owner": "speaker", "also_known_by": ["listener"]}
GUEST = {"name": "guest", "description": "Came late.", "aim": "sit down", "speaks": False}


def shared(**changes):
    roles = {key: role.model_dump() for key, role in remark().roles.items()} | {"guest": GUEST}
    return remark(roles=roles, facts=[SHARED | changes])


def test_two_of_three_may_know_a_fact_together():
    assert codes(shared()) == []
    assert [fact.id for fact in shared().private("listener")] == ["ball"]
    assert shared().private("guest") == ()
    assert ("role:listener", "fact:ball") in KnowledgeGraph.of(shared()).edges("knows")


@pytest.mark.parametrize(
    ("others", "code"),
    [
        (["nobody"], "unknown-reference"), (["listener", "listener"], "duplicate-reference"),
        (["speaker"], "owner"), (["listener", "guest"], "known-to-all"),
    ],
)  # fmt: skip
def test_who_else_knows_a_fact_is_checked(others, code):
    found = codes(shared(also_known_by=others))
    assert code in [code for code, field in found if field.startswith("facts[0].also_known_by")]


def test_a_fact_that_one_knows_leaves_no_trace_of_the_others_in_the_hash():
    plain = remark(facts=[FACT])
    assert plain.fingerprint == remark(facts=[FACT | {"also_known_by": []}]).fingerprint
    assert plain.fingerprint == PLAIN_HASH


@pytest.mark.parametrize("scheme", ["cobra", "face_acts", "payoff_reasoning"])
def test_a_new_scenario_of_a_scheme_that_assigns_nothing_is_valid(scheme, tmp_path):
    path = tmp_path / "landing_plants.yaml"
    path.write_text(new_scenario("landing_plants", load_scheme(scheme)), encoding="utf-8")
    assert [str(p) for p in inspect_files([path]).errors] == []
