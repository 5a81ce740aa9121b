"""Phrases are cut out of texts cleanly, and sentences follow their register."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.offline.phrases import definite, lowered, noun_phrases, tidy
from pipeline.offline.wording import adapted, joined
from scenarios.catalogue import Catalogue


def test_noun_phrases_end_before_verbs_and_function_words():
    text = "The cleaning charge applies when a guest smokes in the non-smoking room."
    assert noun_phrases(text)[0] == "the cleaning charge"
    assert definite("a deposit") == "the deposit"


@given(st.text(max_size=300))
def test_a_tidied_text_is_one_clause_on_one_line(text):
    found = tidy(text)
    assert "\n" not in found
    assert not set(found) & set('{}<>#"|')
    assert ". " not in found
    assert tidy(found) == found


def test_formal_speech_has_no_short_forms():
    text = "I can't say, and somebody's told you I won't, but that's how it's been since we've met."
    assert adapted(text, "formal") == (
        "I cannot say, and somebody has told you I will not, but that is how it has been since we "
        "have met."
    )
    assert adapted(text, "casual") == text
    asked = "I'm open with somebody who's been open with me, and there's been talk."
    assert adapted(asked, "formal") == (
        "I am open with somebody who has been open with me, and there has been talk."
    )
    had = "As if I'd ever hidden it, and you'd hoped for more, but it's cost me, and I'd say so."
    assert adapted(had, "formal") == (
        "As if I had ever hidden it, and you had hoped for more, but it has cost me, and I would say so."
    )


def test_joined_sentences_are_closed_and_said_once():
    assert joined(["no , thanks", "really?", "no , thanks"]) == "No, thanks. Really?"


def test_no_claim_of_the_library_but_a_name_keeps_its_capital_inside_a_sentence():
    claims = [c.text for s in Catalogue.load().scenarios.values() for c in s.claims]
    first = {lowered(claim).split()[0] for claim in claims}
    assert len(first) > 20
    assert {word for word in first if word[0].isupper()} == {"RoadHand"}
