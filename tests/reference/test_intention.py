"""The figures of the released questions on persuasive dialogues, through the command a user has."""

from __future__ import annotations

import json

import pytest

from hipo.cli.main import run
from tests.reference.cei import reference_folder


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    (file,) = reference_folder("intention").glob("*.jsonl")
    target = tmp_path_factory.mktemp("intention") / "figures.json"
    assert run(["metrics", "intention", str(file), "--json", str(target)]) == 0
    return json.loads(target.read_text())


def test_there_are_549_questions_in_924_rows_of_30_dialogues(found):
    statistics = found["statistics"]
    (whole,) = [row for row in statistics["rows"] if not row["role"] and not row["face_act"]]
    assert statistics["dialogues"] == 30
    assert (whole["turns"], whole["labelled"], whole["runs"]) == (924, 549, 549)
    assert found["questions"] == 549


def test_sizes_are_the_printed_ones(found):
    # Table 3: 30.8, 11.99 and 10.61, and 18.43 of the 553 questions of which 549 were released.
    statistics = found["statistics"]
    assert statistics["turns_per_dialogue"] == pytest.approx(30.8)
    assert statistics["words_per_turn"] == pytest.approx(12.02, abs=5e-3)
    assert found["words_per_option"] == pytest.approx(10.61, abs=5e-3)


def test_the_last_option_is_right_of_a_quarter(found):
    shares = [share["references"] for share in found["right"]]
    assert shares[3] == pytest.approx(0.2568, abs=5e-5)
    assert sum(shares) == pytest.approx(1)


def test_no_question_breaks_a_rule_of_its_authors(found):
    assert found["rules"] == dict.fromkeys(
        ("same role", "other face_act", "group", "duplicate", "right option", "right label",
         "unknown option"), 0,
    )  # fmt: skip
    assert found["broken"] == []


def test_questions_by_face_act_and_speaker(found):
    cells = {
        (cell["face_act"], cell["role"]): cell["questions"]
        for cell in found["questions_by_face_act"]
    }
    assert cells["spos+", "persuader"] == 89
    assert cells["spos+", "persuadee"] == 38
    assert cells["hpos-", "persuader"] == 7
    assert cells["sneg+", "persuadee"] == 27
    assert cells["hneg-", ""] == 96


def test_nothing_is_odd_in_the_file(found):
    assert found["oddities"] == []
