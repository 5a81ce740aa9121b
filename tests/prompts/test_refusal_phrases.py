from __future__ import annotations

import pytest

from prompts.refusals import declined_in, refusal_in


@pytest.mark.parametrize(
    "text",
    [
        "AS AN AI, I do not do that.",
        "I Don\u2019t want to write a deceptive reply here.",
        "I would never create false statements.",
        "Sure! Here is a response for you.",
        "很抱歉 作为一个ai助手",
        "Я не могу сгенерировать такое.",
    ],
)
def test_a_machine_is_heard_in_any_case_and_language(text):
    assert refusal_in(text)


def test_phrases_of_ones_own_are_found_in_any_case():
    assert refusal_in("Beep BOOP, said he.", ("beep boop",))
    assert refusal_in("Nothing of the kind.", ("beep boop",)) is None


def test_a_person_who_will_not_say_is_no_machine():
    assert declined_in("I won't tell you, and that's that.") is None
