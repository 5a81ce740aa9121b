from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import InputError
from scenarios.inspection import inspect_files
from scenarios.pack import LIBRARY
from scenarios.yaml_source import MAX_ALIASES, read_yaml, read_yaml_text


def refusal(text: str) -> str:
    with pytest.raises(InputError) as error:
        read_yaml_text(text, "f.yaml")
    assert len(error.value.problems) == 1
    return str(error.value)


def test_every_node_has_its_line_and_a_missing_one_that_of_its_parent():
    located = read_yaml_text("a: 1\nb:\n  - x\n  - c: >-\n      long\n      text\n", "f.yaml")
    assert located.data == {"a": 1, "b": ["x", {"c": "long text"}]}
    assert [located.line(p) for p in (["a"], ["b"], ["b", 0], ["b", 1], ["b", 1, "c"])] == [
        1, 2, 3, 4, 4,
    ]  # fmt: skip
    assert located.line(["b", 1, "absent"]) == 4
    assert located.line(["b", 7]) == 2


def test_lines_of_chinese_are_joined_without_a_gap():
    text = "a: >-\n  花大多很好，\n  只是“那盆”\n  不见了 OK\n  吗\nb: 一 二\nc: |\n  一\n  二\nd:\n  하나\n  둘\n"
    assert read_yaml_text(text, "f").data == {
        "a": "花大多很好，只是“那盆”不见了 OK 吗", "b": "一 二", "c": "一\n二\n", "d": "하나 둘",
    }  # fmt: skip


def test_words_that_yaml_1_1_turns_into_something_else_stay_text():
    text = "[yes, No, on, None, 2026-05-01, 12:30, 1_000, y, =]"
    assert read_yaml_text(text, "f").data == text.strip("[]").split(", ")


def test_the_core_schema_is_read():
    text = "[~, null, true, FALSE, 7, -3, 0x1f, 0o17, 2.5, 1e3, '7', !!str 7, 'true']"
    expected = [None, None, True, False, 7, -3, 31, 15, 2.5, 1000.0, "7", "7", "true"]
    data = read_yaml_text(text, "f").data
    assert data == expected
    assert [type(x) for x in data] == [type(x) for x in expected]


# Signs that YAML writes by other escapes than JSON are left out.
_text = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=12)
_scalars = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _text
_plain = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_text, inner, max_size=4),
    max_leaves=12,
)


@given(_plain)
def test_json_is_read_as_json(data):
    assert read_yaml_text(json.dumps(data, ensure_ascii=False), "f").data == data


@given(st.text(max_size=200))
def test_no_text_does_anything_but_load_or_be_refused(text):
    problems = 0
    try:
        read_yaml_text(text, "f.yaml")
    except InputError as error:
        problems = len(error.problems)
    assert problems <= 1


