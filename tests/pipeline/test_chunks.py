"""A stream in lists, a text at its headings."""

import re

import pytest

from pipeline.chunks import chunks, marked_parts


def test_a_stream_is_cut_into_lists_of_which_the_last_may_be_shorter():
    assert list(chunks(iter("abcde"), 2)) == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("before #a one #b two", [("a", " one "), ("b", " two")]),
        ("#a#b", [("a", ""), ("b", "")]),
        ("no heading", []),
        ("", []),
    ],
)
def test_a_text_is_cut_at_its_headings_and_what_stands_before_them_is_left_out(text, parts):
    marks = re.finditer(r"#(\w)", text)
    assert [(mark[1], part) for mark, part in marked_parts(text, marks)] == parts
