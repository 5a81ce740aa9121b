"""The strategy ``screenplay``: one call writes a dialogue, is repaired, and is paid for once."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from hipo.app.preparation.prepared import prepare
from pipeline.calls.client import AnswerUnusable, Client
from pipeline.playing.player import CasePlayer
from pipeline.recipes.recipe import Recipe
from pipeline.strategies.registry import ANY_SCENARIO, STRATEGIES
from pipeline.strategies.screenplay import Screenplay
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.errors import UsageError
from scenarios.flow import planned_turns
from tests.flows import make_flow_case, make_hearing, make_watched
from tests.pipeline.scripted import Scripted, endpoint_of, link_of

SCHEME, HEARING = make_watched(), make_hearing()
PROMPTS = ActorPrompts(Templates(), SCHEME, script=True)
_TURN = re.compile(r"^Turn (\d+): ([A-Z ]+), [^;\n]*$", re.MULTILINE)
_LABELS = {
    "COUNSEL": {"move": "ask", "ease": 4},
    "FIRST WITNESS": {"move": "tell", "way": "does not apply", "ease": 2},
    "CLERK": {},
}


def written(request, left_out=0):
    """Return the script that a prompt asks for, without some turns at its end."""
    marks = _TURN.findall(request.messages[1].content)
    turns = [
        {"turn": int(n), "speaker": who, "utterance": f"Words {n}.", **_LABELS[who]}
        for n, who in marks
    ]
    return [json.dumps({"turns": turns[: len(turns) - left_out]})]


def player_of(store, answer):
    provider, link = Scripted(answer), link_of(store)
    client = Client(link, {"responder": endpoint_of(provider, link)}, "arm")
    player = CasePlayer(
        scenarios={HEARING.id: HEARING}, scheme=SCHEME, prompts=PROMPTS, arm="arm",
        strategy=Screenplay(PROMPTS, client), asker=client,
    )  # fmt: skip
    return player, provider


@pytest.mark.anyio
async def test_one_call_makes_every_turn_that_is_not_fixed(store):
    player, provider = player_of(store, lambda request, n: written(request))
    case = make_flow_case()
    dialogue = await player.play(case)
    assert len(provider.requests) == 1
    plan = planned_turns(HEARING, case)
    assert [(t.role, t.labelled) for t in dialogue.turns] == [(t.role, t.labelled) for t in plan]
    assert [t.kind for t in dialogue.turns] == ["opening" if t.text else "improvised" for t in plan]
    assert [t.text for t in dialogue.turns[1:]] == [f"Words {n}." for n in range(2, len(plan) + 1)]
    assert {turn.trace.strategy for turn in dialogue.answers()} == {"screenplay"}
    assert dialogue.answers()[1].tactic[0].value == "tell"


@pytest.mark.anyio
async def test_a_script_with_a_turn_too_few_is_handed_back_with_the_right_number(store):
    player, provider = player_of(store, lambda request, n: written(request, left_out=n == 1))
    dialogue = await player.play(make_flow_case())
    assert len(provider.requests) == 2
    assert "expected a list of" in provider.requests[1].messages[-1].content
    assert len(dialogue.turns) == len(planned_turns(HEARING, make_flow_case()))


@pytest.mark.anyio
async def test_a_script_that_stays_wrong_fails_the_case(store):
    player, provider = player_of(store, lambda request, n: written(request, left_out=1))
    with pytest.raises(AnswerUnusable, match="expected a list of"):
        await player.play(make_flow_case())
    assert len(provider.requests) == 3


@pytest.mark.anyio
async def test_a_dialogue_that_was_broken_off_is_not_paid_twice(store):
    def fail(request, n):
        raise AssertionError("asked again")

    cases = [make_flow_case(repetition=number) for number in range(3)]
    player, provider = player_of(store, lambda request, n: written(request))
    first = await asyncio.gather(*map(player.play, cases))
    store.calls.flush()
    again, silent = player_of(store, fail)
    assert await asyncio.gather(*map(again.play, cases)) == list(first)
    assert (len(provider.requests), silent.requests) == (3, [])


def test_only_scenarios_with_a_flow_are_taken_before_anything_is_sent():
    recipe = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "n": 1}
    with pytest.raises(UsageError, match="'used_car' has no flow"):
        prepare(Recipe.model_validate({**recipe, "strategies": ["screenplay"]}))


def test_its_answers_may_be_long_unless_the_recipe_says_otherwise():
    recipe = {"scheme": "face_acts", "strategies": ["direct", "screenplay"], "n": 1}

    def longest(**models):
        prepared = prepare(
            Recipe.model_validate({**recipe, "models": {"default": "offline/rules", **models}})
        )
        uses = {arm.strategy: prepared.uses[arm.id, "responder"] for arm in prepared.arms}
        return {name: use.spec.parameters.max_tokens for name, use in uses.items()}

    assert longest() == {"direct": 1024, "screenplay": 8192}
    assert longest(responder={"max_tokens": 2000}) == {"direct": 2000, "screenplay": 2000}


def test_it_declares_that_it_knows_everything_and_asks_no_initiator():
    strategy = STRATEGIES.get("screenplay")
    assert strategy.knows_all
    assert strategy.roles(strategy.settings()) == ("responder",)
    assert "screenplay" not in ANY_SCENARIO
    assert not any(STRATEGIES.get(name).knows_all for name in ANY_SCENARIO)
