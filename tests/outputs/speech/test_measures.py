"""What is counted in the lines of a dialogue."""

from __future__ import annotations

import numpy as np
import pytest

from outputs.speech.compared import ComparedLine
from outputs.speech.markers import load_markers
from outputs.speech.measures import WINDOW, heard, measures_with, speech_sums

MARKERS = load_markers()


def figures(*lines: tuple[str, str], language: str = "en") -> dict[str, float]:
    """Return every figure of a dialogue; nan where nothing was counted."""
    said = [ComparedLine(role, text) for role, text in lines]
    above, below = speech_sums(heard(said), MARKERS, language)
    with np.errstate(invalid="ignore"):
        return {
            measure.id: value
            for measure, value in zip(measures_with(MARKERS), above / below, strict=True)
        }


def test_lengths_and_questions_are_counted_by_line_and_sentence() -> None:
    found = figures(("a", "Was it hit? Tell me."), ("b", "Never, as far as I know."))
    assert found["line_length"] == pytest.approx((5 + 6) / 2)
    assert found["sentence_length"] == pytest.approx(11 / 3)
    assert found["questions"] == 50
    assert found["hedges"] == pytest.approx(100 / 11)


def test_what_is_taken_up_is_from_the_line_before_and_of_somebody_else() -> None:
    found = figures(("a", "The red car?"), ("b", "A red bus."), ("b", "A red bus again, dear."))
    assert found["echo"] == 50  # red, of red and bus; the last line is after one's own


def test_variety_is_the_mean_share_of_different_words_in_windows_of_what_one_person_says() -> None:
    different = " ".join(f"word{chr(97 + n)}" for n in range(WINDOW))
    found = figures(("a", different), ("b", "so " * WINDOW), ("a", "worda"))
    # Of "a" two windows, both all different; of "b" one with a single word.
    assert found["variety"] == pytest.approx(100 * (1 + 1 + 1 / WINDOW) / 3)
    assert np.isnan(figures(("a", "Too short."))["variety"])


def test_a_back_channel_is_a_line_of_its_own() -> None:
    assert figures(("a", "I sold it."), ("b", "Oh, I see."))["back_channels"] == 50


def test_in_another_language_only_the_form_is_counted() -> None:
    found = figures(("a", "No, well?"), language="de")
    assert found["questions"] == 100
    assert np.isnan(found["negations"])
