"""Round trips with Label Studio and CSV, and what Argilla makes of our records."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import orjson
import pytest

from hipo.app.review.exchange import export_answers
from hipo.app.review.reviewing import ReviewOptions, open_study, run_material, scenario_finder
from pipeline.store.reviews import ReviewStore
from pipeline.store.writer import Writer
from quality.review.exchange import Outgoing, outgoing
from quality.review.exhibits import Exhibits
from quality.review.export_argilla import dataset_settings, records, user_id
from quality.review.export_label_studio import labelling_config, tasks
from quality.review.forms import sections
from quality.review.import_csv import read_csv
from quality.review.import_label_studio import read_label_studio
from quality.review.importing import ImportedReviews, check_incoming, merge_all
from quality.review.spreadsheet import answer_lines, blank_lines
from scenarios.errors import InputError, UsageError
from scenarios.reviews import GivenLabel, Opinion, ReviewStudy, Sheet
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from tests.quality.review.cei_run import make_cei_run

ODD = """[{"data": {"item": "c/a#3"}, "annotations": [{"completed_by": 1, "result":
    [{"from_name": "%s", "value": {"choices": %s}}]}]}]"""
NOTE = '=cmd|" /C calc"!A0'


class Room:
    """An open study with everything an exchange needs."""

    def __init__(self, folder: Path, store: ReviewStore, mode: str) -> None:
        self.store = store
        material = run_material(folder)
        self.scheme: Scheme = material.scheme
        wishes = ReviewOptions(mode=mode, everything=True, per_item=2)
        self.study: ReviewStudy = open_study(store, material, wishes)
        self.exhibits = Exhibits(
            store, self.scheme, self.study, scenario_finder(material, self.study)
        )

    def dialogues(self) -> list[Any]:
        return list(outgoing(self.store, self.study, self.exhibits))

    def sheets(self) -> list[tuple[str, str, frozenset[GivenLabel], Opinion | None]]:
        return sorted(
            (s.item.id, s.annotator, frozenset(s.labels), s.opinion)
            for s in self.store.sheets.sheets(self.study)
        )

    async def answer(self, names: Mapping[str, int]) -> None:
        """Let people answer some items each."""
        for name, count in names.items():
            who = self.store.people.known_as(name).seq
            for position in range(count):
                number = await self.store.take(self.study, who, lease_s=600)
                assert number is not None
                await self._answer_one(number, who, position)

    async def _answer_one(self, number: int, who: int, position: int) -> None:
        found = self.store.assignment(self.study, number, who)
        assert found is not None
        turns = self.exhibits.of(found.item).targets
        labels = []
        for section in sections(self.scheme, turns, self.study.hidden):
            for field in section.fields:
                offered = field.dimension.point_values or [c.value for c in field.choices]
                labels.append(
                    GivenLabel(
                        field.turn, field.dimension.id, offered[(position + who) % len(offered)]
                    )
                )
        reviewing = self.study.mode == "review"
        opinion = Opinion(
            issue=position % 2 == 0 if reviewing else None,
            issue_reason="goal" if reviewing and position % 2 == 0 else "",
            note=NOTE if position == 0 else "",
            lead_s=12.5,
        )
        await self.store.submit(self.study, number, who, labels, opinion, lease_s=600)

    def bring_in(self, incoming: Any) -> ImportedReviews:
        checked = check_incoming(
            self.store, self.study, self.scheme, self.exhibits, incoming, file="f"
        )
        return merge_all(self.store, self.study, checked, origin="import:f")


@pytest.fixture(params=["hipo", "cei"])
def folder(request: pytest.FixtureRequest, run: Path, tmp_path: Path) -> Path:
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


def test_a_mistake_is_told_by_the_row_that_a_spreadsheet_shows() -> None:
    text = 'item,annotator,veracity,note\nc/a#3,Ada,Quality,"one\ntwo"\n\nnonsense,Ada,Quality,\n'
    with pytest.raises(InputError) as caught:
        read_csv(text, load_scheme("hipo"), "f")
    assert [problem.line for problem in caught.value.problems] == [4]


@pytest.mark.anyio
async def test_parts_of_a_file_are_merged_and_never_too_many(run: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        item = store.sheets.items(room.study)[0][0].id
        for annotator in ("Ada", "Bea"):
            part = f"item,annotator,veracity\n{item}#3,{annotator},Quality\n"
            assert room.bring_in(read_csv(part, room.scheme, "f")).outcomes == {"added": 1}
        more = f"item,annotator,goal\n{item},Ada,deception\n"
        assert room.bring_in(read_csv(more, room.scheme, "f")).outcomes == {"changed": 1}
        third = f"item,annotator,veracity\n{item}#3,Cleo,Quality\n"
        done = room.bring_in(read_csv(third, room.scheme, "f"))
        assert done.outcomes == {"surplus": 1}
        ada = next(s for s in room.sheets() if s[1] == "A01")
    assert ada[2] == {GivenLabel(3, "veracity", "Quality"), GivenLabel(None, "goal", "deception")}


def test_a_file_with_one_mistake_changes_nothing(run: Path) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        item = store.sheets.items(room.study)[0][0].id
        text = (
            f"item,annotator,veracity\n{item}#3,Ada,Quality\n{item}#3,Bea,Qualty\n"
            f"{item}#2,Cleo,Quality\nno/such#3,Ada,Quality\n{item}#3,Dora,None\n"
            f"{item}#5,Bea,Quantty\n"
        )
        with pytest.raises(InputError) as caught:
            room.bring_in(read_csv(text, room.scheme, "f"))
        assert room.sheets() == []
    assert {problem.line for problem in caught.value.problems} == {3, 4, 5, 6, 7}
    said = str(caught.value)
    assert "'Qualty' by Bea" in said
    assert "did you mean 'Quality'" in said
    assert "turn 2" in said
    assert "'no/such'" in said
    assert "'None' by Dora" in said


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1]",
        "nonsense",
        '[{"data": {}}]',
        '[{"data": {"item": "c/a#3"}, "annotations": [{"completed_by": 1, "result": 1}]}]',
        '[{"data": {"item": "c/a#3"}, "annotations": [{"result": []}]}]',
        ODD % ("veracty", '["Quality"]'),
        ODD % ("veracity", '["Quality", "Manner"]'),
        ODD % ("note", "[1]"),
        ODD % ("issue", '{"a": 1}'),
    ],
)
def test_what_is_no_label_studio_export_is_refused(run: Path, text: str) -> None:
    with pytest.raises(InputError):
        read_label_studio(text, run_material_scheme(run), "f")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("{item}#3," + "n" * 201 + ",Quality,1", "annotator"),
        ("{item}#3,Ada,Quality,1e999", "lead_s"),
        ('"{item}#3,Ada,Quality,1\n', ""),  # the quotation mark would swallow all that follows
    ],
)
def test_what_no_answer_takes_is_refused(run: Path, row: str, field: str) -> None:
    with ReviewStore.open(run) as store:
        room = Room(run, store, "quiz")
        item = store.sheets.items(room.study)[0][0].id
        text = f"item,annotator,veracity,lead_s\n{row.format(item=item)}\n"
        with pytest.raises(InputError) as caught:
            room.bring_in(read_csv(text, room.scheme, "f"))
        assert room.sheets() == []
    assert [problem.field for problem in caught.value.problems] == [field]


def test_remarks_on_several_rows_and_columns_without_a_name_are_taken_as_people_leave_them(
    run: Path,
) -> None:
    scheme = run_material_scheme(run)
    rows = ("item,annotator,issue,note,,", "c/a#3,Ada,,too short,,", "c/a#5,Ada,,odd,", ",,,,,",
            "c/a,Ada,Confirmed,odd after all,,", "c/a,Bo,confirmed,odd,,", "c/a#3,Bo,,odd,,")  # fmt: skip
    ada, bo = read_csv("\n".join(rows), scheme, "f")
    assert ada.opinion == {"note": "too short\nodd\nodd after all", "issue": "Confirmed"}
    assert bo.opinion == {"note": "odd", "issue": "confirmed"}
    with pytest.raises(InputError) as caught:
        read_csv("\n".join([*rows, "c/a#3,Bo,rejected,,,", "c/a#3,Bo,,no,name,"]), scheme, "f")
    problems = [(p.line, p.field, p.found) for p in caught.value.problems]
    assert problems == [(8, "issue", "a second answer"), (9, "", "more cells than columns")]


def run_material_scheme(folder: Path) -> Scheme:
    with ReviewStore.open(folder):
        return run_material(folder).scheme


def test_people_of_label_studio_become_names_without_an_address(run: Path) -> None:
    text = (
        '[{"data": {"item": "c/a#3"}, "annotations": ['
        '{"completed_by": {"email": "ada@example.org"}, "result": []},'
        '{"completed_by": 7, "result": []},'
        '{"completed_by": 8, "was_cancelled": true, "result": []}]}]'
    )
    incoming = read_label_studio(text, run_material_scheme(run), "f")
    assert [sheet.annotator for sheet in incoming] == ["Label Studio ada", "Label Studio 7"]


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
                assert value in [option["value"] for option in options[question]]
        assert {str(r.user_id) for r in record.responses} <= {user_id("A01"), user_id("A02")}
    assert responses > 5


def test_the_form_to_print_is_a_pdf_with_every_dialogue(run: Path) -> None:
    pdf = pytest.importorskip("quality.review.export_pdf", exc_type=ImportError)
    with ReviewStore.open(run) as store:
        room = Room(run, store, "review")
        once = pdf.write_pdf(room.scheme, room.study, room.dialogues())
        again = pdf.write_pdf(room.scheme, room.study, room.dialogues())
    assert once.startswith(b"%PDF-")
    assert once.count(b"/Type /Page\n") >= 11
    assert once == again


def test_the_form_to_print_chooses_fonts_and_refuses_scripts_it_has_none_for(run: Path) -> None:
    pdf = pytest.importorskip("quality.review.export_pdf", exc_type=ImportError)

    def form(title: str) -> bytes:
        with ReviewStore.open(run) as store:
            room = Room(run, store, "review")
            scheme = room.scheme.model_copy(update={"title": title})
            made: bytes = pdf.write_pdf(scheme, room.study, [])
            return made

    assert b"HeiseiMin-W3" in form("\u904e\u3061\u306e\u6271\u3044")
    assert b"HYSMyeongJo-Medium" in form("\uc2e4\uc218")
    assert b"STSong-Light" in form("\u8fc7\u9519")
    assert form("M\u00fc\u00dfiggang \u2013 \u201eja\u201c")
    for title in ("\u062e\u0637\u0623", "\u043e\u0448\u0438\u0431\u043a\u0430"):
        with pytest.raises(UsageError, match=r"no font for (Arabic|Cyrillic) letters"):
            form(title)


def test_sheets_are_of_codes_only() -> None:
    assert "name" not in Sheet.__dataclass_fields__
