"""``hipo compare``: how people speak in runs, in data sets, and in parts of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.factories import DECEPTION, TRUTHFUL, make_case, make_dialogue, make_run, make_tactic

LIE = make_tactic(veracity="Quality")
TRUTH = make_tactic(veracity="None")


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A run of two dialogues: a lie in one, the truth in the other; and its name."""
    make_run(
        tmp_path / "runs" / "mine",
        [
            make_dialogue(
                "Was it hit?", "Never, I think.", case=make_case(goal=DECEPTION), tactics=[LIE]
            ),
            make_dialogue("Was it?", "No.", case=make_case(goal=TRUTHFUL), tactics=[TRUTH]),
        ],
    )
    return "mine"


def write_rows(path: Path, rows: Sequence[object]) -> str:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def figures(data, group: str | None = None) -> dict[str, tuple[float | None, float | None]]:
    """Return reference and figure by measure, of the only other group or of a named one."""
    name = group or data["groups"][1]["name"]
    return {
        one["id"]: (one["reference"], one["figure"])
        for one in data["differences"]
        if one["group"] == name
    }


def test_lies_are_compared_with_the_truth_in_one_run(hipo, run) -> None:
    data = hipo("compare", run, "--by", "veracity", "--format", "json").data
    assert [group["name"] for group in data["groups"]] == ["None", "Quality"]
    assert [group["lines"] for group in data["groups"]] == [1, 1]
    found = figures(data)
    assert found["line_length"] == (1, 3)
    assert found["hedges"][1] == pytest.approx(100 / 3)


def test_fixed_lines_count_only_if_one_says_so(hipo, run) -> None:
    improvised = hipo("compare", run, "--by", "goal", "--format", "json").data
    everything = hipo("compare", run, "--by", "goal", "--fixed", "--format", "json").data
    assert [group["lines"] for group in improvised["groups"]] == [2, 2]
    assert [group["lines"] for group in everything["groups"]] == [4, 4]


def test_another_group_can_be_the_one_that_others_are_compared_with(hipo, run) -> None:
    told = hipo("compare", run, "--by", "goal", "--reference", TRUTHFUL, "--format", "json")
    assert told.data["reference"] == TRUTHFUL


@pytest.mark.parametrize(
    "row",
    [
        {"turns": [{"speaker": "Ann", "text": "Was it hit?"}, {"speaker": "Bo", "text": "No."}]},
        {
            "messages": [
                {"role": "system", "content": "You sell cars, and never say no to anybody."},
                {"role": "user", "content": "Was it hit?"},
                {"role": "assistant", "content": "No."},
                {"role": "tool", "content": "3 cars found"},
            ]
        },
        {"conversations": [{"from": "human", "value": "Was it hit?"}, {"from": "gpt", "value": "No."}]},
        {"dialogue": "a text beside them", "utterances": ["Was it hit?", "No."]},
        {"turns": [], "dialog": [{"speaker": 0, "text": "Was it hit?"}, {"speaker": 1, "text": "No."}]},
        {"turns": [{"text": "Was it hit?"}, {"text": "No."}], "language": ""},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Was it hit?"}]},
                      {"role": "assistant", "content": "No."}]},
    ],
)  # fmt: skip
def test_dialogues_of_others_are_read_in_the_usual_formats(hipo, run, tmp_path, row) -> None:
    others = write_rows(tmp_path / "others.jsonl", [row])
    told = hipo("compare", run, others, "--format", "json")
    assert told.data["groups"][1] == {
        "name": others, "dialogues": 1, "lines": 2, "clusters": 1,
    }  # fmt: skip
    assert figures(told.data)["line_length"][1] == 2
    assert told.data["notes"][:-1] == [
        "1 dialogue without a language: read as en, the language of the markers"
    ]


def test_a_folder_with_a_json_file_for_each_dialogue_is_read_as_it_is(hipo, run, tmp_path) -> None:
    others = tmp_path / "theirs"
    others.mkdir()
    for number in range(2):  # as SDialog writes them, with what it knows beside the turns
        said = [{"speaker": "Ann", "text": "Was it hit?"}, {"speaker": "Bo", "text": "No."}]
        known = {"version": "0.5.3", "id": number, "complete": True, "context": None}
        text = json.dumps({**known, "turns": said, "events": [], "notes": None}, indent=2)
        (others / f"dialog_{number}.json").write_text(text, encoding="utf-8")
    told = hipo("compare", run, "theirs", "--format", "json")
    assert told.data["groups"][1]["dialogues"] == 2
    assert figures(told.data)["line_length"][1] == 2


def test_what_is_taken_up_is_known_whether_people_have_names_numbers_or_neither(
    hipo, run, tmp_path
) -> None:
    said = ["Where is the red car?", "The red car was sold."]
    for who in ({"speaker": "Ann"}, {"speaker": "Bo"}), ({"speaker": 1}, {"speaker": 0}), ({}, {}):
        turns = [{"text": text, **them} for text, them in zip(said, who, strict=True)]
        others = write_rows(tmp_path / "others.jsonl", [{"turns": turns}])
        told = hipo("compare", run, others, "--format", "json").data
        assert figures(told)["echo"][1] == pytest.approx(200 / 3)


def test_what_holds_no_text_is_no_line_and_is_told(hipo, run, tmp_path) -> None:
    rows = [
        {"language": "en_GB", "turns": ["Was it hit?", "", " ", 3, {"role": "a", "text": None}]},
        {"language": "en", "turns": []},
    ]
    others = write_rows(tmp_path / "others.jsonl", rows)
    told = hipo("compare", run, others, "--format", "json").data
    assert told["groups"][1]["lines"] == 1
    assert told["notes"][:-1] == [
        "4 lines without text: left out", "1 dialogue without a line: left out",
    ]  # fmt: skip


