"""``hipo metrics intention`` on files of any layout: several annotators, runs, answers of models."""

from __future__ import annotations

import csv
import json

import pytest

MAP = """\
id: charity
scheme: face_acts
rows: turns
dialogue: talk
texts:
  - {column: said, role_column: by, roles: {A: persuader, B: persuadee}}
answers:
  face_act: {column: face}
  intention: {columns: 'intention_{annotator}'}
annotator: {name: authors}
question: {of: intention, options: [one, two, three], right: right, first: 1, chosen: 'said_by_{annotator}'}
"""
HEADER = ["talk", "by", "said", "face", "intention_x", "intention_y", "intention_z",
          "one", "two", "three", "right", "said_by_m1"]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    (tmp_path / "map.yaml").write_text(MAP)

    def write(*rows):
        path = tmp_path / "anything at all.csv"
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows([HEADER, *rows])
        return ["metrics", "intention", str(path), "--map", str(tmp_path / "map.yaml")]

    return write


ASKS, THANKS = ["makes_request"] * 3, ["thanks_for_offer"] * 3
TURNS = (
    ["t1", "A", "Please.", "hneg-", *ASKS],
    ["t1", "A", "Do come.", "hneg-", "makes_request", "makes_request", "asks_for_more"],
    ["t1", "B", "Hm.", "sneg+", "hesitates", "refuses_flatly", "gives_reason_against"],
    ["t1", "A", "Thanks.", "hpos+", *THANKS],
)
NONE = ["", "", "", "", ""]


def test_what_two_of_three_say_counts_and_turns_in_a_row_are_merged(hipo, files):
    found = hipo(*files(*([*turn, *NONE] for turn in TURNS)), "--json", "-").data["statistics"]
    rows = {(row["face_act"], row["role"]): row for row in found["rows"]}
    assert found["annotators"] == 3
    assert (found["turns_per_dialogue"], found["words_per_turn"]) == (4.0, 1.25)
    asked = rows["hneg-", "persuader"]
    assert (asked["turns"], asked["labelled"], asked["runs"]) == (2, 2, 1)
    split = rows["sneg+", "persuadee"]
    assert (split["turns"], split["labelled"]) == (1, 0)
    # 5 of 12 weighted pairs disagree; by chance 106 of 132 would.
    assert rows["", ""]["alpha"] == pytest.approx(1 - (5 / 12) / (106 / 132))
    assert rows["hpos+", "persuader"]["alpha"] is None


def test_questions_are_checked_and_answers_scored_by_face_act(hipo, files):
    good = ["makes_request", "thanks_for_offer", "persuader_criticises", "1", "1"]
    bad = ["asks_for_more", "asks_for_more", "makes_request", "3", "1"]
    command = files(
        [*TURNS[0], *good], [*TURNS[2], *NONE],
        ["t2", "A", "Please.", "hneg-", *ASKS, *bad],
    )  # fmt: skip
    found = hipo(*command, "--json", "-").data
    assert found["questions"] == 2
    assert found["words_per_option"] == 1.0
    assert "2 questions (1.00 a dialogue; 1.00 words an option)" in hipo(*command).out
    assert found["rules"]["other face_act"] == 2
    assert found["rules"]["duplicate"] == 1
    (one,) = found["answerers"]
    cells = {(cell["face_act"], cell["role"]): cell for cell in one["accuracy"]}
    assert cells["hneg-", "persuader"]["accuracy"] == 0.5
    assert [share["answers"] for share in one["shares"]] == [1.0, 0.0, 0.0]
    assert [share["references"] for share in one["shares"]] == [0.5, 0.0, 0.5]
    text = hipo(*command).out
    assert "m1: accuracy by face act and speaker" in text
    assert "anything at all.csv:4: duplicate: asks_for_more" in text


