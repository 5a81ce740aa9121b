"""Pairs: where they come from, which side is which, and that no two sides say the same."""

from __future__ import annotations

from collections import defaultdict

import orjson
import pytest

from outputs.kinds.origins import ORIGINS
from outputs.kinds.system_prompt import SystemPrompt
from outputs.rows.preferred_answers import same_words
from tests.outputs.corpora import DECEPTION, STRATEGIES, TRUTH, exportable_run, exported, rows_in

ONE_SET = {"fractions": (1, 0, 0), "parquet": False, "pairs": ORIGINS}
AS_SENT = {"prompt": SystemPrompt("full"), "target": "json"}
"""As actors were asked, and as they answered."""


def verdicts(number):
    """Accept the first arm, discard the second, leave the third open."""
    return ("accepted", "discarded", "pending")[number % 3]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exportable_run(
        tmp_path_factory.mktemp("runs") / "run", scenarios=6, strategies=STRATEGIES
    )


@pytest.fixture(scope="module")
def disputed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    return exportable_run(folder, scenarios=6, strategies=STRATEGIES, verdict=verdicts)


def pairs(tmp_path, run, **options):
    done = exported(tmp_path / "out", run, "dpo", **(ONE_SET | options))
    return rows_in(done.folder), done


def said(answers):
    return answers[0]["content"]


def by_origin(rows):
    found = defaultdict(list)
    for row in rows:
        found[row["origin"]].append(row)
    return found


def test_no_two_sides_say_the_same(tmp_path, run):
    rows, _ = pairs(tmp_path, run, include_deception=True)
    assert rows
    for row in rows:
        assert not same_words(said(row["chosen"]), said(row["rejected"]))
    assert same_words("  It IS, so! ", "it is so")


def test_the_winner_of_a_vote_is_preferred_to_each_that_lost_and_says_something_else(tmp_path, run):
    rows = by_origin(pairs(tmp_path, run, include_deception=True, pairs=("vote",))[0])["vote"]
    assert {row["strategy"] for row in rows} == {"consistency"}
    assert all(row["score_chosen"] > row["score_rejected"] for row in rows)
    places = defaultdict(set)
    for row in rows:
        places[row["case"], row["turn"]].add(row["score_rejected"])
    # of the four that lost, one said the same in capitals and one could not be read
    assert set(map(frozenset, places.values())) == {frozenset({0.25, 0.125})}


def test_a_revision_is_preferred_to_the_draft_that_did_not_carry_its_labels(tmp_path, run):
    rows = by_origin(pairs(tmp_path, run, include_deception=True)[0])["revision"]
    assert {row["strategy"] for row in rows} == {"reflective"}
    assert {round(row["score_rejected"], 3) for row in rows} == {0.667}
    assert all("Or so" in said(row["rejected"]) for row in rows)
    assert all(row["score_chosen"] is None for row in rows)


def test_an_accepted_answer_is_preferred_to_the_discarded_one_to_the_same_prompt(
    tmp_path, disputed
):
    origins = ("verdict", "revision", "vote")
    found = by_origin(pairs(tmp_path, disputed, include_deception=True, pairs=origins)[0])
    rows = found["verdict"]
    assert rows
    assert {(row["arm"], row["rejected_arm"]) for row in rows} == {("consistency", "direct")}
    assert {row["turn"] for row in rows} == {3}, "the one that was flagged"
    cases = {row["case"] for row in found["vote"]}
    assert len({row["case"] for row in rows}) * 2 == len(cases), "the others part later"
    assert all("by consistency" in said(row["chosen"]) for row in rows)
    assert all("by direct" in said(row["rejected"]) for row in rows)
    assert "revision" not in found, "what is pending teaches nothing"


def test_pending_dialogues_teach_where_everything_is_taken(tmp_path, disputed):
    rows, _ = pairs(tmp_path, disputed, include_deception=True, verdict="any")
    found = by_origin(rows)
    assert found["revision"]
    assert "direct" not in {row["arm"] for row in rows}, "what was discarded is never preferred"


def test_without_leave_nothing_is_learnt_from_deception(tmp_path, run):
    rows, done = pairs(tmp_path, run)
    assert {row["goal"] for row in rows} == {TRUTH}
    assert not done.facts.includes_deception
    rows, done = pairs(tmp_path / "more", run, include_deception=True)
    assert {row["goal"] for row in rows} == {TRUTH, DECEPTION}
    assert done.facts.includes_deception


def test_both_sides_answer_the_prompt_in_its_own_format(tmp_path, run):
    rows, _ = pairs(tmp_path, run, **AS_SENT)
    for row in rows:
        assert [message["role"] for message in row["prompt"]] == ["system", "user"]
        for side in ("chosen", "rejected"):
            answer = orjson.loads(row[side][0]["content"])
            assert list(answer)[:5] == [
                "plan", "utterance", "goal", "intention_rationale", "intention",
            ]  # fmt: skip
            assert answer["plan"].startswith(f"intention {answer['intention']}, veracity ")
            assert answer["goal"] == row["goal"]
