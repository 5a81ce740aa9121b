"""Benchmark items and the counts of a corpus."""

from __future__ import annotations

import orjson
import pytest

from tests.factories import library
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
