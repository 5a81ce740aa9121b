from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quality.tables.cells import cell_value
from quality.tables.checking import checked
from quality.tables.reading import read_table
from quality.tables.table_map import TableMap, Values
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

TONE = {
    "id": "tone",
    "level": "utterance",
    "question": "Which?",
    "labels": [{"id": "warm", "definition": "Kind."}, {"id": "cold", "definition": "Unkind."}],
}
WON = {
    "id": "won",
    "level": "dialogue",
    "measurement": "multi",
    "question": "Who did?",
    "labels": [{"id": "asker", "definition": "One."}, {"id": "teller", "definition": "Other."}],
}
SCHEME = Scheme.model_validate(
    {"id": "tones", "title": "Tones", "assigned": "goal", "dimensions": [
        TONE, WON,
        {"id": "goal", "level": "dialogue", "question": "Which goal?",
         "labels": [{"id": "a", "definition": "A."}, {"id": "b", "definition": "B."}]},
    ]}
)  # fmt: skip
ROWS = """
id: tones
rows: turns
annotator: {column: who}
texts:
  - {role: asker, column: asked}
  - {role: teller, column: told}
answers:
  tone: {column: tone, values: {'1': warm, '2': cold}}
"""
WIDE = """
id: tones
rows: dialogues
dialogue: id
texts: [{role: teller, column: said}]
context: {where: place}
answers:
  tone: {columns: 'tone_{annotator}'}
gold:
  tone: {column: settled}
"""


def read(tmp_path, mapping, *contents, scheme=SCHEME, suffix="csv"):
    paths = []
    for number, content in enumerate(contents):
        path = tmp_path / f"talk{number}.{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths.append(path)
    how = TableMap.model_validate(yaml.safe_load(mapping))
    return checked(read_table(how, scheme, paths), scheme)


def codes(result):
    return [oddity.code for oddity in result.oddities]


def values(result):
    return {(a.item, a.annotator): a.value for a in result.answers}


def test_rows_of_several_annotators_are_joined_by_their_order(tmp_path):
    result = read(
        tmp_path, ROWS,
        "who,asked,told,tone\nA,So?,Yes.,1\nB,So?,Yes.,2\nA,So?,Yes.,2\nB,So?,Yes.,2\n",
    )  # fmt: skip
    assert values(result) == {
        ("talk0#1", "A"): "warm",
        ("talk0#1", "B"): "cold",
        ("talk0#3", "A"): "cold",
        ("talk0#3", "B"): "cold",
    }
    [dialogue] = result.table.dialogues
    assert [(t.role, t.text) for t in dialogue.turns] == [
        ("asker", "So?"), ("teller", "Yes."), ("asker", "So?"), ("teller", "Yes."),
    ]  # fmt: skip
    assert codes(result) == []


def test_somebody_who_skipped_a_row_is_joined_by_the_words(tmp_path):
    result = read(
        tmp_path, ROWS,
        "who,asked,told,tone\nA,One?,Yes.,1\nA,Two?,Yes.,1\nA,Three?,Yes.,2\n"
        "B,One?,Yes.,1\nB,Three?,Yes.,2\n",
    )  # fmt: skip
    assert values(result)["talk0#5", "B"] == "cold"
    assert ("talk0#3", "B") not in values(result)
    assert codes(result) == ["missing_turns"]


def test_a_column_per_annotator_is_found_in_any_order_and_case(tmp_path):
    result = read(
        tmp_path, WIDE,
        "TONE_Bo,said,place,id,tone_Al,settled\ncold,Hm.,home,7,Warm,warm\n,Ha.,work,8,cold,\n",
    )  # fmt: skip
    assert values(result) == {
        ("talk0/007#0", "Bo"): "cold",
        ("talk0/007#0", "Al"): "warm",
        ("talk0/008#0", "Al"): "cold",
    }
    assert [(a.item, a.value) for a in result.gold] == [("talk0/007#0", "warm")]
    assert result.table.by("where") == {"talk0/007#0": "home", "talk0/008#0": "work"}
    assert sorted(codes(result)) == ["harmonised", "no_answer", "no_answer"]


@given(st.permutations(["id", "said", "tone_Al", "tone_Bo", "place", "settled", "extra"]))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_order_of_columns_does_not_matter(tmp_path, order):
    row = {"id": "7", "said": "Hm.", "tone_Al": "warm", "tone_Bo": "cold", "place": "home",
           "settled": "warm", "extra": "x"}  # fmt: skip
    result = read(tmp_path, WIDE, f"{','.join(order)}\n{','.join(row[c] for c in order)}\n")
    assert values(result) == {("talk0/007#0", "Al"): "warm", ("talk0/007#0", "Bo"): "cold"}
    assert codes(result) == []


def test_an_unknown_value_is_reported_with_its_cell(tmp_path):
    result = read(tmp_path, ROWS, "who,asked,told,tone\nA,1?,a,1\nA,2?,b,tepid\n")
    [oddity] = result.oddities
    assert (oddity.code, oddity.place.row, oddity.place.line) == ("unknown_value", 2, 3)
    assert oddity.place.column == "tone"
    assert "tepid" in str(oddity)


