import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.reasoning.completing import completed
from quality.reasoning.form import COLUMNS, log_name, read_form
from quality.reasoning.gold import gold
from scenarios.errors import UsageError
from tests.pipeline.reasoning.games import unhurried

ROW = {
    "file": "log_1.txt",
    "game": "pd",
    "attempts": "2",
    "orig_choice": "R",
    "final_choice": "B",
    "orig_cor": "0",
    "fin_cor": "1",
    "err_type": "pa#rga",
    "sentence": "First.#Second; third, fourth.",
}


def table(*rows, delimiter=",", columns=COLUMNS):
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, delimiter=delimiter, restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def form_of(tmp_path, text, name="rater.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_form(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_form_is_read_with_any_delimiter(tmp_path, delimiter):
    form = form_of(tmp_path, table(ROW, delimiter=delimiter))
    (row,) = form.rows.values()
    assert (row.log, row.correct) == ("log_1", {"original": False, "final": True})
    assert row.error_types == ("payoff assignment", "risk/gain")
    assert row.cells["sentence"] == ROW["sentence"]
    assert not form.oddities
    assert not form.is_merged


@pytest.mark.parametrize(
    ("change", "code", "read"),
    [
        ({"err_type": "Pc"}, "other_spelling", ("payoff comparison",)),
        ({"err_type": "pa # pc"}, None, ("payoff assignment", "payoff comparison")),
        ({"err_type": "0"}, "unknown_error_type", ()),
        ({"err_type": "rga#"}, "unknown_error_type", ("risk/gain",)),
        ({"err_type": "pa#pa#u"}, None, ("payoff assignment", "unclassified")),
        ({"orig_cor": "1"}, "contradiction", ("payoff assignment", "risk/gain")),
        ({"attempts": "1"}, "contradiction", ("payoff assignment", "risk/gain")),
        ({"orig_cor": "maybe"}, "unknown_value", ("payoff assignment", "risk/gain")),
        ({"orig_cor": ""}, "not_answered", ("payoff assignment", "risk/gain")),
        ({"orig_cor": "0.0"}, "other_spelling", ("payoff assignment", "risk/gain")),
    ],
)
def test_what_is_odd_in_a_row_is_told_and_the_rest_is_read(tmp_path, change, code, read):
    form = form_of(tmp_path, table({**ROW, **change}))
    assert form.rows["log_1"].error_types == read
    assert [oddity.code for oddity in form.oddities] == ([] if code is None else [code])
    assert all(oddity.place.row == 1 for oddity in form.oddities)


@pytest.mark.parametrize(
    ("attempts", "final", "codes"), [("1", False, []), ("2", None, ["not_answered"])]
)
def test_the_only_attempt_is_the_last_one_too(tmp_path, attempts, final, codes):
    form = form_of(tmp_path, table({**ROW, "attempts": attempts, "fin_cor": ""}))
    assert form.rows["log_1"].correct == {"original": False, "final": final}
    assert [oddity.code for oddity in form.oddities] == codes


def test_a_second_row_for_a_log_is_told_with_what_differs(tmp_path):
    form = form_of(tmp_path, table(ROW, {**ROW, "remarks": "odd"}, {**ROW, "file": ""}))
    told = [(oddity.code, oddity.found, oddity.left_out) for oddity in form.oddities]
    assert told == [
        ("second_row", "a second row for log_1.txt, which differs in remarks", True),
        ("no_log", "a row without the name of a log", True),
    ]
    assert (len(form.rows), form.all_rows) == (1, 3)


def test_logs_are_named_alike_with_and_without_folder_and_ending():
    assert {
        log_name(name) for name in ("log_1", "log_1.txt", "a/Log_1.TXT", r"c:\x\log_1.txt")
    } == {"log_1"}


def test_columns_are_found_whatever_their_order_and_spelling(tmp_path):
    text = "Fin Cor;ORIG_COR;mine;File\n1;0;a note;log_1.txt\n"
    form = form_of(tmp_path, text)
    assert form.rows["log_1"].correct == {"original": False, "final": True}
    assert form.rows["log_1"].cells["mine"] == "a note"


def test_a_table_without_a_column_that_is_needed_is_refused(tmp_path):
    with pytest.raises(UsageError, match="found no column 'orig_cor'"):
        form_of(tmp_path, "file,game\nlog_1.txt,pd\n")


cells = st.sampled_from(["", "0", "1", "pa#", "log_1.txt", "a;b", 'say "so"', "x,y", "\0", "é\n"])


@unhurried
@given(
    st.lists(st.lists(cells, max_size=14), max_size=5),
    st.sampled_from(",;\t|"),
    st.binary(max_size=20),
)
def test_any_form_is_read_with_every_row_accounted_for(tmp_path_factory, rows, delimiter, tail):
    text = io.StringIO(table(delimiter=delimiter))
    text.seek(0, io.SEEK_END)
    csv.writer(text, delimiter=delimiter).writerows(rows)
    form = form_of(tmp_path_factory.mktemp("forms"), text.getvalue().encode() + tail)
    left_out = {oddity.place.row for oddity in form.oddities if oddity.left_out}
    assert len(form.rows) + len(left_out) == form.all_rows


def test_no_cell_of_a_completed_form_is_a_formula_and_read_again_it_is_the_same(tmp_path):
    said = {
        **ROW,
        "file": "=1+1_pd.txt",
        "remarks": "=HYPERLINK(1)",
        "=more": "@x",
        "orig_cor": "0",
    }
    form = form_of(tmp_path, table(said, columns=(*COLUMNS, "=more")))
    written = completed(form, {}, gold([form]))
    for row in csv.reader(io.StringIO(written)):
        assert not any(cell.startswith(("=", "@")) for cell in row)
    assert "'=HYPERLINK(1)" in written
    again = form_of(tmp_path, written, "again.csv")
    assert set(form.columns) <= set(again.columns)
    (before,), (after,) = form.rows.values(), again.rows.values()
    assert (after.log, after.correct) == (before.log, before.correct)
    assert before.cells.items() <= after.cells.items()
