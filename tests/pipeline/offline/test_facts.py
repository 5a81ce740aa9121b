"""What is said of a fact is true of it, in the right person, and its denial is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.offline.facts import fact_forms
from pipeline.offline.phrases import definite, noun_phrases, tidy
from pipeline.offline.wording import adapted, contracted, joined


def forms(fact, about="the matter", speaker="seller", hearer="buyer"):
    return fact_forms(about, fact, speaker, hearer)


@pytest.mark.parametrize(
    ("fact", "clause"),
    [
        ("The seller hit a wall, and the wing had to be replaced.", "I hit a wall"),
        ("Two winters ago the seller slid into a ditch, and nobody saw it.", "I slid into a ditch"),
        ("The seller's cousin painted the wing; the bill was never written.",
         "the bill was never written"),
        ("The wing was resprayed because a trolley had scratched it.", "the wing was resprayed"),
        ("The seller owes the buyer's firm a large sum, and the contract hides it.",
         "I owe your firm a large sum"),
        ("He pulled a cap over the detector before lighting up.", "I pulled a cap over the detector"),
    ],
)  # fmt: skip
def test_a_part_is_put_in_the_mouth_of_the_one_it_speaks_of(fact, clause):
    assert clause in forms(fact).clauses


@pytest.mark.parametrize(
    "fact",
    [
        "A neighbour was there, and the seller gave him his word.",
        "Both of the old ones are in daily use, and they belong to the other two.",
        "The seller and his brother signed the paper, and he kept quiet.",
    ],
)
def test_a_part_whose_pronouns_are_unclear_is_not_used(fact):
    assert set(forms(fact).clauses) <= {"a neighbour was there"}


def test_the_whole_fact_is_never_one_of_its_parts():
    assert forms("The seller hit a wall.").clauses == ()


@pytest.mark.parametrize(
    ("fact", "denial"),
    [
        ("The seller hit a wall, and the wing broke.", "I never hit a wall"),
        ("The wing was resprayed in March.", "the wing was never resprayed in March"),
        ("The seller has a cousin who sprayed the wing.", None),
        ("A cook has slept in the second room since March.", "no cook has ever slept in the second room"),
        ("The bolts were never tightened after the test.", "the bolts were tightened"),
        ("There is a hole in the duvet, and it smells.", "there is no hole in the duvet"),
        ("The sister is passing through the city.", "the sister is not passing through the city"),
        ("Nobody in the firm read the report.", None),
    ],
)  # fmt: skip
def test_a_denial_turns_the_fact_round_or_is_left_out(fact, denial):
    assert (denial in forms(fact).denials) if denial else (forms(fact).denials == ())


def test_the_subject_is_named_from_the_speaker_s_side():
    assert forms("Fact.", about="a matter of his health").about == "the matter of my health"
    assert forms("Fact.", about="company the seller would rather not name").about == (
        "company I would rather not name"
    )
    assert forms("Fact.", about="a " + "very " * 20 + "long story").about == "that"


def test_people_are_not_named_as_things():
    things = forms("The seller told a neighbour that the brake pedal sticks in the rain.").things
    assert "the brake pedal" in things
    assert not {"a neighbour", "the seller"} & set(things)


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


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_any_text_can_be_cut(fact, about, speaker, hearer):
    found = fact_forms(about, fact, speaker, hearer)
    assert found.about
    assert all(found.clauses)
    assert all(found.denials)


def test_contractions_keep_clear_of_sentence_ends_and_negations():
    assert contracted("I will not say what I am.") == "I won't say what I am."
    assert contracted("it is late and I do not know") == "it's late and I don't know"
    assert (
        adapted(joined(["look, I cannot say"]), "formal", spoken=True) == "If I may, I cannot say."
    )
    assert joined(["no , thanks", "really?", "no , thanks"]) == "No, thanks. Really?"
