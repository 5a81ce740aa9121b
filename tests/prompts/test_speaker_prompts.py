"""What the roles of a flow are told: layout, labels by role and condition, no word of HIPO's."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompts.actors import ActorPrompts
from prompts.environment import Templates
from prompts.responses import Unreadable
from prompts.turn_views import answering_view, asking_view
from scenarios.dialogue import Critique, Draft, TacticLabel
from scenarios.flow import planned_turns
from tests.flows import make_flow_case, make_hearing, make_watched
from tests.questions import whole

SCHEME, HEARING, CASE = make_watched(), make_hearing(), make_flow_case()
PROMPTS = ActorPrompts(Templates(), SCHEME)
PLANNED = planned_turns(HEARING, CASE)
HISTORY = (("clerk", "Please state your name."), ("counsel", "Where were you?"))
DRAFT = Draft("I can't recall.", "", (TacticLabel("move", "dodge", "it tells nothing"),))


def view_of(role):
    planned = next(turn for turn in PLANNED if turn.role == role and turn.text is None)
    make = answering_view if planned.labelled else asking_view
    return make(HEARING, SCHEME, CASE, planned, ("Register: plain",))


def questions():
    witness = view_of("first_witness")
    critiques = [Critique("move", False, "it tells something")]
    return {
        "words": PROMPTS.initiator(view_of("clerk"), HISTORY),
        "counsel": PROMPTS.responder(view_of("counsel"), HISTORY[:1], (("move", "ask"),)),
        "witness": PROMPTS.responder(witness, HISTORY),
        "reflect": PROMPTS.reflect(witness, HISTORY, DRAFT),
        "revise": PROMPTS.revise(witness, HISTORY, DRAFT, critiques),
    }


@pytest.mark.parametrize("name", ["words", "counsel", "witness", "reflect", "revise"])
def test_what_each_is_asked(name, snapshot):
    assert whole(questions()[name]) == snapshot


def test_no_word_of_question_and_answer_is_in_them():
    for text in map(whole, questions().values()):
        assert not {"INITIATOR", "RESPONDER", "deception"} & set(text.replace(",", " ").split())


def test_labels_that_do_not_go_together_are_refused_and_those_not_asked_for_left_out():
    form = questions()["witness"].answer
    answer = '{"plan": "", "utterance": "I heard it.", "move": "%s", "way": "%s", "ease": 4}'
    told = form.read(answer % ("tell", "does not apply"))
    assert [label.dimension for label in told.tactic] == ["move", "ease"]
    dodged = form.read(answer % ("dodge", "jokes"))
    assert [label.dimension for label in dodged.tactic] == ["move", "way", "ease"]
    for wrong in (("ask", "jokes"), ("dodge", "does not apply")):
        with pytest.raises(Unreadable):
            form.read(answer % wrong)


@pytest.mark.parametrize("role", ["clerk", "first_witness"])
@pytest.mark.parametrize(("words", "bound"), [(40, 450), (140, 1_400), (190, 1_900), (500, None)])
def test_a_speech_is_neither_cut_nor_refused_for_the_length_that_was_asked_for(role, words, bound):
    speech = "I saw it. " * (words // 3)
    view = replace(view_of(role), length=f"about {words} words", words=words)
    ask = PROMPTS.responder if view.labelled else PROMPTS.initiator
    form = ask(view, HISTORY).answer
    labels = {"move": "tell", "way": "does not apply", "ease": 4}
    read = form.read(json.dumps({"plan": "", "utterance": speech, **labels}))
    assert (read.text if view.labelled else read) == speech.strip()
    assert form.bounds.get("utterance") == bound
    assert bound is None or bound >= len(speech)
    with pytest.raises(Unreadable, match="characters"):
        form.read(json.dumps({"plan": "", "utterance": speech * 20, **labels}))


def test_the_room_for_a_turn_is_that_of_its_part_of_the_conversation():
    speeches = {
        "id": "speeches",
        "who": ["counsel"],
        "length": {"sentences": 5, "words": [40, 140]},
    }
    hearing = make_hearing(flow=[speeches, {"id": "talk", "who": ["counsel"]}])
    planned = planned_turns(hearing, make_flow_case(hearing))
    views = [answering_view(hearing, SCHEME, CASE, turn, ()) for turn in planned]
    assert [PROMPTS.responder(v, ()).answer.bounds["utterance"] for v in views] == [1_400, 450]


SHARED = "# What you know together with some of the others"


def shared_hearing():
    facts = [fact.model_dump() for fact in HEARING.facts]
    facts[2]["also_known_by"] = ["clerk"]
    return make_hearing(facts=facts)


@pytest.mark.parametrize(("role", "other"), [("counsel", "CLERK"), ("clerk", "COUNSEL")])
def test_each_of_two_who_know_a_fact_is_told_of_the_other(role, other):
    planned = next(turn for turn in PLANNED if turn.role == role and turn.text is None)
    make, ask = (
        (answering_view, PROMPTS.responder)
        if planned.labelled
        else (asking_view, PROMPTS.initiator)
    )
    told = whole(ask(make(shared_hearing(), SCHEME, CASE, planned, ()), HISTORY))
    assert f"{other} knows it too. It concerns a picture: A camera caught the plate." in told
    assert SHARED in told
    assert "\n# What only you know" not in told


def test_who_does_not_know_a_shared_fact_is_told_nothing_of_it():
    planned = next(turn for turn in PLANNED if turn.role == "first_witness")
    view = answering_view(shared_hearing(), SCHEME, CASE, planned, ("Register: plain",))
    assert whole(PROMPTS.responder(view, HISTORY)) == whole(questions()["witness"])


def test_who_declares_nothing_is_told_nothing_of_labels():
    seen = SCHEME.model_dump(mode="json", by_alias=True)
    seen["dimensions"] = [d | {"by": "reader"} for d in seen["dimensions"]]
    prompts = ActorPrompts(Templates(), type(SCHEME).model_validate(seen))
    told = whole(prompts.responder(view_of("first_witness"), HISTORY))
    assert "label" not in told.casefold()
