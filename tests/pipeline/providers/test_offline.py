"""The embedded rules as a provider, here and behind the local endpoint: the same answers."""

from pathlib import Path

import pytest
import yaml

import scenarios
from pipeline.offline.engine import answer
from pipeline.providers.errors import BadRequest
from pipeline.providers.registry import build_provider, parse_model
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from prompts.question import Message
from prompts.role_views import InitiatorView
from scenarios.schemes.model import Scheme
from tests.pipeline.providers.asking import make_request
from tests.wire.server import WireServer

HOME = Path(scenarios.__file__).parent
HIPO = Scheme.model_validate(yaml.safe_load((HOME / "schemes/data/hipo.yaml").read_text()))
VIEW = InitiatorView(
    situation="A used car is for sale.",
    role="buyer",
    description="Looks for a car.",
    aim="Find out whether the car is sound.",
    other_role="seller",
    other_description="Sells a car.",
    language="en (English)",
)


@pytest.fixture(scope="module")
def messages():
    prompts = ActorPrompts(Templates(None), HIPO)
    history = (("initiator", "Was it ever in a crash?"), ("responder", "It drives well."))
    return prompts.initiator(VIEW, history).messages


@pytest.mark.anyio
async def test_sample_i_is_drawn_with_seed_plus_i_and_costs_tokens(messages):
    provider = build_provider(parse_model("offline/rules"))
    reply = await provider.send(make_request(messages=messages, n=3), 1.0)
    pairs = [(message.role, message.content) for message in messages]
    assert [choice.text for choice in reply.choices] == [answer(pairs, 7 + i) for i in range(3)]
    assert reply.usage.prompt == sum(len(text.encode()) // 4 for _, text in pairs)
    assert reply.usage.completion > 0
    await provider.close()


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["openai", "anthropic", "compatible"])
async def test_the_rules_say_the_same_over_either_wire_format(monkeypatch, messages, name):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789")
    request = make_request(messages=messages)
    here = await build_provider(parse_model("offline/rules")).send(request, 1.0)
    with WireServer() as server:
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        provider = build_provider(parse_model(f"{name}/m"), base_url=url)
        there = await provider.send(request, 10.0)
        await provider.close()
    assert there.choices == here.choices


@pytest.mark.anyio
@pytest.mark.parametrize(
    "prompt",
    [
        (Message("user", "hello"),),
        (Message("system", "Be kind."), Message("user", "hello")),
        (Message("system", "# Answer format\n{}"), Message("user", "hello")),
    ],
)
async def test_a_prompt_without_the_known_headings_is_refused_and_not_guessed(prompt):
    provider = build_provider(parse_model("offline/rules"))
    with pytest.raises(BadRequest, match="shipped prompts"):
        await provider.send(make_request(messages=prompt), 1.0)
    await provider.close()
