"""Lines of a file of the user's: bounded, numbered, and never waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scenarios import json_lines as module
from scenarios.errors import InputError
from scenarios.json_lines import json_lines, numbered_lines


def test_blank_lines_are_left_out_and_counted_and_so_is_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n  \n[2]')
    assert list(json_lines(file, "mend it")) == [(1, {"a": 1}), (4, [2])]


def test_of_a_line_that_is_too_long_a_beginning_comes_that_is_too_long(tmp_path: Path) -> None:
    file = tmp_path / "rows.txt"
    file.write_bytes(b"x" * 50 + b"\nshort\n")
    assert list(numbered_lines(file, "", longest=9)) == [(1, b"x" * 10), (2, b"short\n")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}\n{", "rows.jsonl:2: found a line that is no JSON"),
        (b'["' + b"x" * 40 + b'"]', "rows.jsonl:1: found more than 0 MiB"),
        ("{}\n".encode("utf-16"), "rows.jsonl:1: found text in UTF-16"),
        (b"[" * 10_000, "rows.jsonl:1: found a line that is no JSON"),
        (b'{"a": NaN}', "rows.jsonl:1: found a line that is no JSON"),
    ],
)
def test_a_line_that_is_no_json_is_told_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, said: str
) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 30 if content.startswith(b'["') else 1 << 20)
    file = tmp_path / "rows.jsonl"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said.replace(".", r"\.")):
        list(json_lines(file, "mend it"))


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link", "nothing"])
def test_what_is_no_file_is_refused_with_what_to_do(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "rows.jsonl"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind != "nothing":
        file.symlink_to("/dev/zero" if kind == "device" else file.name)
    with pytest.raises(InputError, match=r"rows\.jsonl: found .*; give a file of rows"):
        list(json_lines(file, "give a file of rows"))
