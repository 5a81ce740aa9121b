"""Round trips with Label Studio and CSV, and what Argilla makes of our records."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import orjson
import pytest

from hipo.app.review.answer_files import export_answers
from hipo.app.review.reviewing import ReviewOptions
from pipeline.store.reviews import ReviewStore
from pipeline.store.writer import Writer
from quality.review.export_argilla import dataset_settings, records, user_id
from quality.review.export_label_studio import labelling_config, tasks
from quality.review.import_csv import read_csv
from quality.review.import_label_studio import read_label_studio
from quality.review.outgoing import Incoming, Outgoing
from quality.review.spreadsheet import answer_lines, blank_lines
from scenarios.errors import InputError
from scenarios.reviews import Sheet
from tests.quality.review.cei_run import make_cei_run
from tests.quality.review.open_study import NOTE, Room
from tests.quality.review.serving import generated_run


@pytest.fixture(params=["hipo", "cei", "cobra"])
def folder(request: pytest.FixtureRequest, run: Path, tmp_path: Path) -> Path:
    if request.param == "cobra":
        return generated_run(tmp_path / "cobra", n=3, scheme="cobra", goals="all", turns=[1])
    return run if request.param == "hipo" else make_cei_run(tmp_path / "cei")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["review", "quiz"])
@pytest.mark.parametrize("via", ["label-studio", "csv"])
async def test_answers_come_back_as_they_went(
    folder: Path, tmp_path: Path, mode: str, via: str
) -> None:
    empty = shutil.copytree(folder, tmp_path / "empty")
    with ReviewStore.open(folder) as store:
        room = Room(folder, store, mode)
        await room.answer({"Ada": 3, "Bea": 2})
        before = room.sheets()
        if via == "csv":
            text = "".join(answer_lines(room.scheme, room.dialogues()))
            assert NOTE not in [cell for line in text.splitlines() for cell in line.split(",")]
            incoming = read_csv(text, room.scheme, "f")
        else:
            rows = list(tasks(room.scheme, room.study, room.dialogues(), blind=False))
            incoming = read_label_studio(orjson.dumps(rows), room.scheme, "f")
        again = room.bring_in(incoming)
        assert again.outcomes == {"unchanged": 5}
        assert room.sheets() == before
    with ReviewStore.open(empty) as store:
        other = Room(empty, store, mode)
        assert other.bring_in(incoming).outcomes == {"added": 5}
        assert other.bring_in(incoming).outcomes == {"unchanged": 5}
        assert other.sheets() == before


@pytest.mark.parametrize("to", ["label-studio", "argilla", "csv"])
def test_a_dialogue_is_written_before_the_next_is_read(run: Path, to: str) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")

        def one_by_one() -> Iterator[Outgoing]:
            yield room.dialogues()[0]
            pytest.fail("the second dialogue was read too early")

        if to == "csv":
            lines = blank_lines(room.scheme, room.study, one_by_one())
            assert next(lines).startswith("item,")
            assert next(lines)
            return
        made = tasks if to == "label-studio" else records
        assert next(made(room.scheme, room.study, one_by_one(), blind=True))


@pytest.mark.anyio
async def test_tasks_are_written_as_one_array_with_indentation(run: Path, tmp_path: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        await room.answer({"Ada": 3})
        rows = list(tasks(room.scheme, room.study, room.dialogues(), blind=True))
    target = tmp_path / "tasks.json"
    written = export_answers(run, "label-studio", target, ReviewOptions())
    assert target.read_bytes() == orjson.dumps(rows, option=orjson.OPT_INDENT_2)
    assert (written.dialogues, written.answers) == (10, 3)


def test_answers_of_a_file_are_stored_together(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "review")
        store.people.known_as("Ada")
        items = [item.id for item, _ in store.sheets.items(room.study)]
        rows = [f"{item}#3,Ada,Quality,rejected,no: {item}" for item in items]
        text = "\n".join(["item,annotator,veracity,issue,note", *rows])
        transactions: list[int] = []
        commit = Writer._commit

        def counted(self: Writer, writes: Sequence[Any]) -> None:
            transactions.append(len(writes))
            commit(self, writes)

        monkeypatch.setattr(Writer, "_commit", counted)
        assert room.bring_in(read_csv(text, room.scheme, "f")).outcomes == {"added": 10}
        assert sum(transactions) >= 20, "answers and their notes"
        # A busy machine may begin with some before the others come; each alone would be 20.
        assert len(transactions) < 10


@pytest.mark.parametrize("mode", ["review", "quiz"])
def test_a_sheet_to_fill_in_shows_what_the_page_shows_and_comes_back(run: Path, mode: str) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, mode)
        text = "".join(blank_lines(room.scheme, room.study, room.dialogues()))
        rows = list(csv.DictReader(io.StringIO(text)))
        shown = room.dialogues()[0].exhibit
        first = rows[0]
        assert first["the scene"].startswith(shown.background)
        assert all(f"{name}: {told}" in first["the scene"] for name, told in shown.roles)
        (fact,) = shown.facts
        assert ("private fact" in first) == (mode == "review")
        if mode == "review":
            said = first["private fact"]
            assert said.startswith(f"{fact.knowers[0]}: {fact.text}")
            assert all(claim in said for claim in fact.false_claims)
        lines = first["whole dialogue"].splitlines()
        assert len(lines) == len(shown.utterances)
        assert [line for line in lines if line.startswith("> ")] == [
            f"> {shown.utterances[3].speaker}: {first['utterance']}"
        ]
        asked = dict(line.split(": ") for line in first["possible answers"].splitlines())
        assert ("None" in asked["veracity"].split(", ")) == (mode == "review")
        for row in rows:
            for line in row["possible answers"].splitlines():
                column, offered = line.split(": ")
                row[column] = offered.split(", ")[-1]
            row["annotator"] = "Ada"
        out = io.StringIO()
        writer = csv.DictWriter(out, list(first))
        writer.writeheader()
        writer.writerows(rows)
        done = room.bring_in(read_csv(out.getvalue(), room.scheme, "f"))
        assert done.outcomes == {"added": 10}
        assert all(len(sheet[2]) == 3 * turns + 1 for sheet, turns in _with_turns(room))


def _with_turns(room: Room) -> list[tuple[Any, int]]:
    turns = {d.item.id: len(d.exhibit.targets) for d in room.dialogues()}
    return [(sheet, turns[sheet[0]]) for sheet in room.sheets()]


def _filled_in(room: Room) -> list[dict[str, str]]:
    """Return the rows of a blank sheet as Ada returns them, each with an answer and two seconds."""
    text = "".join(blank_lines(room.scheme, room.study, room.dialogues()))
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        column, offered = row["possible answers"].splitlines()[0].split(": ")
        row |= {column: offered.split(", ")[0], "annotator": "Ada", "lead_s": "2"}
    return rows


def _returned(room: Room, rows: list[dict[str, str]]) -> list[Incoming]:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return read_csv(out.getvalue(), room.scheme, "f")


def test_sorted_and_repeated_rows_change_nothing(run: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        rows = _filled_in(room)
        as_sent = {sheet.item: sheet for sheet in _returned(room, rows)}
        odd = sorted([*rows, *rows[:7]], key=lambda row: (row["utterance"], row["item"]))
        for sheet in _returned(room, odd):
            sent = as_sent[sheet.item]
            assert (sheet.labels, sheet.lead_s) == (sent.labels, sent.lead_s)
        assert room.bring_in(_returned(room, odd)).outcomes == {"added": 10}


@pytest.mark.parametrize("what", ["turns", "dialogues", "all ids"])
def test_ids_that_came_apart_from_their_rows_are_told(run: Path, what: str) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        rows = _filled_in(room)
        if what == "all ids":  # one column sorted alone
            for row, item in zip(rows, sorted(row["item"] for row in rows), strict=True):
                row["item"] = item
        else:
            some = [row for row in rows if ("#" in row["item"]) == (what == "turns")][:2]
            some[0]["item"], some[1]["item"] = some[1]["item"], some[0]["item"]
        with pytest.raises(InputError) as caught:
            room.bring_in(_returned(room, rows))
        assert room.sheets() == []
    assert {problem.field for problem in caught.value.problems} & {"utterance", "whole dialogue"}
    assert "put the ids of the exported sheet back" in str(caught.value)


def test_signs_that_a_program_lost_are_no_other_words(run: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        rows = _filled_in(room)
        for row in rows:
            row["utterance"] = row["utterance"].replace("'", "\u2019").replace(".", " \ufffd")
            row["whole dialogue"] = ""
        assert room.bring_in(_returned(room, rows)).outcomes == {"added": 10}


def test_other_tools_say_who_is_there_and_who_knows_the_fact(run: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "review")
        (one, *_) = room.dialogues()
        shown = one.exhibit
        task = next(tasks(room.scheme, room.study, [one], blind=True))
        record = next(records(room.scheme, room.study, [one], blind=True))
    (fact,) = shown.facts
    for data in (task["data"], record["fields"]):
        assert isinstance(data, dict)
        assert all(told in data["background"] for _, told in shown.roles)
        assert data["fact"].startswith(f"{fact.knowers[0]}: {fact.text}")
        assert all(claim in data["fact"] for claim in fact.false_claims)


@pytest.mark.anyio
async def test_a_quiz_leaves_without_the_fact_and_without_none(run: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        rows = list(tasks(room.scheme, room.study, room.dialogues(), blind=True))
        config = labelling_config(room.scheme, room.study)
    assert all("fact" not in row["data"] and row["predictions"] == [] for row in rows)
    assert 'value="None"' not in config
    assert "$fact" not in config


def test_every_label_has_its_definition_in_the_project(run: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "review")
        root = ET.fromstring(labelling_config(room.scheme, room.study))
    hints = {c.get("value"): c.get("hint") for c in root.iter("Choice")}
    assert "left out" in str(hints["Quantity"])
    names = {control.get("name") for control in root.iter("Choices")}
    assert names == {"intention", "veracity", "illocutionary", "goal", "issue"}


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore")
async def test_label_studio_accepts_the_project_and_every_task(folder: Path) -> None:
    interface = pytest.importorskip(
        "label_studio_sdk.label_interface", reason="needs label-studio-sdk", exc_type=ImportError
    )
    with ReviewStore.open(folder) as store:
        room = Room(folder, store, "review")
        await room.answer({"Ada": 3, "Bea": 2})
        rows: Any = list(tasks(room.scheme, room.study, room.dialogues(), blind=False))
        project = interface.LabelInterface(labelling_config(room.scheme, room.study))
    assert project.is_valid
    annotations = predictions = 0
    for row in rows:
        assert project.validate_task({"data": row["data"]})
        for annotation in row["annotations"]:
            assert project._validate_object(annotation, return_errors=True) == []
            annotations += 1
        for prediction in row["predictions"]:
            assert project.validate_prediction(prediction, return_errors=True) == []
            predictions += 1
    assert annotations >= 5
    assert predictions == len(rows)


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore")
async def test_argilla_accepts_settings_and_records(folder: Path, tmp_path: Path) -> None:
    argilla = pytest.importorskip("argilla", reason="needs argilla", exc_type=ImportError)
    models = pytest.importorskip("argilla._models", exc_type=ImportError)
    questions = pytest.importorskip("argilla._models._settings._questions", exc_type=ImportError)

    with ReviewStore.open(folder) as store:
        room = Room(folder, store, "review")
        await room.answer({"Ada": 3, "Bea": 2})
        rows: Any = list(records(room.scheme, room.study, room.dialogues(), blind=False))
        settings: Any = dataset_settings(room.scheme, room.study)
    options = {}
    for field in settings["fields"]:
        models.FieldModel(**field)
    for question in settings["questions"]:
        model = questions.QuestionModel(**question)
        options[model.name] = getattr(model.settings, "options", None)
    responses = 0
    for row in rows:
        record = argilla.Record.from_dict(row)
        assert record.to_dict()["id"] == row["id"]
        assert set(record.to_dict()["fields"]) == {f["name"] for f in settings["fields"]}
        answered = [(s.question_name, s.value) for s in record.suggestions]
        answered += [(r.question_name, r.value) for r in record.responses]
        responses += len(list(record.responses))
        for question, value in answered:
            if options[question] is not None:
                chosen = set(value if isinstance(value, list) else [value])
                assert chosen <= {option["value"] for option in options[question]}
        assert {str(r.user_id) for r in record.responses} <= {user_id("A01"), user_id("A02")}
    assert responses > 5


def test_sheets_are_of_codes_only() -> None:
    assert "name" not in Sheet.__dataclass_fields__
