"""Lists of words that are counted in lines, and the files that hold them."""

from __future__ import annotations

import pytest

from outputs.speech.markers import Marker, load_markers
from scenarios.errors import InputError

HEDGES = Marker(title="hedges", phrases=("maybe", "kind of", "i think", "i think so"))
LISTENING = Marker(title="listening", where="whole line", phrases=("yeah", "i see", "oh"))
OPENERS = Marker(title="openers", where="sentence start", phrases=("well", "you know"))


@pytest.mark.parametrize(
    ("marker", "line", "count"),
    [
        (HEDGES, "Maybe. I think it was kind of red, maybe.", 4),
        (HEDGES, "I think so.", 1),  # no word belongs to two phrases
        (HEDGES, "A kind man of the sea; he maybes.", 0),
        (LISTENING, "Oh, I see!", 1),
        (LISTENING, "Oh, I see the car.", 0),
        (LISTENING, "...", 0),
        (OPENERS, "Well, you know. You know it went well.", 2),
        (OPENERS, "It went well.", 0),
    ],
)
def test_phrases_count_where_they_are_meant_to(marker: Marker, line: str, count: int) -> None:
    assert marker.count(line) == count


def test_apostrophes_of_either_kind_are_the_same() -> None:
    negations = load_markers().lists["negations"]
    assert negations.count("I don\u2019t, and I won't.") == 2


def test_the_shipped_lists_are_about_all_kinds_of_english() -> None:
    markers = load_markers()
    assert markers.fit("en")
    assert markers.fit("en-GB")
    assert not markers.fit("de")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("language: de\nmarkers: {füller: {title: x, phrases: [äh]}}", "lower-case letters"),
        ("language: de\nmarkers: {}", "markers"),
        ("language: de\nmarkers: {pauses: {title: x, phrases: ['...']}}", "without a word"),
        ("language: de\nmarkers: {pauses: {title: x, phrases: [äh], where: end}}", "whole line"),
    ],
)
def test_a_wrong_list_is_told_with_its_field(tmp_path, text: str, told: str) -> None:
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_markers(tmp_path / "own.yaml")
    assert told in str(error.value)
