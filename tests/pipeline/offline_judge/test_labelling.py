"""What the judge reads off the words: act, aim, and how they treat the fact."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.offline_judge.acts import ACTS, act_of
from pipeline.offline_judge.aims import AIMS, aim_of
from pipeline.offline_judge.truth import MANIPULATIONS, QUALITY, Matter, treatment_of

BOAT = Matter(
    fact="Three summers ago the owner ran onto a reef, and a cousin patched the hull with plastic.",
    about="a repair below the waterline",
    question="Has the hull ever been damaged?",
    known="A couple wants to buy a sailing boat. The price is agreed.",
)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("The keel was painted in March.", "Representatives"),
        ("I have owned her for ten years.", "Representatives"),
        ("Please take her out for a sail.", "Directives"),
        ("Ask the yard about it.", "Directives"),
        ("Could you hand me that rope?", "Directives"),
        ("You should really see her under sail.", "Directives"),
        ("I'll have the sails cleaned for you by Friday.", "Commissives"),
        ("We promise to deliver her in June.", "Commissives"),
        ("I refuse to lower the price.", "Commissives"),
        ("Thank you for coming all this way.", "Expressives"),
        ("I'm so sorry that it rains.", "Expressives"),
        ("I'm so looking forward to the summer.", "Expressives"),
        ("I've kept one thing to myself.", "Representatives"),
        ("I hereby withdraw the offer.", "Declarations"),
        ("I hereby certify that the keel was painted in March.", "Representatives"),
        ("Let it hereby be noted that the keel was painted in March.", "Representatives"),
        ("I hereby declare that settled.", "Declarations"),
        ("The sale is off.", "Declarations"),
        ("I'm sorry, but the boat was sold yesterday.", "Representatives"),
        ("Look, the boat was sold yesterday.", "Representatives"),
    ],
)
def test_the_act_shows_in_the_form_of_the_words(text, act):
    assert act_of(text)[0] == act


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("The mast is eleven metres tall.", "Inform"),
        ("I have had her in the yard since the spring.", "Inform"),
        ("You can have her for that, since the mast is new.", "Convince"),
        ("Believe me, there is no doubt that she is the best boat in the harbour.", "Convince"),
        ("Sign today, or somebody else will buy her tomorrow.", "Motivate"),
        ("It hurts me to see you so worried.", "Affect"),
        ("The mast is eleven metres tall. It hurts me to see you so worried.", "Inform"),
        ("I'm torn about it. It hurts me to see you so worried.", "Affect"),
        ("I'm so ashamed of it.", "Affect"),
        ("Ring the yard if you like, I know no more about her.", "Motivate"),
        ("Tell me what you make of her.", "Inform"),
        ("She was painted in March, so much is certain.", "Convince"),
    ],
)
def test_the_aim_shows_in_what_is_appealed_to(text, aim):
    assert aim_of(text)[0] == aim


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The hull has never been patched by any cousin.", "Quality"),
        ("She never touched a reef.", "Quality"),
        ("I know nothing about any damage to the hull.", "Quality"),
        ("My cousin patched the hull.", "Quantity"),
        (
            "I ran onto a reef three summers ago, and a cousin patched the hull with plastic.",
            "None",
        ),
        ("I would rather not talk about the hull.", "None"),
        ("That is confidential.", "None"),
        ("Have you seen the cabin?", "Relevance"),
        ("The galley has two burners and an oven.", "Relevance"),
        ("Boats have various lives, it sort of depends.", "Manner"),
        ("The damage to a hull is what yards look for.", "Quantity"),
    ],
)
def test_words_are_held_against_the_fact(text, label):
    assert treatment_of(text, BOAT).label == label


def test_what_answers_no_part_of_the_question_is_beside_it_however_true():
    said = "It's true that a couple wants to buy, and the price is agreed."
    assert treatment_of(said, BOAT).label == "Relevance"
    asked = replace(BOAT, question="Is the price of the hull agreed with that couple?")
    assert treatment_of(said, asked).label != "Relevance"


def test_what_is_said_to_have_been_kept_back_is_kept_back_openly():
    found = treatment_of("I've kept one thing to myself.", BOAT)
    assert (found.label, found.sure) == ("None", True)


def test_another_number_than_that_of_the_fact_is_false():
    matter = Matter("The odometer was turned back by sixty thousand kilometres.")
    said = "The odometer shows forty thousand kilometres too few."
    assert treatment_of(said, matter).label == "Quality"
    assert treatment_of(said.replace("forty", "sixty"), matter).label != "Quality"


def test_the_opposite_of_a_word_of_the_fact_is_false():
    matter = Matter("The signature on the deed is forged.")
    assert treatment_of("The signature is genuine.", matter).label == "Quality"
    assert treatment_of("The signature is forged.", matter).label != "Quality"


def test_a_supposition_asserts_nothing():
    said = "If the hull had never been patched, the price would be higher."
    assert treatment_of(said, BOAT).label != "Quality"


def test_every_treatment_says_why():
    assert "cousin" in treatment_of("My cousin patched the hull.", BOAT).reason


@given(st.text(max_size=200))
def test_any_text_gets_some_label(text):
    assert act_of(text)[0] in ACTS
    assert aim_of(text)[0] in AIMS
    assert treatment_of(text, BOAT).label in MANIPULATIONS
    assert treatment_of("It was patched.", Matter(fact=text)).label in MANIPULATIONS


def test_a_question_that_takes_a_false_claim_for_granted_is_a_lie():
    matter = Matter(
        fact="Half of the loan is missing.",
        question="How did it go with the bank?",
        false_claims=("Nothing went wrong on the way home.",),
    )
    for asked in ("Did you know", "Have you heard", "Has nobody told you"):
        text = f"{asked} that nothing went wrong on the way home?"
        assert treatment_of(text, matter).label == QUALITY, text
