"""What the roles of a flow are told: layout, labels by role and condition, no word of HIPO's."""

from __future__ import annotations

import json
import re
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


@pytest.mark.parametrize("name", ["witness", "reflect", "revise"])
def test_a_contradiction_that_a_label_means_is_wanted_and_fits(name):
    assert "caught out or a label of the line means that" in whole(questions()[name]).replace(
        ",", ""
    )


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
    forms = [PROMPTS.responder(v, ()).answer for v in views]
    assert [form.bounds["utterance"] for form in forms] == [1_400, 450]
    told = [form.schema["properties"]["utterance"]["description"] for form in forms]
    lengths = ["at most 140 words or so", "one or two sentences"]
    assert told == [f"what is said, {length}" for length in lengths]


def asked_of(role, history, place=0):
    planned = [turn for turn in PLANNED if turn.role == role and turn.text is None][place]
    view = asking_view(HEARING, SCHEME, CASE, planned, ())
    return PROMPTS.initiator(view, history).messages[-1].content


def test_who_spoke_last_is_told_to_go_on_and_others_are_not():
    going_on = "Nobody has answered your last line: go on from it."
    assert going_on in asked_of("clerk", HISTORY[:1])
    assert going_on not in asked_of("clerk", HISTORY)
    assert going_on not in asked_of("clerk", ())


def test_the_last_of_several_parts_is_told_to_be_the_last():
    ending = "The conversation ends with this part."
    assert ending in asked_of("clerk", HISTORY)
    assert not any(ending in asked_of("counsel", HISTORY, place) for place in (0, 1))
    alone = make_hearing(flow=[{"id": "talk", "who": ["counsel", "first_witness"]}])
    planned = planned_turns(alone, make_flow_case(alone))[0]
    assert not answering_view(alone, SCHEME, CASE, planned, ()).last


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


def test_a_run_is_known_by_prompts_that_plan_whoever_declares_something():
    """What is hashed says nothing of what only roles without labels are spared."""
    scheme = SCHEME.model_dump(mode="json", by_alias=True)
    scheme["dimensions"] = [d | {"of": ["counsel"]} for d in scheme["dimensions"]]
    prompts = ActorPrompts(Templates(), type(SCHEME).model_validate(scheme)).speakers
    planned = [p.answer.keys[0] == "plan" for p in prompts.samples]
    assert planned == [False, True, False, True]


@pytest.fixture(scope="module")
def told_who_declares_nothing():
    """Return what the witness is asked where readers alone give labels, by what it is asked for."""
    seen = SCHEME.model_dump(mode="json", by_alias=True)
    seen["dimensions"] = [d | {"by": "reader"} for d in seen["dimensions"]]
    prompts = ActorPrompts(Templates(), type(SCHEME).model_validate(seen))
    view, draft = view_of("first_witness"), Draft("I can't recall.", "", ())
    return {
        "speak": prompts.responder(view, HISTORY),
        "reflect": prompts.reflect(view, HISTORY, draft),
        "revise": prompts.revise(view, HISTORY, draft, [Critique("fit", False, "it is too short")]),
    }


@pytest.mark.parametrize("name", ["speak", "reflect", "revise"])
def test_who_declares_nothing_is_told_nothing_of_labels(name, told_who_declares_nothing):
    question = told_who_declares_nothing[name]
    told = whole(question)
    assert not re.search("label|declare|dimension|rationale|plan", told, re.IGNORECASE)
    assert "\n\n\n" not in told
    assert question.answer.keys == (("fit_reason", "fit") if name == "reflect" else ("utterance",))
