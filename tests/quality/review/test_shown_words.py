"""A returned sheet is taken where its words are those of its ids, whatever programs made of them."""

from __future__ import annotations

import unicodedata
from types import SimpleNamespace

import pytest

from quality.review.exhibits import ReviewDialogue
from quality.review.outgoing import Incoming
from quality.review.shown_words import other_words
from scenarios.errors import Problem

LONG = "\n".join(f"> Ann: wörd {number}" for number in range(4_000))
CAFE = "Le café à côté d'Émile, où l'été a été gâté. 한국어로 말해 주세요"


def told(cell: str, words: str) -> int:
    """Return how many problems there are with a cell that is to show the words of turn 1."""
    return len(problems(cell, words))


def problems(cell: str, words: str) -> list[Problem]:
    sheet = Incoming("case/arm", "Ada", 2, shown=[(1, "utterance", cell, 2)])
    said = SimpleNamespace(turn=1, speaker="Ann", text=words)
    exhibit: ReviewDialogue = SimpleNamespace(utterances=[said])  # type: ignore[assignment]
    return [*other_words(sheet, exhibit, "f")]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (LONG[:32_767], LONG),
        (unicodedata.normalize("NFD", CAFE), CAFE),
        (CAFE.replace(" ", "\u00a0").replace("'", "\u2019"), CAFE),
        ("StraÃŸe, groÃŸ, weiÃŸ und heiÃŸ", "Straße, groß, weiß und heiß"),
        ("____GPT__", "我们用了GPT对吗"),
        ("04. Mrz", "3-4"),
        ("05-May", "May 5"),
        ("1,23457E+15", "1234567890123456"),
        ("I never saw the letter before Monday.", "I never saw teh letter before Monday."),
    ],
    ids=["cut", "accents apart", "spaces and quotes", "wrong encoding", "no encoding", "date",
         "date in words", "number", "typo"],
)  # fmt: skip
def test_what_programs_and_careful_people_change_is_taken(cell: str, words: str) -> None:
    assert told(cell, words) == 0


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("No.", "Yes."),
        ("I never saw the letter.", "I never saw the letter before Monday, nor the man."),
        ("He was there in 2019, I think.", "3-4"),
        ("你不是", "模型好"),
        (LONG[:32_767].replace("wörd", "word")[::-1], LONG),
        ("Le 1", "Combien ?"),
    ],
    ids=["short", "beginning", "figures", "no letters", "long", "number"],
)
def test_words_of_another_turn_are_told(cell: str, words: str) -> None:
    assert told(cell, words) == 1


def test_texts_that_begin_alike_are_shown_from_where_they_differ() -> None:
    opening = "Ann: Good morning, and thank you for coming in on a day like this one. "
    (one,) = problems(f"{opening}Where is the money now?", f"{opening}Who has taken the car?")
    assert "Where is the money" in one.found
    assert "Who has taken the car" in one.expected
