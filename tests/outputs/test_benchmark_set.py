"""Benchmark items and the counts of a corpus."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from tests.factories import library, make_case, make_dialogue, make_run, make_tactic
from tests.outputs.corpora import TELLER, exportable_run, exported, rows_in

ONE_SET = {"fractions": (0, 0, 1), "parquet": False}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exportable_run(tmp_path_factory.mktemp("runs") / "run", scenarios=31, facts=1, turns=3)


def test_items_hold_what_may_be_seen_and_no_more(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", **ONE_SET)
    items = rows_in(done.folder, "test")
    assert {item["aspect"] for item in items} == {"utterance", "cumulative", "conversation"}
    for item in items:
        seen = {"utterance": 0, "cumulative": item["turn"], "conversation": 8}[item["aspect"]]
        assert len(item["context"]) == seen
        assert [m["role"] for m in item["context"]] == (["initiator", "responder"] * 4)[:seen]
        whole = item["aspect"] == "conversation"
        assert (item["utterance"] == "") is whole
        assert (item["label_veracity"] is None) is whole
        fact = library().scenarios[item["scenario"]].fact(item["fact"]).text
        shown = orjson.dumps([item["situation"], item["context"], item["utterance"]]).decode()
        assert fact not in shown or TELLER in shown


def test_aspects_can_be_chosen(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", aspects=("conversation",), **ONE_SET)
    assert {item["aspect"] for item in rows_in(done.folder)} == {"conversation"}


def test_the_counts_are_those_of_the_paper_in_kind(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", **ONE_SET)
    counts = orjson.loads((done.folder / "counts.json").read_bytes())
    total = counts.pop("total")
    assert set(counts) == {"relationships", "products", "finance", "privacy", "integrity"}
    assert {name: row["scenarios"] for name, row in counts.items()} == {
        "relationships": 3, "products": 9, "finance": 6, "privacy": 6, "integrity": 7,
    }  # fmt: skip
    assert total["scenarios"] == total["facts"] == 31
    assert total["dialogues"] == 62
    # opening + 2n: of eight utterances three are labelled, the other five are context
    assert total["benchmark_utterances"] == 62 * 3
    assert total["contextual_utterances"] == 62 * 5
    assert total["utterances"] == 62 * 8
    for key, value in total.items():
        assert value == sum(row[key] for row in counts.values())


def test_every_labelled_utterance_is_an_item_once_per_aspect(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", **ONE_SET)
    items = rows_in(done.folder)
    assert len({item["id"] for item in items}) == len(items) == 62 * (2 * 3 + 1)


def test_no_item_asks_for_the_goal_at_or_before_the_hard_question(tmp_path):
    """Up to there a shared opening is the same text under both goals."""
    tactic = make_tactic(intention="Inform", veracity="Manner", illocutionary="Representatives")
    opening = ("How long?", "Three years.", "Was it ever hit?")
    dialogues = [
        make_dialogue(
            "It has a history.", "What history?", "Who knows.",
            case=make_case(goal=goal, turns=2, variation={"openings": "shared"}),
            opening=opening, tactics=(tactic,),
        )
        for goal in ("deception", "truthful non-disclosure")
    ]  # fmt: skip
    # Rows that are imported may bring labels for a fixed line.
    fixed = [
        replace(d, turns=tuple(
            replace(t, tactic=tactic if t.index == 1 else t.tactic,
                    kind="opening" if t.index < 3 else t.kind)
            for t in d.turns
        ))
        for d in dialogues
    ]  # fmt: skip
    run = make_run(tmp_path / "run", fixed)
    done = exported(tmp_path / "out", run, "benchmark", verdict="any", **ONE_SET)
    items = rows_in(done.folder)
    assert {item["turn"] for item in items} == {3, 5, None}
    assert len({item["pair"] for item in items}) == 1
    for item in items:
        said = [m["content"] for m in item["context"]]
        if item["aspect"] == "utterance":
            assert item["utterance"] not in opening
        else:
            assert tuple(said[:3]) == opening
            assert len(said) + (item["aspect"] == "cumulative") > len(opening)
