"""Kinds and formats of plugins that write what they must not: named, with nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from outputs.dataset.foreign_rows import ForeignRows, write_companions
from outputs.dataset.manifest import Column
from tests.extension.conftest import Hipo
from tests.extension.test_docs_page import FILES

KIND, FORMAT = FILES["exchanges.py"], FILES["question_answer.py"]
ID = "\"id\": f\"{base['case']}/{base['arm']}/{turn.index}\""
BYTES_BESIDE = "    def companions(self, files, *, pairs):\n        return {'a': b''}\n\n"


@pytest.fixture
def made(hipo: Hipo) -> str:
    made = hipo("generate", "--model", "offline/rules", "--scenarios", "used_car", "--turns", "1",
                "-n", "2", "-q", "-o", "made")  # fmt: skip
    assert made.code == 0, made.err
    return "made"


def exported(hipo: Hipo, run: str, *options: str) -> str:
    """Export with a plugin that does not work, and return what is told."""
    result = hipo("export", run, "--any", "--plugin", "mine.py", *options, "--no-parquet",
                  "--splits", "100,0,0", "-o", "set")  # fmt: skip
    assert result.code == 2, result.out
    assert not Path("set").exists()
    return " ".join(result.err.split())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (ID, '"id": "same"', "two rows have the id 'same'"),
        ('"answer": turn.text', '"answer": float("nan")', "has nan as answer, expected text"),
        ('"answer": turn.text', '"answer": 3', "has 3 as answer, expected text"),
        ("return ()", 'return "none"', "its notes are 'none', expected a tuple of texts"),
        ("ExchangeRows())", "ExchangeRows(), companions=lambda *_: {'../x': 'x'})", "outside"),
        ("ExchangeRows())", "ExchangeRows(), companions=lambda *_: {'README.md': ''})", "lie over"),
    ],
)
def test_what_a_kind_may_not_write_is_told_with_its_name(
    hipo: Hipo, made: str, old: str, new: str, told: str
) -> None:
    assert old in KIND
    Path("mine.py").write_text(KIND.replace(old, new))
    message = exported(hipo, made, "--to", "exchanges")
    assert "the export kind 'exchanges' of the plugin mine.py does not work" in message
    assert told in message
    assert not Path("../x").exists()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (', "answer": completion', "", "a row lacks the columns ['answer']"),
        ('"answer": completion', '"answer": 3', "has 3 as answer, expected text"),
        ('return {"question"', 'return None and {"question"', "'NoneType' object is not a mapping"),
        ('Column("question"', 'Column("case"', "two columns are called 'case'"),
        ("    def example", BYTES_BESIDE + "    def example", "the file 'a' beside the rows is b'', expected a text"),
        ("system, asked", "1 / 0; system, asked", "mine.py:15: ZeroDivisionError"),
    ],
)  # fmt: skip
def test_what_a_format_may_not_write_is_told_with_its_name(
    hipo: Hipo, made: str, old: str, new: str, told: str
) -> None:
    assert old in FORMAT
    Path("mine.py").write_text(FORMAT.replace(old, new))
    message = exported(hipo, made, "--to", "sft", "--format", "question-answer")
    assert "the export format 'question-answer' of the plugin mine.py does not work" in message
    assert told in message


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (KIND.replace('"question", "text"', '"question", "txt"'), "mine.py:13: ValueError: column"),
        (KIND.replace("ExportTask(lambda scheme, options: ExchangeRows()),", ""), "has no task"),
        (FORMAT.replace("example_columns", "columns"), "found None as example_columns"),
    ],
)
def test_what_declares_nothing_usable_is_refused_when_it_is_loaded(
    hipo: Hipo, made: str, source: str, told: str
) -> None:
    Path("mine.py").write_text(source)
    to = ("exchanges",) if source.startswith(KIND[:200]) else ("sft", "--format", "question-answer")
    assert told in exported(hipo, made, "--to", *to)


COLUMNS = (
    Column("id", "text", ""),
    Column("score", "float", ""),
    Column("names", "texts", ""),
    Column("said", "messages", ""),
    Column("by", "record", "", (Column("age", "int", ""), Column("ok", "bool", ""))),
)
GOOD = {
    "id": "a",
    "score": 1,
    "names": ["x"],
    "said": [{"role": "user", "content": "Hi."}],
    "by": {"age": 4, "ok": True},
}


@pytest.mark.parametrize("value", [None, 0.5])
def test_values_of_the_kinds_of_columns_pass(value: float | None) -> None:
    ForeignRows(COLUMNS).check({**GOOD, "score": value})


@pytest.mark.parametrize(
    "odd",
    [
        {"score": True},
        {"score": float("inf")},
        {"score": "1"},
        {"names": "x"},
        {"names": ["x", 3]},
        {"said": [{"role": "user"}]},
        {"said": {"role": "user", "content": "Hi."}},
        {"by": {"age": True, "ok": True}},
        {"by": {"age": 4}},
        {"by": [4, True]},
    ],
)
def test_other_values_do_not(odd: dict[str, object]) -> None:
    (name,) = odd
    with pytest.raises(ValueError, match=f"as {name}, expected"):
        ForeignRows(COLUMNS).check({**GOOD, **odd})


def test_files_beside_the_rows_may_lie_in_folders_of_their_own(tmp_path: Path) -> None:
    write_companions(tmp_path, {"configs/train.yaml": "a: 1\n"})
    assert (tmp_path / "configs/train.yaml").read_text() == "a: 1\n"
    with pytest.raises(ValueError, match="lie over one of the export"):
        write_companions(tmp_path, {"configs/train.yaml": ""})
    with pytest.raises(ValueError, match="outside the folder"):
        write_companions(tmp_path, {"/tmp/x": ""})
