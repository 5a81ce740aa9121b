"""Whatever is wrong with a file, it is read with a report, or refused in one message; nothing is lost."""

import csv
import io
import json

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from quality.tables.checking import checked
from quality.tables.reading import read_table
from quality.tables.table_map import TableMap
from scenarios.errors import UsageError
from tests.quality.tables.test_reading import SCHEME

LONG = """
id: tones
rows: turns
encodings: [utf-8, mac_roman]
annotator: {column: who}
texts:
  - {role: asker, column: asked}
  - {role: teller, column: told}
answers:
  tone: {column: tone, values: {'1': warm, '2': cold}}
  won: {column: won, several: true, separators: '#'}
"""
WIDE = """
id: tones
rows: dialogues
dialogue: id
texts: [{role: teller, column: said}]
notes: remarks
answers:
  tone: {columns: 'tone_{annotator}'}
  won: {columns: 'won_{annotator}', several: true}
"""
LONG_HEADER = ["who", "asked", "told", "tone", "won"]
WIDE_HEADER = ["id", "said", "tone_Al", "tone_Bo", "won_Al", "won_Bo", "remarks"]
LAYOUTS = {LONG: LONG_HEADER, WIDE: WIDE_HEADER}


def clean_rows(mapping, number):
    """Return the rows of a file in which nothing is odd."""
    if mapping == LONG:
        return [[who, f"{n}?", f"So {n}.", str(1 + n % 2), "asker#teller"]
                for n in range(number) for who in ("Al", "Bo")]  # fmt: skip
    return [[str(n), f"So {n}.", "warm", "cold", "['asker']", '["asker", "teller"]', "ok"]
            for n in range(number)]  # fmt: skip


def as_text(header, rows, delimiter=",", newline="\n"):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=newline)
    writer.writerows([header, *rows])
    return out.getvalue()


# Every kind of dirt takes (draw, header, rows) and returns the bytes of the file.
def with_byte_order_mark(draw, header, rows):
    return b"\xef\xbb\xbf" + as_text(header, rows).encode()


def in_utf_16(draw, header, rows):
    return as_text(header, rows).encode("utf-16")


def in_another_encoding(draw, header, rows):
    rows[draw(place(rows))][1] += " …é"
    return as_text(header, rows).encode("mac_roman")


def in_two_encodings(draw, header, rows):
    rows[0][1] += " é"
    head, _, tail = as_text(header, rows).partition("\n")
    return head.encode() + b"\n" + tail.encode() + "…,é\n".encode("mac_roman")


def with_no_encoding_at_all(draw, header, rows):
    return as_text(header, rows).encode() + draw(st.binary(max_size=40))


def ragged(draw, header, rows):
    row = draw(place(rows))
    rows[row] = rows[row][: draw(st.integers(0, len(header)))]
    return as_text(header, rows).encode()


def with_more_cells(draw, header, rows):
    rows[draw(place(rows))] += draw(st.lists(st.sampled_from(["", "x", " "]), max_size=4))
    return as_text(header, rows).encode()


def without_a_column(draw, header, rows):
    column = draw(st.integers(0, len(header) - 1))
    cut = [row[:column] + row[column + 1 :] for row in [header, *rows]]
    return as_text(cut[0], cut[1:]).encode()


def with_repeated_rows(draw, header, rows):
    rows.insert(draw(place(rows)), list(rows[draw(place(rows))]))
    return as_text(header, rows).encode()


def with_unknown_values(draw, header, rows):
    rows[draw(place(rows))][draw(st.integers(0, len(header) - 1))] = draw(st.text(max_size=12))
    return as_text(header, rows).encode("utf-8", "surrogatepass")


def empty(draw, header, rows):
    return draw(st.sampled_from([b"", b"\n", b"\xef\xbb\xbf", b" \r\n\r\n", b"\0\0"]))


def header_alone(draw, header, rows):
    return as_text(header, []).encode()


def with_zero_bytes(draw, header, rows):
    rows[draw(place(rows))][draw(st.integers(0, len(header) - 1))] += "\0"
    return as_text(header, rows).encode()


def with_another_delimiter(draw, header, rows):
    return as_text(header, rows, delimiter=draw(st.sampled_from(";\t|"))).encode()


def with_two_delimiters(draw, header, rows):
    kept, other = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    return (as_text(header, kept) + as_text(other[0], other[1:], delimiter=";")).encode()


def with_newlines_in_cells(draw, header, rows):
    rows[draw(place(rows))][1] = "first\nsecond\r\nthird"
    return as_text(header, rows).encode()


