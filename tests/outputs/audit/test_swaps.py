"""Of swap items it is guessed which of two facts makes a line a lie; the line itself stands in both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
import pytest

from benchmarks.audit_power import simulated
from hipo.app.audit import audit
from outputs.audit.auditing import ONE_LABEL, audit_dialogues
from outputs.audit.swap_audit import OWN_FACT
from outputs.audit.telling import audit_sentences
from scenarios.errors import UsageError


def swaps(path, *, scenarios=12, lines=8, more_words=0, without=(), same_facts=False):
    """Write swap items of random words; own facts may be longer, and some kinds may be missing."""
    rng = np.random.default_rng(0)
    rows = []
    for scenario in range(scenarios):
        sizes = {shown: int(rng.integers(12, 30)) for shown in ("own", "other", "none")}
        for number in range(lines):
            line = f"case{scenario}x{number}/arm/3"
            for shown in ("own", "other", "none"):
                size = int(rng.integers(12, 30)) if not same_facts else sizes[shown]
                size += more_words * (shown == "own")
                fact = " ".join(f"word{rng.integers(300)}" for _ in range(size))
                rows.append(
                    {
                        "case": line.partition("/")[0], "arm": "arm", "scenario": f"s{scenario}",
                        "goal": "deception", "turn": 3, "line": line, "shown": shown,
                        "fact_text": None if shown == "none" else fact, "utterance": "Never.",
                        "status": "not scored" if shown == "none" else "scored",
                        "label_veracity": "Quality" if shown == "own" else None,
                    }
                )  # fmt: skip
    kept = [row for row in rows if (row["scenario"], row["shown"]) not in without]
    path.write_bytes(b"\n".join(map(orjson.dumps, kept)))
    return path


def test_clean_items_tell_nothing_and_the_words_of_a_line_are_said_to_be_the_same(tmp_path):
    found = audit(swaps(tmp_path / "clean.jsonl"))
    gated = [f for f in found.findings if f.kind == "must-not"]
    assert [(f.probe, f.dimension) for f in gated] == [("length", OWN_FACT)]
    assert not found.shortcuts
    assert (found.answers, found.scenarios) == (96, 12)
    told = " ".join(audit_sentences(found))
    assert "right in one half" in told
    assert "; 1 reading was to be no better than chance" in told


def test_of_a_sample_it_is_said_how_many_dialogues_there_are(tmp_path):
    found = audit(swaps(tmp_path / "many.jsonl"), most=48)
    assert found.of == 96
    assert 20 < found.dialogues < 80
    assert f"in {found.dialogues} of 96 dialogues, " in " ".join(audit_sentences(found))


def test_facts_that_are_longer_where_they_make_a_lie_are_found(tmp_path):
    found = audit(swaps(tmp_path / "longer.jsonl", more_words=20))
    assert [(f.probe, f.dimension) for f in found.shortcuts] == [("length", OWN_FACT)]


def test_lines_beside_the_same_two_facts_are_no_further_evidence(tmp_path):
    few, many = (
        audit(swaps(tmp_path / f"{lines}.jsonl", scenarios=4, lines=lines, more_words=30, same_facts=True))
        for lines in (1, 20)
    )  # fmt: skip
    for found in (few, many):
        (length,) = [f for f in found.findings if f.kind == "must-not"]
        assert length.score == 1
        assert length.p > 1 / 2**4 - 0.03, "of four scenarios all point one way in one of 16 draws"
        assert not found.shortcuts


def test_items_without_the_other_of_their_line_are_left_out_and_counted(tmp_path):
    found = audit(swaps(tmp_path / "some.jsonl", without={("s0", "other"), ("s1", "own")}))
    assert (found.answers, found.scenarios) == (80, 10)
    assert found.remarks[1] == (
        "16 scored items left out, as the other one of the line is not there"
    )
    with pytest.raises(UsageError, match="no line is scored with the fact that makes it false"):
        audit(swaps(tmp_path / "half.jsonl", scenarios=1, without={("s0", "other")}))


def test_a_dimension_with_one_label_in_all_is_not_asked():
    corpus = simulated(0, scenarios=4, pairs=3)
    lies = tuple(
        replace(
            dialogue,
            goal="deception",
            answers=tuple(
                replace(answer, labels={**answer.labels, "veracity": "Quality"})
                for answer in dialogue.answers
            ),
        )
        for dialogue in corpus.dialogues
    )
    found = audit_dialogues(replace(corpus, dialogues=lies))
    assert "veracity" not in {f.dimension for f in found.findings}
    assert ONE_LABEL in {s.why for s in found.skipped if s.dimension == "veracity"}


def test_so_many_dialogues_are_read_as_are_asked_for_however_many_items_they_have(tmp_path):
    path = swaps(tmp_path / "many.jsonl", scenarios=20, lines=20)
    for most, fewest in ((400, 400), (200, 160)):
        found = audit(path, most=most)
        assert fewest <= found.dialogues == found.answers <= 1.2 * most


def test_all_items_of_a_dialogue_are_read_or_none(tmp_path):
    path = swaps(tmp_path / "two.jsonl", scenarios=20, lines=20)
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    more = [{**row, "turn": 5, "line": f"{row['case']}/arm/5"} for row in rows]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows + more)))
    found = audit(path, most=200)
    assert 160 <= found.dialogues <= 240
    assert found.answers == 2 * found.dialogues
