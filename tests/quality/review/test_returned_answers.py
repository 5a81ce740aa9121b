"""What comes back from other tools: merged, or refused with the place of the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.review.reviewing import run_material
from pipeline.store.reviews import ReviewStore
from quality.review.import_csv import read_csv
from quality.review.import_label_studio import read_label_studio
from scenarios.errors import InputError
from scenarios.reviews import GivenLabel
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from tests.quality.review.open_study import Room

ODD = """[{"data": {"item": "c/a#3"}, "annotations": [{"completed_by": 1, "result":
    [{"from_name": "%s", "value": {"choices": %s}}]}]}]"""


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
