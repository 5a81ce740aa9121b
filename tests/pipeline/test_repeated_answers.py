"""An answer that says again what was said is asked for once more, and never fails a case."""

import dataclasses

import pytest

from pipeline.calls.client import AnswerUnusable
from pipeline.providers.errors import BadRequest, ServerFault
from pipeline.voting import vote
from prompts.role_views import initiator_view
from tests.factories import make_actor_prompts, make_case, make_scenario
from tests.letter_encoder import LetterEncoder
from tests.pipeline.scripted import CONTEXT, QUESTION, client_of, requests_of, says, statuses_of

SAID = ("Why?", "Since when?")
ASKED = dataclasses.replace(
    QUESTION, objections=lambda text: ("utterance: said already",) if text in SAID else ()
)


def scripted(store, *answers):
    """Return a client whose n-th request brings the n-th answer, for every sample the same."""

    def answer(request, number):
        said = answers[number - 1]
        return [said] * request.n if isinstance(said, str) else said

    return client_of(store, answer)


@pytest.mark.anyio
async def test_a_line_said_before_is_asked_for_once_more(store):
    client, provider = scripted(store, says("Why?"), says("Who says so?"))
    assert await client.ask(ASKED, CONTEXT) == "Who says so?"
    echo, correction = provider.requests[1].messages[-2:]
    assert (echo.role, echo.content) == ("assistant", says("Why?"))
    assert "utterance: said already" in correction.content
    assert [r.purpose for r in requests_of(store)] == ["initiator", "initiator/repair-1"]
    assert statuses_of(store) == ["ok", "ok"]
    assert await client.ask(ASKED, CONTEXT) == "Who says so?"
    assert len(provider.requests) == 2, "a second start pays again"


@pytest.mark.anyio
async def test_an_initiator_that_says_its_opening_again_is_asked_for_another_line(store):
    car = make_scenario()
    view = initiator_view(car, make_case(car))
    opening = "Has this car ever been in an accident?"
    history = (("initiator", opening), ("responder", "No, it has not."))
    client, provider = scripted(store, says(opening), says("Who did the paint on that wing?"))
    said = await client.ask(make_actor_prompts().initiator(view, history), CONTEXT)
    assert said == "Who did the paint on that wing?"
    assert "this line has been said already" in provider.requests[1].messages[-1].content


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("second", "kept"),
    [
        (says("Since when?"), "Since when?"),
        ("torn", "Why?"),
        (BadRequest("too long", status=400), "Why?"),
    ],
)
async def test_it_is_asked_once_and_what_there_is_is_kept(store, second, kept):
    client, provider = scripted(store, says("Why?"), second)
    assert await client.ask(ASKED, CONTEXT) == kept
    assert len(provider.requests) == 2


@pytest.mark.anyio
async def test_all_repairs_together_are_two(store):
    client, provider = scripted(store, "torn", says("Why?"), says("Since when?"), says("What?"))
    assert await client.ask(ASKED, CONTEXT) == "Since when?"
    assert len(provider.requests) == 3


@pytest.mark.anyio
async def test_a_fault_while_asking_once_more_is_a_fault(store):
    client, _ = scripted(store, says("Why?"), *[ServerFault("no", status=500)] * 5)
    with pytest.raises(ServerFault):
        await client.ask(ASKED, CONTEXT)


@pytest.mark.anyio
async def test_candidates_are_not_asked_for_again_while_one_is_new(store):
    client, provider = scripted(store, [says("Why?"), says("Who?"), says("Since when?")])
    assert await client.ask_many(ASKED, CONTEXT, k=3) == ["Why?", "Who?", "Since when?"]
    assert len(provider.requests) == 1


@pytest.mark.anyio
async def test_where_all_candidates_repeat_one_is_asked_for_again(store):
    client, provider = scripted(
        store, ["torn", says("Why?"), says("Since when?")], says("Who says so?")
    )
    torn, new, old = await client.ask_many(ASKED, CONTEXT, k=3)
    assert isinstance(torn, AnswerUnusable)
    assert (new, old) == ("Who says so?", "Since when?")
    assert len(provider.requests) == 2


@pytest.mark.anyio
async def test_a_vote_elects_what_is_passed_over_only_if_there_is_nothing_else():
    texts = ["aaa", "aaab", "ccc", None]
    free = await vote(texts, LetterEncoder())
    assert free.winner == 1
    without = await vote(texts, LetterEncoder(), {1})
    assert without.winner == 0
    assert without.scores == free.scores
    assert (await vote(texts, LetterEncoder(), {0, 1})).winner == 2
    assert (await vote(texts, LetterEncoder(), {0, 1, 2})).winner == 1
