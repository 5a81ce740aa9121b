"""Runs of hipo 0.1 go on with the prompts that they were made with."""

from __future__ import annotations

from prompts.actors import ActorPrompts
from prompts.environment import Templates
from prompts.first_templates import first_sources
from scenarios.dialogue import FIT


def test_their_answers_have_neither_a_plan_nor_a_verdict_on_the_fit(hipo, view, history, draft):
    first = ActorPrompts(Templates(stored=first_sources()), hipo)
    answered = first.responder(view, history)
    assert answered.answer.keys[0] == "utterance"
    assert FIT not in first.reflect(view, history, draft).answer.keys
    user = answered.messages[1].content
    assert "# Where you stand" not in user
    assert "\nRESPONDER: " in user


def test_the_order_of_the_paper_is_all_they_know(hipo):
    stored = Templates(stored=first_sources())
    orders = {ActorPrompts(stored, hipo, order).fingerprint for order in ("plan", "paper")}
    assert len(orders) == 1
    today = {ActorPrompts(Templates(), hipo, order).fingerprint for order in ("plan", "paper")}
    assert len(today | orders) == 3


def test_what_is_stored_of_a_run_tells_which_they_are(hipo, view, history):
    for order in ("plan", "paper"):
        made = ActorPrompts(Templates(), hipo, order)
        stored = made.templates.sources(made.names)
        again = ActorPrompts(Templates(stored=stored), hipo, order)
        assert again.fingerprint == made.fingerprint
        assert again.responder(view, history).messages == made.responder(view, history).messages
