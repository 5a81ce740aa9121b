"""Plain tables: the map that their header and their answers make."""

from __future__ import annotations

import pytest

from pipeline.importing.rows import role_key, told_apart
from quality.annotation_qc.findings import QcSettings
from quality.annotation_qc.qc import timing_findings
from quality.tables import records
from quality.tables.checking import CheckedTable, read_files
from quality.tables.derived_map import derived_map
from quality.tables.header import read_header
from quality.tables.parquet import parquet_rows
from quality.tables.table import AnswerTable, TableDialogue, TableTurn
from scenarios.errors import UsageError
from tests.quality.tables.plain_table import answers, read

LONG = """\
item,annotator,dimension,value
u1,Ada,polite,3
u1,Bo,polite,4
u2,Ada,polite,1
u2,Bo,polite,2
u1,Ada,mood,joy
u1,Bo,mood,joy
u2,Ada,mood,anger
u2,Bo,mood,joy
"""
BY_DIMENSION = """\
Item ID;Rater;Polite;Mood;Why
u1;Ada;3;joy;"{why}"
u1;Bo;4;joy;
u2;Ada;1;anger;
u2;Bo;2;joy;
""".replace("{why}", "it sounds as if somebody had won something " * 3)
CROSSED = """\
id\tpolite_Ada\tpolite_Bo\tmood_Ada\tmood_Bo
u1\t3\t4\tjoy\tjoy
u2\t1\t2\tanger\tjoy
"""


EXPECTED = {
    ("u1", "Ada", "polite", "3"), ("u1", "Bo", "polite", "4"), ("u2", "Ada", "polite", "1"),
    ("u2", "Bo", "polite", "2"), ("u1", "Ada", "mood", "joy"), ("u1", "Bo", "mood", "joy"),
    ("u2", "Ada", "mood", "anger"), ("u2", "Bo", "mood", "joy"),
}  # fmt: skip


@pytest.mark.parametrize("text", [LONG, BY_DIMENSION, CROSSED], ids=["long", "by", "crossed"])
def test_the_same_answers_are_read_of_every_form(tmp_path, text):
    table = read(tmp_path, text)
    assert answers(table) == EXPECTED
    kinds = {d.id: d.measurement for d in table.scheme.dimensions}
    assert kinds == {"polite": "ordinal", "mood": "nominal"}
    assert not table.oddities


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encoding_and_delimiter_are_found_out(tmp_path, encoding):
    text = CROSSED.replace("joy", "fröhlich").replace("\t", "|").encode(encoding)
    said = {a.value for a in read(tmp_path, text).answers if a.dimension == "mood"}
    assert said == {"fröhlich", "anger"}


