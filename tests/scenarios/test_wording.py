from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.wording import (
    content_stems,
    numbers,
    resemblance,
    sentences,
    shingles,
    word_count,
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
        ("Das war am 3. Mai, z. B. im Hof, d. h. Dienstag. Ja.", 2),
        ("Im 19. Jahrhundert bzw. Heute", 1),
        ("He wrote 12. Then he left.", 2),
        ("我不去（真的不去。）你呢？", 2),
        ('他说"我不去。"', 1),
        ("你去吗?我不去!好吧.走了", 4),
        ("一共3.5万元，我……我不知道。", 1),
        ("\u0644\u0627\u061f \u0646\u0639\u0645.", 2),
        ("\u0928\u0939\u0940\u0902\u0964 \u0939\u093e\u0901\u0964", 2),
        ("\u0646\u06c1\u06cc\u06ba\u06d4 \u06c1\u0627\u06ba\u06d4", 2),
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


def test_any_number_of_sentences_is_read_at_once():
    with cpu_limit(10):
        assert len(sentences("What? Yes. " * 100_000)) == 200_000


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


def test_chinese_words_of_content_are_pairs_of_signs_and_numbers():
    assert content_stems("他们在阳台上吃了晚饭，花了三百块") == {"阳台", "晚饭", "300"}
    assert content_stems("這是我和你們的，因為沒有") == frozenset()
    assert "目的" in content_stems("目的はある")


def test_numbers_are_found_in_digits_and_words():
    assert numbers("Sixty thousand of 1,200 in 2024; two people") == {
        "sixty", "thousand", "1,200", "2024",
    }  # fmt: skip


def test_numbers_are_the_same_in_the_digits_of_any_script():
    assert numbers("花了三百块") == numbers("花了３００块") == numbers("٣٠٠ دينار") == {"300"}
    assert numbers("It\u2019s 1,200, or sixty") == {"1,200", "sixty"}


@given(st.text(st.sampled_from("aZ09_'.,- \n\t!") | st.characters(max_codepoint=127)))
def test_texts_of_ascii_signs_have_the_words_that_the_rule_for_all_scripts_finds(text):
    with_another_script = words(f"{text} \u00e9")
    assert words(text) == with_another_script[:-1]


def test_scripts_without_spaces_are_read_in_pairs_of_signs():
    assert words("\u79c1\u4eba\u5356\u5bb6") == (
        "\u79c1\u4eba", "\u4eba\u5356", "\u5356\u5bb6",
    )  # fmt: skip
    assert shingles("a b c", 2) == {("a", "b"), ("b", "c")}


def test_korean_nouns_of_two_syllables_carry_content():
    assert content_stems("\uacc4\uc57d \uadf8 \uae08\uc561") == {"\uacc4\uc57d", "\uae08\uc561"}


@pytest.mark.parametrize(
    "text",
    [
        "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902",
        "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f\u064c \u0631\u064e\u0633\u064f\u0648\u0644\u064f",
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05dc\u05b0\u05da\u05b8",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0628\u0631\u0648\u0645",
    ],
    ids=["Hindi", "Arabic", "Hebrew", "Persian"],
)
def test_signs_that_letters_carry_do_not_cut_a_word(text):
    assert words(text) == tuple(unicodedata.normalize("NFKC", text).split())
    assert word_count(text) == 2
