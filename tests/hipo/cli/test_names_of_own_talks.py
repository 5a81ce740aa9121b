"""Who speaks in somebody's own conversations, and what these are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.own_talks import SCHEME, rows_in, written_talks


def test_two_people_whose_names_have_no_latin_letters_stay_two(hipo: Hipo) -> None:
    table = written_talks(Path(), 1)
    said = (
        table.read_text("utf-8-sig")
        .replace(";client;", ";العميل;")
        .replace(";helper;", ";المستشار;")
    )
    table.write_text(said, "utf-8")
    Path("chats.yaml").write_text(SCHEME.replace("    of: [client, helper]\n", ""))
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    [one] = hipo("show", "talks", "--format", "json").data
    turns = hipo("show", "talks", one["id"], "--format", "json").data["turns"]
    assert len({turn["role"] for turn in turns}) == 2
    line = {
        "messages": [
            {"role": name, "content": "Ja.", "labels": {"act": "Rat"}}
            for name in ("Käufer", "Продавец")
        ]
    }
    Path("lines.jsonl").write_text(json.dumps(line))
    told = hipo("import", "lines.jsonl", "--scheme", "chats.yaml", "-o", "lines")
    assert told.code == 0, told.err
    [one] = hipo("show", "lines", "--format", "json").data
    shown = hipo("show", "lines", one["id"]).out
    assert "Käufer" in shown
    assert "Продавец" in shown


_ALIKE = pytest.mark.parametrize(
    "names",
    [
        ("José", "Jose"),
        ("A+", "A-"),
        ("👩", "👨"),
        ("Ann 👩", "Ann 👨"),
        ("x" * 70 + "a", "x" * 70 + "b"),
    ],
    ids=["accents", "signs", "pictures", "letters and pictures", "long"],
)


@_ALIKE
def test_people_of_one_table_whose_names_would_be_spelled_alike_stay_two(
    hipo: Hipo, names: tuple[str, str]
) -> None:
    table = written_talks(Path(), 1)
    said = table.read_text("utf-8-sig")
    for before, after in zip(("client", "helper"), names, strict=True):
        said = said.replace(f";{before};", f";{after};")
    table.write_text(said, "utf-8")
    Path("chats.yaml").write_text(SCHEME.replace("    of: [client, helper]\n", ""))
    assert hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks").code == 0
    _speak(hipo, names)


@_ALIKE
def test_people_of_a_json_line_whose_names_would_be_spelled_alike_stay_two(
    hipo: Hipo, names: tuple[str, str]
) -> None:
    said = [{"role": name, "content": "Yes.", "labels": {"act": "Rat"}} for name in names]
    _imported_line(hipo, {"messages": said})
    _speak(hipo, names)


def _imported_line(hipo: Hipo, *lines: dict[str, object]) -> None:
    Path("chats.yaml").write_text(SCHEME.replace("    of: [client, helper]\n", ""))
    Path("lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    told = hipo("import", "lines.jsonl", "--scheme", "chats.yaml", "-o", "talks")
    assert told.code == 0, told.err


def _speak(hipo: Hipo, names: tuple[str, str]) -> None:
    """Assert that two people speak in the one dialogue, and are called as they are."""
    assert hipo("export", "talks", "--any", "--to", "turns", "-o", "set").code == 0
    first, second = rows_in("set", "train")
    assert first["role"] != second["role"]
    assert (first["speaker"], second["speaker"]) == names


def test_a_name_in_other_capitals_is_the_same_person(hipo: Hipo) -> None:
    said = [
        {"role": name, "content": "Yes.", "labels": {"act": "Rat"}}
        for name in ("Judge Smith", "judge-smith", "JUDGE_SMITH")
    ]
    _imported_line(hipo, {"messages": said})
    assert hipo("export", "talks", "--any", "--to", "turns", "-o", "set").code == 0
    assert {row["role"] for row in rows_in("set", "train")} == {"judge_smith"}


def test_labelled_speakers_are_named_as_they_are_written_and_stand_in_one_line(hipo: Hipo) -> None:
    said = [{"role": name, "content": "Yes."} for name in ("Mül\nler", "Judge Smith", "user")]
    _imported_line(hipo, {"messages": said, "labelled": ["Mül\nler", "Judge Smith"]})
    assert hipo("export", "talks", "--any", "--to", "dialogues", "-o", "set").code == 0
    [row] = rows_in("set", "train")
    assert row["people"][0]["name"] == "Mül ler"
    assert hipo("verify", "talks", "--judge", "offline/judge", "--dry-run").code == 0


@pytest.mark.parametrize("form", ["table", "lines"])
def test_people_are_called_as_they_are_first_written(hipo: Hipo, form: str) -> None:
    names = ("Dr. Ann Lee", "clerk_two", "DR. ANN LEE", "Müller")
    said = [{"role": name, "content": "Yes.", "labels": {"act": "Rat"}} for name in names]
    if form == "lines":
        _imported_line(hipo, {"messages": said})
    else:
        written_talks(Path(), 0)
        rows = [f"T;en;{place};{name};Yes.;Rat;;;;;;;;;" for place, name in enumerate(names)]
        with Path("talks.csv").open("a", encoding="utf-8") as table:
            table.write("\r\n".join(rows))
        Path("chats.yaml").write_text(SCHEME.replace("    of: [client, helper]\n", ""))
        told = hipo("import", "talks.csv", "--map", "map.yaml", "-o", "talks")
        assert told.code == 0, told.err
    assert hipo("export", "talks", "--any", "--to", "turns", "-o", "set").code == 0
    speakers = {str(row["role"]): row["speaker"] for row in rows_in("set", "train")}
    assert list(speakers) == ["dr_ann_lee", "clerk_two", "muller"]
    assert list(speakers.values()) == ["Dr. Ann Lee", "clerk two", "Müller"]


def test_people_of_other_names_are_another_situation(hipo: Hipo) -> None:
    said = [
        {"role": name, "content": "Yes.", "labels": {"act": "Rat"}}
        for name in ("user", "assistant")
    ]
    _imported_line(
        hipo,
        {"messages": said, "initiator": "a nurse"},
        {"messages": said, "initiator": "a judge"},
    )
    assert hipo("export", "talks", "--any", "-o", "set").code == 0
    people = {row["people"][0]["name"] for row in rows_in("set", "train")}
    assert people == {"a nurse", "a judge"}


def test_a_number_names_the_dialogue_that_is_called_so_not_one_whose_id_begins_so(
    hipo: Hipo,
) -> None:
    lines = [
        {
            "id": number,
            "messages": [{"role": "a", "content": f"Number {number}.", "labels": {"act": "Rat"}}],
        }
        for number in [*range(1, 10), "x/1"]
    ]
    _imported_line(hipo, *lines)
    for number in range(1, 10):
        assert f"Number {number}." in hipo("show", "talks", str(number)).out
        assert hipo("verdict", "talks", str(number), "discarded", "--note", "odd").code == 0
    listed = hipo("show", "talks", "--verdict", "discarded", "--format", "json").data
    assert len(listed) == 9
    whole = next(one["id"] for one in listed)
    assert hipo("show", "talks", whole[:8]).code == 0
    assert hipo("show", "talks", whole).code == 0