def test_a_key_that_stands_twice_is_refused_with_both_lines():
    message = refusal("a:\n  b: 1\n  c: 2\n  b: 3\n")
    assert "a.b" in message
    assert "lines 2 and 4" in message
    assert message.startswith("f.yaml:4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: !!python/object/apply:os.system ['true']", "the tag"),
        ("!mine {a: 1}", "the tag"),
        ("a: !!binary aGk=", "the tag"),
        ("a: 1\n---\nb: 2\n", "second document"),
        ("", "empty file"),
        ("# only a comment\n", "empty file"),
        ("? [a, b]\n: 1\n", "a key that is"),
        ("x: &x 1\n? *x\n: 2\n", "a key that is"),
        ("a: &a {b: 1}\nc:\n  <<: *a\n", "merge key"),
        ("a: &a [*a]\n", "inside itself"),
        ("a: *nowhere\n", "an anchor before it"),
        ("a: [1, 2\n", "broken YAML"),
        ("a: b: c\n", "broken YAML"),
        ("a: 1e999\n", "beyond 1e300"),
        ("a: 18446744073709551616\n", "beyond 64 bits"),
        ("a: \x07\n", "broken YAML"),
        ("x" * 1_000_000, "a text of 1000000 characters"),
        (f"a: >-\n  {'word ' * 4001}\n", "expected at most 20000"),
        (f"{{a: 'x', 'b{'b' * 20_000}': 1}}", "a text of 20001 characters"),
        ("[" * 100, "levels"),
        ("- " * 100, "levels"),
        ("{a: " * 100, "levels"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_is_not_plain_bounded_yaml_is_refused_in_one_sentence(text, said):
    assert said in refusal(text)


@pytest.mark.parametrize("begun", ["[", "- ", "{a: "])
def test_the_deepest_file_is_refused_by_us_or_by_the_parser(begun):
    """PyYAML has a limit of its own since 6.0.4."""
    assert re.search("levels|nesting depth", refusal(begun * 5000))


def test_a_text_of_the_longest_kind_is_read():
    assert read_yaml_text(f"a: {'x' * 20_000}\n", "f").data == {"a": "x" * 20_000}


def test_a_nested_alias_bomb_is_refused_before_it_grows():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "aliases are written out" in refusal("\n".join(lines))


def test_more_aliases_than_a_file_needs_are_refused():
    assert "aliases" in refusal("a: &a 1\nb: [" + ", ".join(["*a"] * (MAX_ALIASES + 1)) + "]")


def test_a_few_aliases_are_written_out_and_not_shared():
    data = read_yaml_text("a: &a [1]\nb: *a\n", "f").data
    assert data == {"a": [1], "b": [1]}
    data["b"].append(2)
    assert data["a"] == [1]


def test_a_number_of_many_digits_stays_text():
    assert read_yaml_text("a: " + "9" * 5000, "f").data == {"a": "9" * 5000}


def file_refusal(path: Path, **options: Path) -> str:
    with pytest.raises(InputError) as error:
        read_yaml(path, **options)
    assert len(error.value.problems) == 1
    return str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: 1\nb: \xff\n", ":2: found the byte 0xff"),
        (b"a: 1\n\0", ":2: found a binary file"),
        (b"a: " + b"x" * (1 << 20), "1 MiB"),
        ("a: 1".encode("utf-16"), "text in UTF-16"),
    ],
)
def test_a_file_that_is_no_bounded_utf8_text_is_refused(tmp_path, content, said):
    path = tmp_path / "f.yaml"
    path.write_bytes(content)
    assert said in file_refusal(path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(path).data == {"a": 1}


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs the files of Linux")
def test_what_looks_like_a_file_and_cannot_be_read_is_refused():
    assert "error" in file_refusal(Path("/proc/self/mem"))


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    fifo = tmp_path / "fifo.yaml"
    os.mkfifo(fifo)
    assert "no regular file" in file_refusal(fifo)
    assert "found a folder, expected a file" in file_refusal(tmp_path)
    assert "no such file" in file_refusal(tmp_path / "absent.yaml")
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    assert "expected a readable file" in file_refusal(loop)


def test_a_link_may_stay_inside_a_directory_but_not_leave_it(tmp_path):
    pack = tmp_path / "pack"
    pack.mkdir()
    (tmp_path / "secret.yaml").write_text("a: 1")
    (pack / "real.yaml").write_text("a: 2")
    (pack / "out.yaml").symlink_to(tmp_path / "secret.yaml")
    (pack / "in.yaml").symlink_to(pack / "real.yaml")
    assert "link to a file elsewhere" in file_refusal(pack / "out.yaml", within=pack)
    assert read_yaml(pack / "in.yaml", within=pack).data == {"a": 2}


def test_meanings_of_a_scenario_with_an_endless_text_are_not_compared(tmp_path):
    shipped = (LIBRARY / "products" / "used_car.yaml").read_text(encoding="utf-8")
    path = tmp_path / "used_van.yaml"
    path.write_text(
        shipped.replace("id: used_car", "id: used_van").replace(
            "A private seller", f"{'Some say so. ' * 70_000} A private seller", 1
        )
    )
    compared = []

    def similarity(left, right):
        compared.append((left, right))
        return [[0.0] * len(right) for _ in left]

    (problem,) = inspect_files([path], similarity=similarity).problems
    assert problem.expected == "at most 20000"
    assert problem.line is not None
    assert compared == []
