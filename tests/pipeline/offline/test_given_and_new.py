"""What was said already is not asked, told or taken back as if it had not been."""

from __future__ import annotations

import pytest

from pipeline.offline.engine import answer
from pipeline.offline.grammar import listed
from pipeline.offline.question_form import question_form
from pipeline.offline.reading import read_prompt
from pipeline.offline.responding import read_scene
from pipeline.offline.staging import Cast, cast_of, staged_scene
from pipeline.offline.wording import sentence
from prompts.actors import ActorPrompts, initiator_view, responder_view
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.lines.model import ANY_GOAL, ANY_QUESTION
from scenarios.schemes.registry import load_scheme
from tests.factories import make_case

SCHEME = load_scheme("hipo")
SHOW = Catalogue.load(environment={}).entry("luxury_launch").scenario
DECEPTION, DISCREET = SCHEME.goal.values
FACT = "hand_built"
CARS = SHOW.fact(FACT).angle
OPENING = [
    ("initiator", SHOW.opening.shared.exchanges[0].question),
    ("responder", SHOW.opening.shared.exchanges[0].answer),
    ("initiator", SHOW.opening.shared.hard_question[0]),
]
LIE = "Those two came off our own line to be here today, so the third one's hardly a miracle."
REFUSAL = "I'm not going to answer that one."
SEEDS = range(40)


@pytest.fixture(scope="module")
def actors():
    return ActorPrompts(Templates(None), SCHEME)


def case_of(goal=DECEPTION):
    return make_case(SHOW, fact=FACT, goal=goal, turns=3, variation={"openings": "shared"})


def messages_of(question):
    return [(message.role, message.content) for message in question.messages]


def asked_next(actors, said, seed):
    prompt = actors.initiator(initiator_view(SHOW, case_of()), [*OPENING, ("responder", said)])
    return prompt.answer.read(answer(messages_of(prompt), seed))


def responder_asked(actors, *history, goal=DECEPTION):
    return actors.responder(responder_view(SHOW, SCHEME, case_of(goal)), [*OPENING, *history])


def again():
    return [sentence(text).rstrip(".") for text in listed("reactions", "told", "again")]


def test_who_asks_for_what_was_told_already_says_so(actors):
    """'Those two came off our own line.' 'If you say so. Those two beauties, where do they come from?'"""
    texts = [asked_next(actors, LIE, seed) for seed in SEEDS]
    angles = [text for text in texts if text.endswith(CARS)]
    assert angles
    assert all(any(text.startswith(said) for said in again()) for text in angles)
    others = [text for text in texts if not text.endswith(CARS)]
    others += [asked_next(actors, REFUSAL, seed) for seed in SEEDS]
    assert not any(text.startswith(said) for text in others for said in again())


def test_who_has_lied_about_it_does_not_take_it_back_by_half(actors):
    """'We'll leave that one unanswered', of the cars that had come off the own line a minute ago."""

    def treated(said):
        prompt = responder_asked(actors, ("responder", said), ("initiator", CARS))
        drafts = [prompt.answer.read(answer(messages_of(prompt), seed)) for seed in SEEDS]
        return {x.value for d in drafts for x in d.tactic if x.dimension == "veracity"}

    assert "Quality" in treated(LIE)
    assert not treated(LIE) & {"None", "Manner"}


def test_a_detail_that_was_told_in_other_words_is_not_told_again(actors):
    def details(said):
        prompt = responder_asked(actors, ("responder", said), ("initiator", CARS), goal=DISCREET)
        asked = read_prompt(messages_of(prompt))
        return read_scene(asked, cast_of(asked, DISCREET)).details

    [detail] = details(REFUSAL)
    assert details(f"For one thing, {detail}, and that's no secret.") == ()


def test_what_goes_with_any_question_is_said_under_either_goal_and_never_first(actors):
    asked = read_prompt(messages_of(responder_asked(actors)))
    scene = staged_scene(asked)
    lines = [line for line in scene.lines.responder if line.answers == ANY_QUESTION]
    assert {line.goal for line in lines} == {ANY_GOAL}
    for goal in (DECEPTION, DISCREET):
        cast = Cast(scene, FACT, goal)
        for question in (CARS, *(line.text for line in scene.lines.initiator)):
            exact = question_form(question) in ("who", "when", "where", "amount")
            fit = [line for line in lines if not (exact and line.is_vague_anywhere)]
            assert [line for line in lines if line in cast.answers(question)[1]] == fit
        assert not any(line in cast.answers(OPENING[-1][1])[1] for line in lines)