def test_files_with_other_delimiters_are_read_alike(tmp_path):
    comma = 'who,asked,told,tone\nA,1?,"a; b",1\n'
    result = read(tmp_path, ROWS, comma, comma.replace(",", ";").replace('"a; b"', "a"))
    assert values(result) == {("talk0#1", "A"): "warm", ("talk1#1", "A"): "warm"}


def test_answers_with_a_row_each_name_their_dimension(tmp_path):
    mapping = """
    id: tones
    dialogue: talk
    turn: n
    annotator: {column: who}
    texts: [{column: said, role_column: by, roles: {Q: asker}}]
    long: {dimension: what, value: answer, dimensions: {Tone: tone, Winner: won},
           values: {won: {several: true}}}
    """
    result = read(
        tmp_path, mapping,
        "talk|n|by|said|who|what|answer\n"
        "x|10|Q|Well?|A|Tone|warm\nx|2|Q|Hm?|A|Tone|cold\nx|2|Q|Hm?|A|Winner|['asker', 'teller']\n",
    )  # fmt: skip
    assert values(result) == {
        ("talk0/x#0", "A"): "cold",
        ("talk0/x#1", "A"): "warm",
        ("talk0/x", "A"): ("asker", "teller"),
    }
    assert [turn.text for turn in result.table.dialogues[0].turns] == ["Hm?", "Well?"]


def test_the_values_of_a_set_are_read_in_one_order_by_every_process():
    found = cell_value(str(set("hgfedcba")), Values(several=True))
    assert found is not None
    assert found.value == tuple("abcdefgh")


@pytest.mark.parametrize(
    "cell",
    ["['asker', 'teller']", '["asker","teller"]', "{'choices': ['asker', 'teller']}",
     '{"choices":["asker",["teller"]]}', "asker#teller", "(asker # teller #)"[1:-1]],
)  # fmt: skip
def test_several_values_are_read_in_whatever_notation(tmp_path, cell):
    mapping = """
    id: tones
    rows: dialogues
    annotator: {name: me}
    answers: {won: {column: won, several: true, separators: '#'}}
    """
    quoted = cell.replace('"', '""')
    result = read(tmp_path, mapping, f'won\n"{quoted}"\n')
    assert [answer.value for answer in result.answers] == [("asker", "teller")]


def test_objects_of_json_lines_are_rows_too(tmp_path):
    result = read(
        tmp_path, ROWS,
        '{"who": "A", "asked": "1?", "told": "a", "tone": 1}\nnonsense\n'
        '{"who": "A", "asked": "2?", "told": "b", "tone": "2"}\n',
        suffix="jsonl",
    )  # fmt: skip
    assert values(result) == {("talk0#1", "A"): "warm", ("talk0#3", "A"): "cold"}
    [oddity] = result.oddities
    assert (oddity.code, oddity.place.line, oddity.left_out) == ("no_object", 2, True)


def test_a_file_without_answers_is_refused_with_its_columns(tmp_path):
    with pytest.raises(UsageError, match=r"found no column 'tone'.*\n.*who, asked"):
        read(tmp_path, ROWS, "who,asked\nA,1?\n")


def test_a_line_of_another_encoding_is_read_and_named(tmp_path):
    mapping = ROWS + "encodings: [utf-8, mac_roman]\n"
    text = "who,asked,told,tone\nA,Fünf?,Süß.,1\n".encode()
    result = read(tmp_path, mapping, text + "A,Sechs?,Nun…,2\n".encode("mac_roman"))
    [turn] = [t for t in result.table.dialogues[0].turns if t.text.startswith("Nun")]
    assert turn.text == "Nun…"
    assert result.table.dialogues[0].turns[0].text == "Fünf?"
    [oddity] = result.oddities
    assert (oddity.code, oddity.place.line) == ("encoding", 3)


def test_every_row_of_a_file_is_read_or_reported(tmp_path):
    result = read(
        tmp_path, WIDE,
        "id,said,place,tone_A,settled\n1,a,x,warm,\n,b,x,warm,\n1,a,x,warm,\n,,,,\n2,c,x,cold,\n",
    )  # fmt: skip
    [count] = result.table.files
    assert (count.rows, count.read, count.left_out) == (5, 2, 3)
    assert Path(count.file).name == "talk0.csv"


def test_an_empty_cell_is_odd_where_the_scheme_asks_whoever_speaks_alone(tmp_path):
    mapping = """
id: tones
rows: turns
dialogue: talk
texts: [{role_column: who, column: said}]
answers:
  tone: {columns: 'tone_{annotator}'}
"""
    tone = {**TONE, "of": ["service_agent"]}
    scheme = Scheme.model_validate({"id": "tones", "title": "Tones", "dimensions": [tone]})
    rows = (
        "talk,who,said,tone_ada\na,Client,Hm?,\na,Service Agent,Yes.,warm\na,Service-agent,No.,\n"
    )
    (odd,) = read(tmp_path, mapping, rows, scheme=scheme).oddities
    assert (odd.code, odd.place.row) == ("no_answer", 3)