def test_what_most_of_three_people_choose_is_scored_as_one_answer(hipo, files, tmp_path):
    """Two of three find the first, all differ on the second, two alone answer the third."""
    path = tmp_path / "asked.csv"
    people = ("1", "1", "2"), ("1", "2", "3"), ("1", "1", "")
    good = ["makes_request", "thanks_for_offer", "persuader_criticises", "1"]
    command = files()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*HEADER[:-1], "said_by_Ada", "said_by_Bo", "said_by_Cy", "said_by_model"])
        writer.writerows(
            [f"t{i}", "A", "Please.", "hneg-", *ASKS, *good, *chosen, "1"]
            for i, chosen in enumerate(people)
        )
    command[2] = str(path)
    found = hipo(*command, "--majority", "Ada, Bo,Cy", "--json", "-").data
    accuracy = {one["who"]: one["accuracy"][-1] for one in found["answerers"]}
    assert {who: (cell["right"], cell["questions"]) for who, cell in accuracy.items()} == {
        "Ada": (3, 3), "Bo": (2, 3), "Cy": (0, 2), "model": (3, 3), "majority": (1, 2),
    }  # fmt: skip
    assert (
        "majority: accuracy by face act and speaker"
        in hipo(*command, "--majority", "Ada,Bo,Cy").out
    )
    of_two = {(two["first"], two["second"]): two for two in found["choices"]}
    assert len(of_two) == 15, "every two of five, and each beside what is right"
    assert of_two["Bo", "(right)"]["choices"] == [
        {"first": "makes_request", "second": "makes_request", "questions": 2},
        {"first": "thanks_for_offer", "second": "makes_request", "questions": 1},
    ]
    assert "Bo chose what is right in 2 of 3 questions; elsewhere\n" in hipo(*command).out
    assert of_two["Ada", "Bo"] == {
        "first": "Ada", "second": "Bo", "questions": 3, "same": 2,
        "choices": [
            {"first": "makes_request", "second": "makes_request", "questions": 2},
            {"first": "makes_request", "second": "thanks_for_offer", "questions": 1},
        ],
    }  # fmt: skip
    assert "Ada and Bo chose the same in 2 of 3 questions; elsewhere" in hipo(*command).out
    nobody = hipo(*command, "--majority", "Ada,Bo,Dee")
    assert (nobody.code, "nobody called 'Dee' answered" in nobody.err) == (2, True)
    elsewhere = hipo("metrics", "intention", "results.jsonl", "--majority", "Ada,Bo,Cy")
    assert elsewhere.code == 2


def test_results_of_an_evaluation_are_scored_by_what_is_right(hipo, tmp_path):
    def row(item, right, said, **more):
        options = ["refuses_flatly", "is_willing", "asks_about_organisation", "praises_persuader"]
        return {
            "item": item, "task": "face-acts-intention", "mode": "two-phase", "model": "some/model",
            "scheme": "face_acts@1", "status": "answered", "labels": {"intention": said},
            "options": {"intention": options}, "references": {"declared": {"intention": right}},
            **more,
        }  # fmt: skip

    rows = [
        row("a", "refuses_flatly", "refuses_flatly"),
        row("b", "is_willing", "praises_persuader"),
        row("c", "is_willing", None, status="unreadable"),
        row("d", "is_willing", None, status="failed"),
    ]
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = hipo("metrics", "intention", "results.jsonl", "--json", "-").data
    (one,) = found["answerers"]
    cells = {(cell["face_act"], cell["role"]): cell for cell in one["accuracy"]}
    assert found["questions"] == 4
    assert cells["sneg+", "persuadee"]["accuracy"] == 1.0
    assert (cells["hpos+", "persuadee"]["questions"], cells["hpos+", ""]["right"]) == (2, 0)
    assert cells["", ""]["accuracy"] == pytest.approx(1 / 3)
    (beside,) = found["choices"]
    assert (beside["second"], beside["same"], beside["questions"]) == ("(right)", 1, 3)
    assert {"first": "", "second": "is_willing", "questions": 1} in beside["choices"]


def test_results_of_which_nothing_is_known_to_be_right_are_refused(hipo, tmp_path):
    row = {
        "item": "a", "task": "face-acts-intention", "mode": "two-phase", "model": "some/model",
        "scheme": "face_acts@1", "status": "answered", "labels": {"intention": None},
        "options": {"intention": ["refuses_flatly", "is_willing"]}, "references": {},
    }  # fmt: skip
    (tmp_path / "results.jsonl").write_text(json.dumps(row))
    result = hipo("metrics", "intention", "results.jsonl")
    assert (result.code, "one of them right" in result.err) == (2, True)


def test_a_map_of_another_scheme_is_refused(hipo, tmp_path):
    (tmp_path / "x.csv").write_text("id,sd_utterance,sl_plutchik_primary_a\n1,Well.,joy\n")
    result = hipo("metrics", "intention", "x.csv", "--map", "cei")
    assert result.code == 2
    assert "the scheme cei has no intention" in result.err


def test_a_task_without_options_of_intentions_is_refused(hipo, files):
    result = hipo(*files([*TURNS[0], *NONE]), "--task", "judge-turn")
    assert result.code == 2
    assert "lists no options of intention" in result.err