def test_a_small_parquet_file_of_endless_rows_is_refused(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = {"item": "a" * 1000, "annotator": "b" * 1000, "label": "yes"}
    pq.write_table(pa.Table.from_pylist([row] * 100_000), tmp_path / "rows.parquet")
    assert (tmp_path / "rows.parquet").stat().st_size < 100_000
    monkeypatch.setattr(records, "MOST_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="found more than 1 MiB of rows"):
        read_files([tmp_path / "rows.parquet"], None)


def test_the_names_of_columns_are_not_counted_in_every_row_of_a_parquet_file(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = ("item", "annotator", "label", "what_this_person_wrote_besides_in_the_end")
    rows = [dict(zip(names, (f"d{i}", "ann", "yes", ""), strict=True)) for i in range(15_000)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    assert parquet_rows("rows", (tmp_path / "rows.parquet").read_bytes(), 1 << 20) == rows


@pytest.mark.parametrize("kind", ["null", "bool_"])
def test_endless_rows_of_next_to_nothing_are_refused_too(tmp_path, monkeypatch, kind):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = pa.table({"label": pa.nulls(600_000, getattr(pa, kind)())})
    pq.write_table(rows, tmp_path / "rows.parquet")
    monkeypatch.setattr(records, "MOST_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="found more than 1 MiB of rows"):
        read_files([tmp_path / "rows.parquet"], None)


def test_json_lines_and_parquet_are_read_like_delimited_text(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [
        {"item": i, "annotator": who, "score": score}
        for i, scores in enumerate([(1.5, 2.0), (3.25, None), (4.0, 4.5)])
        for who, score in zip(("Ada", "Bo"), scores, strict=True)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    lines = "".join(f"{row}\n".replace("'", '"').replace("None", "null") for row in rows)
    of_parquet = read_files([tmp_path / "rows.parquet"], None)
    assert answers(of_parquet) == answers(read(tmp_path, lines, name="rows.jsonl"))
    assert len(of_parquet.answers) == 5
    assert [(d.measurement, d.range) for d in of_parquet.scheme.dimensions] == [
        ("interval", (1.5, 4.5))
    ]


def test_a_column_for_each_annotator_leaves_texts_and_gold_labels_aside(tmp_path):
    table = read(tmp_path, "id,text,rater_1,rater_2,gold\n1,Hi,a,b,a\n2,Oh,b,b,b\n3,No,a,a,c\n")
    assert set(table.table.annotators) == {"rater_1", "rater_2"}
    assert {a.item: a.value for a in table.gold} == {"1": "a", "2": "b", "3": "c"}
    assert table.scheme.dimensions[0].values == ("a", "b", "c")


def test_seconds_become_timings_of_who_took_them(tmp_path):
    long = read(tmp_path, "item,coder,label,seconds\n1,Ada,a,2.5\n1,Bo,b,NA\n")
    assert [(t.annotator, t.seconds) for t in long.table.timings] == [("Ada", 2.5)]
    wide = "item,label_Ada,label_Bo,seconds_Ada,seconds_Bo\n1,a,b,2,3\n2,b,b,4,5\n"
    timings = read(tmp_path, wide).table.timings
    assert {(t.item, t.annotator): t.seconds for t in timings} == {
        ("1", "Ada"): 2, ("1", "Bo"): 3, ("2", "Ada"): 4, ("2", "Bo"): 5,
    }  # fmt: skip
    assert len(long.scheme.dimensions) == 1


def timed(table: CheckedTable) -> dict[tuple[str, str], tuple[float, int]]:
    return {(t.item, t.annotator): (t.seconds, t.decisions) for t in table.table.timings}


def test_the_rows_of_an_item_add_up_to_the_time_of_its_annotator(tmp_path):
    rows = (
        "u1,A,mood,joy,2.5\nu1,A,tone,dry,4.5\nu1,B,mood,joy,1.5\nu2,A,mood,NA,2\nu2,A,tone,dry,2\n"
    )
    table = read(tmp_path, f"item,annotator,dimension,value,seconds\n{rows}")
    assert timed(table) == {("u1", "A"): (7, 2), ("u1", "B"): (1.5, 1), ("u2", "A"): (4, 1)}


def test_a_time_that_all_rows_of_an_item_repeat_is_the_time_of_the_item(tmp_path):
    rows = "u1,A,mood,joy,9\nu1,A,tone,dry,9\nu2,A,mood,joy,7\nu2,A,tone,wry,7\nu2,B,mood,joy,5\n"
    table = read(tmp_path, f"item,annotator,dimension,value,seconds\n{rows}")
    assert timed(table) == {("u1", "A"): (9, 2), ("u2", "A"): (7, 2), ("u2", "B"): (5, 1)}


def test_a_row_of_several_answers_holds_as_many_decisions(tmp_path):
    table = read(tmp_path, "item,rater,mood,tone,seconds\nu1,A,joy,dry,2.5\nu1,B,joy,NA,1.5\n")
    assert timed(table) == {("u1", "A"): (2.5, 2), ("u1", "B"): (1.5, 1)}


def test_honest_times_of_two_decisions_are_not_too_fast(tmp_path):
    rows = "".join(
        f"u{i},{who},{dimension},x,{1.5 + (7 * i + j) % 6}\n"
        for i in range(30)
        for who in "ABC"
        for j, dimension in enumerate(("mood", "tone"))
    )
    table = read(tmp_path, f"item,annotator,dimension,value,seconds\n{rows}")
    found = timing_findings(table.table.timings, QcSettings())
    assert len(table.table.timings) == 90
    assert [finding for finding in found if finding.code == "too_fast"] == []


def test_items_of_a_dialogue_belong_together(tmp_path):
    table = read(tmp_path, "dialogue,turn,annotator,label\nd,1,A,x\nd,1,B,y\nd,2,A,x\ne,1,B,x\n")
    assert [(a.item, a.dialogue) for a in table.answers] == [
        ("d#0", "d"), ("d#0", "d"), ("d#1", "d"), ("e#0", "e"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("0 1 1 0", "nominal"),
        ("1 2 3 5", "ordinal"),
        ("1.0 2.0 5.0 3", "ordinal"),
        ("1.5 2 3 4", "interval"),
        ("0 17 35 80 99 3 4 5 6 7 8 9", "interval"),
        ("a b 1 2", "nominal"),
    ],
)
def test_what_numbers_count_as_follows_from_how_many_and_which_there_are(tmp_path, written, kind):
    rows = "".join(f"{i},A,{x}\n" for i, x in enumerate(written.split()))
    table = read(tmp_path, f"item,annotator,label\n{rows}")
    assert table.scheme.dimensions[0].measurement == kind
    assert len(table.answers) == len(written.split())


@pytest.mark.parametrize("numbers", ["nominal", "ordinal", "interval"])
def test_numbers_count_as_what_is_asked_for_and_words_stay_labels(tmp_path, numbers):
    table = read(tmp_path, LONG, numbers=numbers)
    kinds = {d.id: d.measurement for d in table.scheme.dimensions}
    assert kinds == {"polite": numbers, "mood": "nominal"}
    assert len(table.answers) == 8


def test_a_mistake_among_numbers_is_named_and_not_a_label(tmp_path):
    rows = "".join(f"{i},A,{i % 5}\n" for i in range(19))
    table = read(tmp_path, f"item,annotator,rating\n{rows}19,A,five\n")
    assert table.scheme.dimensions[0].values == ("0", "1", "2", "3", "4")
    assert [(f.code, f.value) for f in table.findings] == [("unknown_value", "five")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sentence,Ada,Bo\nHi,a,b\n", "found no column that names the items"),
        ("id,mood,polite\n1,joy,3\n2,anger,2\n", "no answer of the column 'mood'"),
        ("id,mood\n1,joy\n2,anger\n", "nor one for each of at least two"),
        ("item,annotator,text\n1,Ada,hm\n", "no column of labels or numbers"),
        ("item,annotator,dimension,value\n1,Ada,mood,\n", "found no answers in the column 'value'"),
    ],
)
def test_a_form_that_cannot_be_told_is_one_error_that_says_how_to_go_on(tmp_path, text, found):
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert found in message
    assert "its columns: " + ", ".join(text.splitlines()[0].split(",")) in message
    assert "a column per annotator" in message
    assert "--map" in message


def test_a_table_of_a_map_that_ships_is_not_taken_for_a_plain_one(tmp_path):
    asked = [f"sl_{q}_{who}" for q in ("plutchik_primary", "v", "a", "d", "confidence")
             for who in ("Ada", "Bo")]  # fmt: skip
    header = ["id", "sd_situation", "sd_speaker_role", "sd_utterance", *asked]
    rows = [
        ",".join([str(n), "The lift is stuck.", "guest", "Lovely.", *["same"] * 10]) for n in "12"
    ]
    with pytest.raises(UsageError, match="columns are those of the map cei") as caught:
        read(tmp_path, "\n".join([",".join(header), *rows]) + "\n")
    assert caught.value.hint is not None
    assert "--map cei" in caught.value.hint


def test_order_asked_for_of_words_is_refused(tmp_path):
    with pytest.raises(UsageError, match="found no numbers among the answers"):
        read(tmp_path, "item,annotator,label\n1,A,low\n1,B,high\n", numbers="ordinal")


def test_files_of_one_form_are_one_table_and_others_are_refused(tmp_path):
    for who in ("Ada", "Bo"):
        (tmp_path / f"{who}.csv").write_text(f"item,annotator,label\n1,{who},a\n2,{who},b\n")
    both = read_files([tmp_path / "Ada.csv", tmp_path / "Bo.csv"], None)
    assert len(both.answers) == 4
    assert {a.item for a in both.answers} == {"1", "2"}
    (tmp_path / "Cy.csv").write_text("item,Ada\n1,a\n")
    with pytest.raises(UsageError, match=r"Cy\.csv: other columns than in .*Ada, annotator, label"):
        read_files([tmp_path / "Ada.csv", tmp_path / "Cy.csv"], None)


def test_items_of_a_plain_table_keep_the_names_that_the_file_gives_them(tmp_path):
    table = read(tmp_path, "item,annotator,label\n7,Ada,a\n07,Ada,b\n1234,Ada,a\n")
    assert {a.item: a.value for a in table.answers} == {"7": "a", "07": "b", "1234": "a"}
    assert not table.oddities


@pytest.mark.parametrize("name", ["annotation_id", "Completion ID", "submissionId", "uuid", "PID"])
def test_ids_that_other_tools_write_are_no_answers(tmp_path, name):
    rows = "".join(
        f"{i},{who},joy,{100 + 2 * i + n}\n" for i in range(9) for n, who in enumerate("AB")
    )
    table = read(tmp_path, f"id,annotator,sentiment,{name}\n{rows}")
    assert [d.id for d in table.scheme.dimensions] == ["sentiment"]


def test_what_everybody_has_alike_on_each_item_or_one_person_on_all_is_no_answer(tmp_path):
    rows = "".join(
        f"{i},{who},{'abc'[(i * n + n) % 3]},{'chat' if i % 3 else 'mail'},{20 + 9 * n},{7 + 3 * i + n}\n"
        for i in range(30)
        for n, who in enumerate(("Ada", "Bo"), 1)
    )
    header = "item,annotator,{},condition,age,trial_no\n"
    table = read(tmp_path, header.format("label") + rows)
    assert [d.id for d in table.scheme.dimensions] == ["label"]
    assert set(table.table.dialogues[0].context) >= {"condition", "age", "trial_no"}
    assert (
        "no answers: condition, age, trial_no (a --map says otherwise)"
        in derived_map([tmp_path / "a.csv"]).title
    )
    turk = read(tmp_path, header.format("Answer.politeness") + rows)
    assert [d.title for d in turk.scheme.dimensions] == ["Answer.politeness"]
    unnamed = read(tmp_path, header.format("politeness") + rows)
    assert [d.id for d in unnamed.scheme.dimensions] == ["politeness", "condition"]
    few = read(tmp_path, header.format("label") + "".join(rows.splitlines(keepends=True)[:18]))
    assert [d.id for d in few.scheme.dimensions] == ["label", "condition", "age", "trial_no"]


def test_times_in_milliseconds_and_what_was_shown_are_no_answers():
    header = read_header(
        ["item", "worker", "label", "rt_ms", "Duration (ms)", "Input.text", "terms"]
    )
    assert header.others == ("terms",)


def test_words_that_merely_end_like_an_id_may_be_answers():
    header = read_header(["item", "annotator", "valid", "Paid", "humid"])
    assert header.others == ("valid", "Paid", "humid")


def test_names_of_columns_are_known_in_any_spelling():
    header = read_header(["Utterance ID", "workerId", "Label", "Time-Spent", "Confidence", "Text"])
    assert (header.item, header.annotator) == ("Utterance ID", "workerId")
    assert (header.value, header.seconds) == ("Label", "Time-Spent")
    assert (header.others, header.aside) == (("Confidence",), ("Text",))


@pytest.mark.parametrize(
    "columns", [["情感", "礼貌", "Mood!", "mood?"], ["1st", "_", "a b", "A_B"]]
)
def test_any_name_of_a_column_becomes_a_dimension_of_its_own(tmp_path, columns):
    table = read(tmp_path, f"item,annotator,{','.join(columns)}\n1,A,x,y,x,y\n2,A,y,x,x,x\n")
    assert [d.title for d in table.scheme.dimensions] == columns
    assert len(table.answers) == 8


def test_two_people_of_a_dialogue_whose_names_differ_in_accents_have_two_roles():
    def said(name, *people):
        return TableDialogue(name, "g", tuple(TableTurn(who, "Hello") for who in people))

    dialogues = (said("d1", "Jose", "José"), said("d2", "José", "Jose Ann"))
    first, second, third, fourth = AnswerTable(dialogues, (), (), (), (), ()).roles.values()
    assert (first, third, fourth) == ("jose", "jose", "jose_ann")
    assert second != first
    keys = told_apart({who: role_key(who) for who in ("Jose", "José")})
    assert [first, second] == list(keys.values()), "as in a run that is made of the file"
