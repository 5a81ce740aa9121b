"""The language that is spoken, guessed from script and letters."""

from __future__ import annotations

import pytest

from quality.gates.language import WrongLanguage
from scenarios.catalogue import Catalogue


@pytest.mark.parametrize(
    "text",
    [
        "Das kann ich Ihnen leider nicht sagen, fragen Sie die Werkstatt.",
        "Je ne sais pas pourquoi vous me demandez cela.",
        "No tengo nada que ver con ese accidente.",
        "这辆车从来没有出过事故。",
        "Нет.",
    ],
)
def test_another_language_than_the_wanted_one_is_flagged(stage, text):
    [flag] = WrongLanguage().check(stage.answer(text))
    assert flag.turn == 3
    assert flag.severity is not None
    assert flag.severity > 0.5
    assert "expected en" in flag.reason


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The wing was resprayed last year and nothing else was done.", "en"),
        ("No comment.", "en"),
        ("Oh là là, such a long face over a little scratch!", "en"),
        ("Das kann ich Ihnen leider nicht sagen, fragen Sie die Werkstatt.", "de-AT"),
        ("这辆车从来没有出过事故。", "zh"),
        ("OK，我用WeChat发给您。", "zh"),
        ("你今日去咗邊度呀？", "yue"),
        ("Машина никогда не попадала в аварию.", "ru"),
        ("Jeg har aldri hatt en ulykke med denne bilen.", "nb"),
    ],
)
def test_the_wanted_language_passes_and_so_does_what_is_too_short_to_tell(stage, text, language):
    answer = [
        f for f in WrongLanguage().check(stage.answer(text, language=language)) if f.turn == 3
    ]
    assert answer == []


def test_a_language_the_guesser_does_not_know_is_left_alone(stage):
    subject = stage.answer("nuqneH! Heghlu'meH QaQ jajvam.", language="tlh")
    assert WrongLanguage().check(subject) == []


def test_an_opening_in_another_language_is_flagged_as_well(stage):
    german = (
        "Was ist denn mit dem Kotflügel passiert?",
        "Den hat die Werkstatt letztes Jahr gemacht.",
    )
    flags = WrongLanguage().check(stage.play(*german, language="de"))
    assert [flag.turn for flag in flags] == [0, 1]
    assert WrongLanguage().check(stage.play(*german, language="de", opening=False)) == []


def test_every_fixed_line_of_the_library_is_in_its_language(stage):
    for scenario in Catalogue.load().scenarios.values():
        opening = scenario.opening
        lines = [
            text
            for o in opening.by_goal
            for text in (o.question, *map(_text, o.statements.values()))
        ]
        if opening.shared is not None:
            lines += [text for e in opening.shared.exchanges for text in (e.question, e.answer)]
            lines += opening.shared.hard_question
        flags = WrongLanguage().check(stage.play(*lines, opening=False))
        assert [(scenario.id, flag.reason, lines[flag.turn]) for flag in flags] == []


def _text(statement):
    return statement.text
