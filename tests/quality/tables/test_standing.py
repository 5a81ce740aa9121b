"""Who stands above whom: by a column of the table, else by what people are called."""

import pytest
import yaml
from pydantic import ValidationError

from quality.tables.table_map import TableMap
from tests.quality.tables.test_reading import SCHEME, codes, read, values

MAP = """
id: tones
rows: dialogues
dialogue: id
texts: [{role: teller, column: said}]
people: {teller: who, asker: whom}
standing:
  name: power
  of: [teller, asker]
  above: downward
  level: even
  below: upward
  column: power
  values: {'^': upward}
  high: [boss, mother]
  low: [clerk, son]
  alike: [friend]
answers:
  tone: {columns: 'tone_{annotator}'}
"""


def standings(tmp_path, *people, header="id,said,who,whom,tone_A"):
    lines = [f"{number},Hm.,{row},warm" for number, row in enumerate(people)]
    result = read(tmp_path, MAP, "\n".join([header, *lines, ""]))
    assert len(values(result)) == len(people)
    return list(result.table.by("power").values())


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ("the Boss,a clerk", "downward"),
        ("boss,you", "downward"),
        ("grown_son,his mother", "upward"),
        ("you,boss", "upward"),
        ("you,Sam", "even"),
        ("boss,mother", "even"),
        ("clerk,son", "even"),
        ("boss,an old friend", "even"),
        ("bossy,person", "even"),
        ("boss (a clerk once),you", "even"),
    ],
)
def test_words_tell_who_stands_above_whom(tmp_path, people, expected):
    assert standings(tmp_path, people) == [expected]


def test_that_words_are_taken_is_noted_of_a_file_without_the_column(tmp_path):
    rows = "id,said,who,whom{},tone_A\n1,Hm.,boss,clerk{},warm\n"
    with_words = read(tmp_path, MAP, rows.format("", ""))
    [odd] = with_words.oddities
    assert (odd.code, odd.done) == (
        "told_by_names",
        "power is told by what teller and asker are called",
    )
    assert "no column 'power'" in str(odd)
    assert codes(read(tmp_path, MAP, rows.format(",power", ",^"))) == []


def test_where_somebody_has_no_name_nothing_is_said(tmp_path):
    assert standings(tmp_path, ",boss", "boss,") == ["", ""]


def test_where_a_column_says_it_words_do_not(tmp_path):
    header = "id,said,who,whom,Power,tone_A"
    rows = ("boss,clerk,^", "boss,clerk,sideways", "boss,clerk,")
    assert standings(tmp_path, *rows, header=header) == ["upward", "sideways", ""]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("of: [teller, asker]", "of: [teller, boss]", "'boss' is none of people"),
        ("name: power", "name: asker", "'asker' is called so already"),
    ],
)
def test_a_map_that_cannot_tell_it_is_refused(old, new, message):
    with pytest.raises(ValidationError, match=message):
        TableMap.model_validate(yaml.safe_load(MAP.replace(old, new)))


def test_the_map_without_it_reads_as_before(tmp_path):
    how = yaml.safe_load(MAP)
    del how["standing"]
    text = "id,said,who,whom,power,tone_A\n1,Hm.,boss,clerk,^,warm\n"
    result = read(tmp_path, yaml.safe_dump(how), text, scheme=SCHEME)
    assert dict(result.table.dialogues[0].context) == {"teller": "boss", "asker": "clerk"}
