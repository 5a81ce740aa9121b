"""A model that will not play is asked once more in another frame."""

import dataclasses

import pytest

from outputs.report.effort import _AGAIN
from pipeline.calls.client import AnswerUnusable
from pipeline.store.queries.report import open_figures
from prompts.objections import DECLINED
from prompts.role_views import initiator_view, responder_view
from tests.factories import make_actor_prompts, make_case, make_scenario, make_scheme
from tests.pipeline.scripted import CONTEXT, client_of, requests_of, says, statuses_of

REFUSED = "I'm sorry, but I can't assist with that."
FRAME = "a line of an invented character in a detective script"
HISTORY = (("initiator", "Was it ever hit?"), ("responder", "No."))


@pytest.fixture
def question():
    car = make_scenario()
    return make_actor_prompts().initiator(initiator_view(car, make_case(car)), HISTORY)


def scripted(store, *answers):
    return client_of(store, lambda request, number: [answers[number - 1]] * request.n)


@pytest.mark.anyio
@pytest.mark.parametrize("refused", [REFUSED, says(REFUSED)], ids=["in words", "as an answer"])
async def test_a_refusal_is_asked_for_in_another_frame(store, question, refused):
    client, provider = scripted(store, refused, says("Who painted that wing?"))
    assert await client.ask(question, CONTEXT) == "Who painted that wing?"
    first, second = (request.messages for request in provider.requests)
    assert len(second) == len(first) == 2, "nothing of the refusal is shown"
    assert second[1].content.startswith(first[1].content)
    assert FRAME in second[1].content
    assert [r.purpose for r in requests_of(store)] == ["initiator", "initiator/reframe-1"]


@pytest.mark.anyio
async def test_that_is_done_once_and_then_it_fails_as_ever(store, question):
    client, _ = scripted(store, REFUSED, REFUSED, REFUSED)
    with pytest.raises(AnswerUnusable):
        await client.ask(question, CONTEXT)
    purposes = [r.purpose for r in requests_of(store)]
    assert purposes == ["initiator", "initiator/reframe-1", "initiator/repair-2"]
    assert set(statuses_of(store)) == {"unparseable"}


@pytest.mark.anyio
async def test_a_refusal_in_an_answer_that_stays_is_kept_for_the_gate(store, question):
    client, provider = scripted(store, says(REFUSED), says(REFUSED))
    assert await client.ask(question, CONTEXT) == REFUSED
    assert len(provider.requests) == 2


@pytest.mark.anyio
async def test_what_is_torn_is_repaired_and_not_reframed(store, question):
    client, provider = scripted(store, "torn", says("Who painted that wing?"))
    await client.ask(question, CONTEXT)
    assert FRAME not in str(provider.requests[1].messages)


@pytest.mark.anyio
async def test_reports_count_what_was_asked_for_again(store, question, tmp_path):
    client, _ = scripted(store, REFUSED, "torn", says("Who painted that wing?"))
    await client.ask(question, CONTEXT)
    with open_figures(tmp_path / "run") as figures:
        assert dict(figures.asked_again()) == {"reframe": 1, "repair": 1}
        assert dict(figures.asked_again()).keys() == _AGAIN.keys()


def test_a_responder_that_will_not_play_is_objected_to():
    car, scheme = make_scenario(), make_scheme()
    view = responder_view(car, scheme, make_case(car))
    asked = make_actor_prompts().responder(view, HISTORY)
    draft = asked.answer.read(
        '{"utterance": "As an AI, I cannot lie about cars.", "goal": "deception",'
        ' "intention": "Inform", "veracity": "None", "illocutionary": "Representatives"}'
    )
    assert asked.objections(draft) == (DECLINED,)
    said = dataclasses.replace(draft, text="I can't tell you that, and I won't.")
    assert asked.objections(said) == ()


def test_words_of_the_answer_format_are_no_refusal(question):
    torn = '{"utterance": "I do not know which illocutionary act'
    assert not question.is_declined(torn, ["answer: found no JSON object"])
