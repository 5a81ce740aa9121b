"""Editors on Windows begin a file with a byte-order mark; what a user gives is read all the same."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import pytest

from hipo.app.evaluation.chosen_items import _ids
from outputs.dataset.reader import row_set
from quality.review.consent import load_consent
from quality.review.translations import Translations
from quality.tables.records import read_file
from quality.verification.policy import load_policy
from scenarios.text_file import read_text

TRANSLATED = '{"language": "de", "text": "Yes.", "translation": "Ja."}\n'
POLICY = "name: mine\nrules: [{flags: empty_utterance, then: discard}]\n"


def cells(path: Path) -> object:
    """Return the rows of a table."""
    return read_file(path, encodings=["utf-8"], delimiters=",;", expected=["item"]).records


READERS: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "items": ("i.txt", "a#1\nb#2\n", lambda path: list(_ids(path))),
    "items as objects": ("i.jsonl", '{"item": "a#1"}\n', lambda path: list(_ids(path))),
    "data set": ("s.jsonl", '{"text": "Yes."}\n', lambda path: list(row_set(path).rows())),
    "translations": ("t.jsonl", TRANSLATED, lambda p: Translations.load([p]).of("Yes.", "de")),
    "consent": ("c.md", "# Consent\n\nYes.\n", lambda path: load_consent(path).blocks),
    "table": ("t.csv", "item,label\na,yes\n", cells),
    "table of objects": ("t.json", '[{"item": "a", "label": "yes"}]', cells),
    "policy": ("p.yaml", POLICY, lambda path: load_policy(str(path))),
    "text": ("lines.yaml", "a: 1\n", read_text),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_byte_order_mark_is_no_part_of_what_a_file_says(tmp_path: Path, kind: str) -> None:
    name, text, read = READERS[kind]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    plain = read(path)
    assert plain
    path.write_bytes(BOM_UTF8 + text.encode())
    assert read(path) == plain
