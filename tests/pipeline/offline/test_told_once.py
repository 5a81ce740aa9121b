"""What was told, claimed or asked in other words is known, in scenes of the library."""

from __future__ import annotations

import re

import pytest

from pipeline.offline.authored import true_details
from pipeline.offline.engine import answer
from pipeline.offline.reading import read_prompt
from pipeline.offline.responding import read_scene
from pipeline.offline.staging import cast_of
from prompts.actors import ActorPrompts, initiator_view, responder_view
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.lines.library import scenarios_with, stage_lines
from scenarios.schemes.registry import load_scheme
from tests.factories import make_case

SCHEME = load_scheme("hipo")
CATALOGUE = Catalogue.load(environment={})
DECEPTION, DISCREET = SCHEME.goal.values
SEEDS = range(40)
NEVER_A_LETTER = (
    "If it hadn't been we'd have heard, and there's never been one letter about that panel."
)


@pytest.fixture(scope="module")
def actors():
    return ActorPrompts(Templates(None), SCHEME)


class Talk:
    """What a responder or an initiator of the library is asked after some lines."""

    def __init__(self, actors, scenario, fact, goal=DECEPTION, *, manner=()):
        self._actors = actors
        self._scenario = CATALOGUE.entry(scenario).scenario
        self._goal = goal
        self._manner = manner
        variation = {"openings": "shared"}
        self._case = make_case(self._scenario, fact=fact, goal=goal, turns=3, variation=variation)
        self.angle = self._scenario.fact(fact).angle
        shared = self._scenario.opening.shared
        easy = shared.exchanges[0]
        self._opening = [
            ("initiator", easy.question),
            ("responder", easy.answer),
            ("initiator", shared.hard_question[0]),
        ]

    def responder(self, *history):
        view = responder_view(self._scenario, SCHEME, self._case)
        return self._actors.responder(view, [*self._opening, *history])

    def read(self, *history):
        return read_prompt(messages_of(self.responder(*history)))

    def scene(self, *history):
        asked = self.read(*history)
        return read_scene(asked, cast_of(asked, self._goal))

    def treated(self, *history):
        prompt = self.responder(*history)
        drafts = [prompt.answer.read(answer(messages_of(prompt), seed)) for seed in SEEDS]
        return {x.value for d in drafts for x in d.tactic if x.dimension == "veracity"}

    def questions(self, said, seeds=SEEDS):
        view = initiator_view(self._scenario, self._case, manner=self._manner)
        prompt = self._actors.initiator(view, [*self._opening, ("responder", said)])
        return [prompt.answer.read(answer(messages_of(prompt), seed)) for seed in seeds]


def messages_of(question):
    return [(message.role, message.content) for message in question.messages]


def test_who_has_lied_keeps_to_it_when_the_hard_question_is_asked_once_more(actors):
    """'It's just as he says.' 'So was it like that or wasn't it?' 'That one's off the menu.'"""
    talk = Talk(actors, "reported_attack", "cash_from_the_till")
    lie = "It's just as he says, and the police have had every last thing out of me."
    [again] = [q.text for q in stage_lines("reported_attack").initiator if q.again]
    treated = talk.treated(("responder", lie), ("initiator", again))
    assert treated
    assert not treated & {"None", "Manner"}


def test_who_has_said_what_covers_a_fact_keeps_to_it_when_asked_about_that(actors):
    """'A shopping trolley had a go at that wing.' 'What happened on that side?' 'I feel rotten, no answer!'"""
    talk = Talk(actors, "used_car", "guardrail")
    [lie] = [x.text for x in stage_lines("used_car").responder if "shopping trolley" in x.text]
    assert not talk.treated(("responder", lie), ("initiator", talk.angle)) & {"None", "Manner"}


def test_nobody_tells_as_news_what_the_other_one_said(actors):
    """'There were four stubs in the flowerpot.' 'That I can answer, there were four stubs in there.'"""
    talk = Talk(actors, "quit_smoking", "card_room", DISCREET)
    nose = next(q.text for q in stage_lines("quit_smoking").initiator if "my nose" in q.text)
    details = talk.scene(("responder", "I'd rather not say."), ("initiator", nose)).details
    assert not any("four stubs" in detail for detail in details)


def test_a_line_that_tells_half_of_an_earlier_one_again_is_not_said(actors):
    """'There's a page for that panel in our build record.' 'There's a page for that panel in the record.'"""
    talk = Talk(actors, "cabin_panel", "old_sealant", DISCREET)
    told = "There's a page for that panel in our build record, and the aircraft went out in spring."
    question = stage_lines("cabin_panel").initiator[0].text

    def true_lines(said):
        asked = talk.read(("responder", said), ("initiator", question))
        return {line.text for line in true_details(asked, cast_of(asked, DISCREET))}

    assert any("build record" in text for text in true_lines("I'd rather not say."))
    assert not any("build record" in text for text in true_lines(told))


def test_what_was_claimed_is_not_claimed_again_in_other_words(actors):
    """'There's never been one letter about that panel.' 'No operator had reported anything before.'"""
    talk = Talk(actors, "cabin_panel", "whistling")
    before = talk.scene(("responder", "I'd rather not say."), ("initiator", talk.angle))
    assert before.covers == ("no operator had reported anything on that panel before",)
    assert not talk.scene(("responder", NEVER_A_LETTER), ("initiator", talk.angle)).covers


def test_every_claim_that_may_be_believed_is_said_as_people_speak():
    """'You can write down that the caller's account has passed all the checks of the estate.'"""
    for name in scenarios_with("stage"):
        lines = stage_lines(name)
        if lines is None or name not in CATALOGUE.entries:
            continue
        scenario = CATALOGUE.entry(name).scenario
        claims = {claim.id: claim.text for claim in scenario.claims}
        names = [role.name for role in scenario.roles.values()]
        roles = [re.split(" (?:of|for|at) ", name)[0].split()[-1] for name in names]
        for claim in {cover.claim for fact in scenario.facts for cover in fact.cover}:
            said = lines.in_own_words.get(claim, claims[claim]).lower()
            assert not any(f"the {role}" in said for role in roles), (name, said)


def test_a_question_of_two_sentences_has_its_own_way_in(actors):
    """'I see; the other parents'll be on at me at the gate.'"""
    texts = Talk(actors, "hydrogen_bus", "washing_bay").questions(
        "I'm not going to answer that one."
    )
    assert any(text.startswith("The other parents'll be on at me") for text in texts)
    assert not any(";" in text for text in texts)


def test_a_reaction_begins_otherwise_than_its_question(actors):
    """'Okay, I've got that. Okay, that one's in my size.'"""
    texts = Talk(actors, "wedding_ring", "ferry").questions(
        "They're stretching the other one, babe, it got as far as the knuckle and stopped.",
        range(200),
    )
    assert any("Okay, that one's in my size" in text for text in texts)
    assert not any(text.startswith("Okay") and " Okay," in text for text in texts)


def test_a_formal_reaction_keeps_the_short_forms_of_the_question_it_leads_to(actors):
    """'It would be better coming from you. How are you getting by, with the doors shut?'"""
    talk = Talk(actors, "hydrogen_bus", "washing_bay", manner=("Register: Formal and polite.",))
    texts = talk.questions("I'm not going to answer that one.", range(200))
    short = [
        text for text in texts if text.endswith("what'll I be cross with you about in a year?")
    ]
    assert any("'" in text.split(". ")[0] for text in short if ". " in text)
    assert not any(re.search(r"\b(?:will|cannot|have|is) not\b|\bI will\b", text) for text in short)
