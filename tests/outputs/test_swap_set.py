"""Swap items: the same words under the fact that makes them false, under another, and under none."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.store.judgements import JudgeRun
from scenarios.errors import UsageError
from scenarios.graph import KnowledgeGraph
from scenarios.verdicts import Judgement
from tests.factories import library, make_case, make_dialogue, make_run, make_scenario, make_tactic
from tests.outputs.corpora import exportable_run, exported, rows_in

ONE_SET = {"fractions": (0, 0, 1), "parquet": False, "verdict": "any"}
LIE = make_tactic(intention="Convince", veracity="Quality", illocutionary="Representatives")
OWN_WORDS = "Somebody's trolley did that, nothing else ever touched it."


def _run(tmp_path, *, found="Quality", fact="guardrail"):
    case = make_case(fact=fact)
    dialogue = make_dialogue("Who painted it?", OWN_WORDS, case=case, tactics=(LIE,))

    async def judge(store, played, number):
        reading = Judgement(
            case.id, played.arm, 3, "external", "compatible/j", "veracity", found,
            found == "Quality", "", None,
        )  # fmt: skip
        run = JudgeRun(case.id, played.arm, "external", "compatible/j", "c", 0, True)
        await store.judgements.record(run, [reading])

    return make_run(tmp_path / "run", [dialogue], each=None if found is None else judge)


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    """Items of a corpus in which every fact of 31 scenarios is lied about at the opening."""
    folder = tmp_path_factory.mktemp("swap")
    run = exportable_run(folder / "run", scenarios=31, facts=9, turns=1)
    return rows_in(exported(folder / "out", run, "swap", **ONE_SET).folder, "test")


def test_every_line_is_false_under_one_fact_and_open_under_the_other(items):
    by_line = Counter((item["line"], item["shown"]) for item in items)
    assert set(by_line.values()) == {1}
    assert len(items) % 3 == 0
    assert len(items) >= 3 * 15
    for item in items:
        wanted = {"own": "Quality", "other": "None", "none": None}[item["shown"]]
        assert item["label_veracity"] == wanted
        assert item["false"] is {"own": True, "other": False, "none": None}[item["shown"]]
        if item["shown"] == "none":
            assert item["fact_text"] is None
            assert item["status"] == "not scored"
            continue
        scenario = library().scenarios[item["scenario"]]
        assert item["fact_text"] == scenario.fact(item["fact_shown"]).text
        ids = {claim.text: claim.id for claim in scenario.claims}
        graph = KnowledgeGraph.of(scenario)
        truths = {graph.truth(ids[claim], item["fact_shown"]) for claim in item["claims"]}
        assert ("false" in truths) is (item["shown"] == "own")
        assert not truths & {None, "misleads"} or item["shown"] == "own"


def test_whoever_reads_the_words_alone_is_right_in_half_of_them(items):
    scored = [item for item in items if item["status"] == "scored"]
    by_text = Counter((item["scenario"], item["utterance"], item["false"]) for item in scored)
    assert set(by_text.values()) == {1}
    assert sum(item["false"] for item in scored) * 2 == len(scored)


def test_a_lie_in_the_speakers_own_words_counts_if_a_judge_found_it(tmp_path):
    done = exported(tmp_path / "out", _run(tmp_path), "swap", **ONE_SET)
    mine = [item for item in rows_in(done.folder) if item["utterance"] == OWN_WORDS]
    assert [item["shown"] for item in mine] == ["own", "other", "none"]
    assert [item["status"] for item in mine] == ["scored", "scored", "not scored"]
    assert mine[0]["question"] == "Who painted it?"
    against = KnowledgeGraph.of(make_scenario()).claims_against("guardrail")
    assert mine[0]["claims"] == [claim.text for claim in against]


@pytest.mark.parametrize("found", [None, "Manner"])
def test_a_lie_in_the_speakers_own_words_that_nobody_found_is_left_out(tmp_path, found):
    done = exported(tmp_path / "out", _run(tmp_path, found=found), "swap", **ONE_SET)
    assert OWN_WORDS not in {item["utterance"] for item in rows_in(done.folder)}
    assert "lies whose claims nobody wrote down, found by no judge: 1" in done.notes


def test_a_known_lie_that_the_judges_missed_is_unresolved(tmp_path):
    scenario = make_scenario()
    text = next(
        statement.text
        for goal, statement in scenario.opening.statements
        if "never_in_accident" in statement.claims
    )
    case = make_case()
    dialogue = make_dialogue("Was it hit?", text, case=case, opening=(), tactics=(LIE,))

    async def miss(store, played, number):
        reading = Judgement(
            case.id, played.arm, 1, "external", "compatible/j", "veracity", "None", False, "", None
        )
        run = JudgeRun(case.id, played.arm, "external", "compatible/j", "c", 0, True)
        await store.judgements.record(run, [reading])

    run = make_run(tmp_path / "run", [dialogue], each=miss)
    items = rows_in(exported(tmp_path / "out", run, "swap", **ONE_SET).folder)
    assert {item["status"] for item in items} == {"unresolved"}


def test_a_scheme_without_a_label_for_lies_has_no_swap_items(tmp_path):
    case = make_case(scheme="cei")
    run = make_run(tmp_path / "run", [make_dialogue("Well?", "No.", case=case)], scheme="cei")
    with pytest.raises(UsageError, match="rules out no label for who is truthful"):
        exported(tmp_path / "out", run, "swap", **ONE_SET)