def with_an_open_quote(draw, header, rows):
    text = as_text(header, rows)
    lines = text.splitlines(keepends=True)
    number = draw(st.integers(1, len(lines) - 1))
    lines[number] = '"' + lines[number]
    return "".join(lines).encode()


def with_quotes_inside(draw, header, rows):
    lines = as_text(header, rows).splitlines()
    number = draw(st.integers(1, len(lines) - 1))
    return "\n".join(
        [*lines[:number], lines[number].replace("So", 'S"o'), *lines[number + 1 :]]
    ).encode()


def with_trailing_separators(draw, header, rows):
    return "".join(f"{line},,\n" for line in as_text(header, rows).splitlines()).encode()


def with_repeated_names(draw, header, rows):
    again = draw(st.sampled_from(header))
    return as_text([*header, again], [[*row, "x"] for row in rows]).encode()


def with_unnamed_columns(draw, header, rows):
    named = ["", *header]
    return as_text(named, [[str(n), *row] for n, row in enumerate(rows)]).encode()


def with_words_for_numbers(draw, header, rows):
    rows[draw(place(rows))][0] = draw(st.sampled_from(["x-7", "7.0", "007", "A 7", "7,5", "-"]))
    return as_text(header, rows).encode()


def with_blank_cells(draw, header, rows):
    for column in draw(st.sets(st.integers(0, len(header) - 1), max_size=len(header))):
        rows[0][column] = draw(st.sampled_from(["", "  ", "\t", "\u00a0"]))
    return as_text(header, rows).encode()


def with_blank_rows(draw, header, rows):
    rows.insert(draw(place(rows)), [""] * len(header))
    return as_text(header, rows).replace("\n", "\n\n", 1).encode()


def with_more_annotators(draw, header, rows):
    if header[0] == "who":
        return as_text(header, [*rows, ["Cy", *rows[0][1:]]]).encode()
    return as_text([*header, "tone_Cy"], [[*row, "warm"] for row in rows]).encode()


def in_another_case(draw, header, rows):
    change = draw(st.sampled_from([str.upper, str.title, str.swapcase]))
    return as_text(
        [change(name) for name in header], [[change(c) for c in r] for r in rows]
    ).encode()


def with_other_line_ends(draw, header, rows):
    return as_text(header, rows, newline=draw(st.sampled_from(["\r\n", "\r"]))).encode()


def with_huge_cells(draw, header, rows):
    rows[draw(place(rows))][1] = "word " * 60_000
    return as_text(header, rows).encode()


def with_nested_lists(draw, header, rows):
    deep = draw(st.sampled_from(["[[['asker']]]", "[" * 500, '{"choices": [["asker"], []]}', "[1, {}]",
                                 "{'a': ['asker'], 'b': ['teller']}", "[", "['asker'", "[None]"]))  # fmt: skip
    rows[draw(place(rows))][-2 if header[0] == "id" else -1] = deep
    return as_text(header, rows).encode()


def with_numbers_as_floats(draw, header, rows):
    rows[draw(place(rows))][3] = draw(st.sampled_from(["1.0", "2.00", " 1 ", "+1", "1e0", "1,0"]))
    return as_text(header, rows).encode()


def shuffled(draw, header, rows):
    order = draw(st.permutations(range(len(header))))
    pick = [[row[n] for n in order] for row in [header, *rows]]
    return as_text(pick[0], pick[1:]).encode()


def as_json_lines(draw, header, rows):
    lines = [json.dumps(dict(zip(header, row, strict=True))) for row in rows]
    bad = draw(st.sampled_from(["{", "[]", "null", '"x"', "{}", '{"id": NaN}', "\0"]))
    lines.insert(draw(place(rows)), bad)
    return "\n".join(lines).encode()


def with_formulas_and_controls(draw, header, rows):
    rows[draw(place(rows))][1] = draw(
        st.sampled_from(["=1+1", "\x1b[31m", "\u202e", "\x85", "\u2028"])
    )
    return as_text(header, rows).encode()


def place(rows):
    return st.integers(0, len(rows) - 1)


