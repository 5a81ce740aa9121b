from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.wording import (
    content_stems,
    is_negated,
    numbers,
    resemblance,
    script_share,
    sentences,
    shingles,
    words,
)
from tests.cpu_limit import cpu_limit


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Smith of Acme Inc. paid 3.5 percent on No. 5 in J. Doe's name.", 1),
        ("He met the U.S. Attorney, i.e. the one from St. Paul. She left.", 2),
        ('"Really?" he asked. "Yes."', 2),
        ("Well... perhaps not.", 1),
        ("No. I never did.", 2),
        ("It costs $4.20. That is much", 2),
        ("\u4ed6\u8bf4\u3002\u597d\u7684\uff01\u5bf9", 3),
        ("It was me and I. He knew.", 2),
        ("", 0),
        ("   ", 0),
    ],
)
def test_sentences_are_counted_as_people_count_them(text, count):
    assert len(sentences(text)) == count


@pytest.mark.parametrize("marks", ["." * 20_000, "?!" * 10_000, "!)" * 10_000])
def test_any_number_of_marks_is_read_at_once(marks):
    with cpu_limit(10):
        assert sentences(f"Well{marks}x. So.") == [f"Well{marks}x.", "So."]


@given(st.text(max_size=120))
def test_splitting_loses_nothing_but_space(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(st.text(max_size=80), st.text(max_size=80))
def test_resemblance_is_symmetric_and_bounded(left, right):
    assert 0 <= resemblance(left, right) == resemblance(right, left) <= 1
    assert resemblance(left, left) in (0.0, 1.0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("repaired", "repairs"), ("companies", "company"), ("stopped", "stop"),
        ("the seller's", "seller"), ("bottles", "bottle"), ("Painting", "painted"),
    ],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(one, other):
    assert content_stems(one) == content_stems(other) != frozenset()


def test_function_words_carry_no_content():
    assert content_stems("It was what they had been told about") == frozenset()


def test_numbers_are_found_in_digits_and_words():
    assert numbers("Sixty thousand of 1,200 in 2024; two people") == {
        "sixty", "thousand", "1,200", "2024",
    }  # fmt: skip


def test_negations_are_recognised():
    assert is_negated("We didn\u2019t sell it.")
    assert is_negated("Nobody asked.")
    assert not is_negated("We noted it.")


def test_scripts_without_spaces_are_read_in_pairs_of_signs():
    assert words("\u79c1\u4eba\u5356\u5bb6") == [
        "\u79c1\u4eba", "\u4eba\u5356", "\u5356\u5bb6",
    ]  # fmt: skip
    assert shingles("a b c", 2) == {("a", "b"), ("b", "c")}


def test_the_share_of_letters_of_a_script_is_measured():
    assert script_share("abc \u0430\u0431\u0432", ["en"]) == 0.5
    assert script_share("abc \u0430\u0431\u0432", ["en", "ru-RU"]) == 1.0
    assert script_share("\u65e5\u672c\u306e\u30c6", ["ja"]) == 1.0
    assert script_share("12.5", ["en"]) == 1.0