def test_an_exported_corpus_has_the_figures_of_its_run(hipo, run) -> None:
    assert hipo("export", run, "-o", "set", "-q").code == 0
    by_run = hipo("compare", run, "--by", "veracity", "--format", "json").data
    by_set = hipo("compare", "set", "--by", "veracity", "--format", "json").data
    assert by_set == by_run


def test_people_of_several_names_are_compared_with_each_other(hipo, run, tmp_path) -> None:
    others = write_rows(
        tmp_path / "others.jsonl", [{"messages": [{"role": "gpt", "content": "Hm?"}]}]
    )
    told = hipo("compare", run, others, "--role", "responder,gpt", "--format", "json").data
    assert [group["lines"] for group in told["groups"]] == [2, 1]
    assert figures(told)["questions"] == (0, 100)


def test_a_run_without_a_dialogue_is_named(hipo, tmp_path) -> None:
    dead = ("--base-url", "http://127.0.0.1:9/v1", "--wait-for-endpoint", "0")
    hipo("generate", "-m", "compatible/x", "-n", "2", *dead, "-o", "runs/none", "-q")
    told = hipo("compare", "none", "--by", "goal")
    assert told.code == 2
    assert "error: none: holds no line" in told.err


def test_the_same_comparison_is_a_table_for_people(hipo, run) -> None:
    told = hipo("compare", run, "--by", "goal")
    assert told.code == 0
    assert "length of a line" in told.out
    assert "Bonferroni" in told.out
    assert "\n95 %        interval of the difference; too few: " in told.out
    assert "too few (1 of 6)" in told.out


def test_own_lists_are_counted_in_the_place_of_those_that_ship(hipo, run, tmp_path) -> None:
    (tmp_path / "own.yaml").write_text(
        "language: en\nmarkers: {hits: {title: hits, phrases: [hit]}}\n", encoding="utf-8"
    )
    told = hipo("compare", run, "--by", "goal", "--markers", "own.yaml", "--format", "json").data
    assert "hedges" not in figures(told)
    assert "hits" in figures(told)


def test_intervals_of_dialogues_without_scenario_are_the_same_in_any_order(hipo, tmp_path) -> None:
    rows = [
        {"turns": [{"speaker": "Ann", "text": "well " * n}], "side": "ab"[n % 2]}
        for n in (1, 3, 4, 5, 8, 9, 14, 16, 20, 23, 30, 31, 31, 42)
    ]
    found = []
    for listed in (rows, rows[::-1], rows[5:] + rows[:5]):
        write_rows(tmp_path / "rows.jsonl", listed)
        told = hipo("compare", "rows.jsonl", "--by", "side", "--reference", "a", "--format", "json")
        found.append(told.data["differences"])
    assert found[0] == found[1] == found[2]
    assert any(one["interval"] for one in found[0])


@pytest.mark.parametrize(
    ("arguments", "found", "hint"),
    [
        (["mine"], "found 1 source", "--by goal"),
        (["mine", "texts.jsonl", "--by", "goal"], "found 2 sources and --by goal", "leave --by out"),
        (["mine", "runs/mine"], "named twice", "once"),
        (["mine", "--by", "goals"], "--by goals", "did you mean 'goal'?"),
        (["mine", "--by", "strategy"], "all lines are", "veracity"),
        (["mine", "--by", "goal", "--reference", "deceive"], "--reference deceive", "'deception'"),
        (["mine", "--by", "goal", "--role", "responder,judge"], "--role judge", "initiator"),
        (["mine", "nothing.jsonl"], "neither a file or folder nothing.jsonl nor a run", "mine"),
        (["mine", "texts.csv"], "is neither .jsonl, .json nor .parquet", "hipo import"),
        (["mine", "texts.jsonl"], "row 1 holds no lines of a dialogue", "messages"),
        (["mine", "--by", "goal", "--markers", "own.yaml"], "markers: variety", "name the list"),
        (["mine", "empty.jsonl"], "empty.jsonl: holds no line", "name another one"),
        (["mine", "chat.jsonl", "--role", "user"], "nobody of that name says anything in mine",
         "responder"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_what_to_do(hipo, run, tmp_path, arguments, found, hint) -> None:
    write_rows(tmp_path / "texts.jsonl", [{"text": "Was it hit?"}])
    write_rows(tmp_path / "chat.jsonl", [{"messages": [{"role": "user", "content": "Hit?"}]}])
    write_rows(tmp_path / "empty.jsonl", [])
    (tmp_path / "own.yaml").write_text(
        "language: en\nmarkers: {variety: {title: hits, phrases: [hit]}}\n", encoding="utf-8"
    )
    (tmp_path / "texts.csv").write_text("speaker,text\nAnn,Was it hit?\n", encoding="utf-8")
    told = hipo("compare", *arguments)
    assert told.code == 2
    assert not told.out
    assert found in told.err
    assert hint in told.err


def test_a_value_for_every_line_is_no_division(hipo, tmp_path) -> None:
    rows = [{"name": f"row {n}", "turns": [{"role": "a", "text": "Yes."}]} for n in range(13)]
    told = hipo("compare", write_rows(tmp_path / "many.jsonl", rows), "--by", "name")
    assert told.code == 2
    assert "has 13 values, and at most 12 are compared" in told.err