DIRT = [
    with_byte_order_mark, in_utf_16, in_another_encoding, in_two_encodings,
    with_no_encoding_at_all, ragged, with_more_cells, without_a_column, with_repeated_rows,
    with_unknown_values, empty, header_alone, with_zero_bytes, with_another_delimiter,
    with_two_delimiters, with_newlines_in_cells, with_an_open_quote, with_quotes_inside,
    with_trailing_separators, with_repeated_names, with_unnamed_columns, with_words_for_numbers,
    with_blank_cells, with_blank_rows, with_more_annotators, in_another_case,
    with_other_line_ends, with_huge_cells, with_nested_lists, with_numbers_as_floats, shuffled,
    as_json_lines, with_formulas_and_controls,
]  # fmt: skip


def read(tmp_path, mapping, data):
    path = tmp_path / "talk.csv"
    path.write_bytes(data)
    how = TableMap.model_validate(yaml.safe_load(mapping))
    return checked(read_table(how, SCHEME, [path]), SCHEME)


@pytest.mark.parametrize("mapping", LAYOUTS, ids=["long", "wide"])
@pytest.mark.parametrize("dirt", DIRT, ids=lambda dirt: dirt.__name__)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_dirty_file_is_read_with_a_report_or_refused_and_nothing_is_lost(
    tmp_path, mapping, dirt, data
):
    rows = clean_rows(mapping, data.draw(st.integers(2, 4)))
    content = dirt(data.draw, list(LAYOUTS[mapping]), rows)
    try:
        result = read(tmp_path, mapping, content)
    except UsageError:
        return
    [file] = result.table.files
    assert file.rows == file.read + file.left_out
    left_out = [oddity for oddity in result.oddities if oddity.left_out]
    assert len(left_out) == file.left_out
    assert all(str(oddity) and oddity.done for oddity in result.oddities)
    read_cells = {(a.place.row, a.place.column, a.annotator) for a in result.table.answers}
    used = {(a.item, a.annotator, a.dimension) for a in result.answers}
    assert len(used) == len(result.answers)
    # An answer that is written is used, or its cell is named.
    named = {(o.place.row, o.place.column) for o in result.oddities}
    for answer in result.table.answers:
        if (answer.item, answer.annotator, answer.dimension) not in used:
            assert (answer.place.row, answer.place.column) in named
    assert len(read_cells) == len(result.table.answers)


@pytest.mark.parametrize("mapping", LAYOUTS, ids=["long", "wide"])
@pytest.mark.parametrize(
    "dirt",
    [with_byte_order_mark, in_utf_16, with_another_delimiter, with_other_line_ends, shuffled,
     with_trailing_separators, with_newlines_in_cells, with_huge_cells],
    ids=lambda dirt: dirt.__name__,
)  # fmt: skip
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_another_form_of_the_same_rows_gives_the_same_answers(tmp_path, mapping, dirt, data):
    clean = read(tmp_path, mapping, as_text(LAYOUTS[mapping], clean_rows(mapping, 3)).encode())
    content = dirt(data.draw, list(LAYOUTS[mapping]), clean_rows(mapping, 3))
    again = read(tmp_path, mapping, content)
    assert {(a.item, a.annotator, a.dimension, a.value) for a in again.answers} == {
        (a.item, a.annotator, a.dimension, a.value) for a in clean.answers
    }


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=400), headed=st.booleans())
@example(data=b"Al,Was it?,No.,1,asker", headed=True)
def test_any_bytes_at_all_are_read_or_refused(tmp_path, data, headed):
    for mapping, header in LAYOUTS.items():
        try:
            content = as_text(header, []).encode() + data if headed else data
            [file] = read(tmp_path, mapping, content).table.files
        except UsageError:
            continue
        assert file.rows == file.read + file.left_out


def test_what_a_file_may_do_without_is_not_odd_where_it_lacks_it(tmp_path):
    data = as_text([name for name in LONG_HEADER if name != "won"], [["Al", "Was it?", "No.", "1"]])
    lacks_won = read(tmp_path, LONG, data.encode())
    assert [odd.code for odd in lacks_won.oddities] == ["missing_column"]
    optional = LONG.replace("separators: '#'}", "separators: '#', optional: true}")
    may_lack_it = read(tmp_path, optional, data.encode())
    assert may_lack_it.oddities == ()
    assert [answer.dimension for answer in may_lack_it.answers] == ["tone"]


def test_a_header_that_goes_on_with_separators_has_the_columns_that_have_names(tmp_path):
    header = ",".join(LONG_HEADER)
    rows = as_text(LONG_HEADER, clean_rows(LONG, 2))
    found = read(tmp_path, LONG, rows.replace(header, header + "," * 300_000, 1).encode())
    clean = read(tmp_path, LONG, rows.encode())
    assert len(found.answers) == len(clean.answers) > 0
