"""Bounds of texts in the schema: who is sent them, and what happens where they are not taken."""

from dataclasses import replace

import pytest

from hipo.app.models.endpoints import EndpointPool, local_run, providers_for
from hipo.app.models.resolution import ModelUse
from pipeline.providers.errors import FieldRejected
from pipeline.recipes.recipe import Limits
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop
from pipeline.store.run_store import RunStore
from pipeline.verifiers.claim_format import claims_format
from prompts.answer_fields import LabelField
from prompts.responses import response_format
from scenarios.arms import ModelSpec, Parameters
from scenarios.run_configuration import RunConfiguration
from scenarios.schemes.model import Dimension
from tests.pipeline.endpoint_bench import bench, said, seeds
from tests.pipeline.providers.asking import make_request
from tests.pipeline.scripted import CONTEXT, QUESTION
from tests.wire.faults import Faults

NO_LISTS = "Invalid schema: 'maxItems' is not permitted."
LLAMA_CPP = "Failed to initialize samplers: failed to parse grammar"
STRICT = "Invalid schema for response_format 'utterance': 'maxLength' is not permitted."


def bounds_sent(server):
    """Return for every request whether its schema bounds a text; None: it has no schema."""
    return [
        "maxLength" in seen.raw if "additionalProperties" in seen.raw else None
        for seen in server.seen
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "bounded"), [("compatible", True), ("openai", False), ("anthropic", False)]
)
async def test_texts_are_bounded_where_no_strict_mode_refuses_it(server, tmp_path, name, bounded):
    url = server.anthropic_url if name == "anthropic" else server.openai_url
    use = ModelUse(ModelSpec(name, "m", url, Parameters(max_tokens=64), "auto"), None, None)
    limits = Limits()
    with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
        async with providers_for([use], limits) as providers:
            link = local_run(limits, store.calls, Ledger(), Stop())
            pool = EndpointPool(limits, providers, link, print)
            assert await pool.client("arm", {"initiator": use}).ask(QUESTION, CONTEXT) == "seed 11"
    assert bounds_sent(server) == [bounded]
    if bounded:
        sent = server.seen[0].body["response_format"]["json_schema"]["schema"]
        assert sent["properties"]["utterance"]["maxLength"] == QUESTION.answer.bounds["utterance"]
        del sent["properties"]["utterance"]["maxLength"]
        assert sent == QUESTION.answer.schema


@pytest.mark.anyio
@pytest.mark.parametrize(
    "says", [LLAMA_CPP, STRICT, NO_LISTS, "no", "response_format cannot be compiled"]
)
async def test_bounds_that_are_refused_are_left_out_and_the_schema_is_kept(server, says):
    server.faults = Faults(no_bounds=says)
    async with bench(server, bounds_texts=True) as b:
        assert said(await b.ask()) == seeds(0)
        assert said(await b.ask(1)) == seeds(1)
        assert bounds_sent(server) == [True, False, False], "the lesson was forgotten"
        assert {attempt.structured for attempt in b.attempts} == {"native"}
        assert b.attempts[-1].omitted == "maxLength"
        (notice,) = b.notices
        assert "without 'maxLength' and 'maxItems' from now on" in notice


@pytest.mark.anyio
async def test_bounds_are_left_out_where_the_schema_is_insisted_on(server):
    server.faults = Faults(no_bounds="no")
    async with bench(server, bounds_texts=True, structured="native") as b:
        assert said(await b.ask()) == seeds(0)
        assert bounds_sent(server) == [True, False]


@pytest.mark.anyio
async def test_many_questions_at_once_lose_nothing_to_bounds_that_are_refused(server):
    server.faults = Faults(no_bounds="no", ignore_n=True)
    async with bench(server, bounds_texts=True) as b:
        assert said(await b.ask(0, 2, 4, 6, 8, 10)) == seeds(0, 2, 4, 6, 8, 10)
        assert {attempt.structured for attempt in b.attempts} == {"native"}
        assert len(b.notices) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("status", [400, 404, 422, 500, 501])
@pytest.mark.parametrize("names_it", [True, False])
async def test_an_endpoint_without_structured_output_is_told_of_once(server, status, names_it):
    server.faults = Faults(no_schema=status, names_schema=names_it)
    async with bench(server, bounds_texts=True) as b:
        assert said(await b.ask()) == seeds(0)
        before = server.count
        await b.ask()
        assert server.count == before + 1
        assert bounds_sent(server)[-2:] == [None, None]
        (notice,) = b.notices
        assert "structured output" in notice


@pytest.mark.anyio
async def test_a_schema_that_is_insisted_on_is_tried_without_bounds_and_no_further(server):
    server.faults = Faults(no_schema=400)
    async with bench(server, bounds_texts=True, structured="native") as b:
        with pytest.raises(FieldRejected):
            await b.ask()
        assert bounds_sent(server) == [True, False]


@pytest.mark.anyio
async def test_a_prompt_alone_carries_no_bounds(server):
    async with bench(server, bounds_texts=True, structured="instruct") as b:
        await b.ask()
        assert bounds_sent(server) == [None]


def bounded(answer):
    """Return the schema of an answer as an endpoint that takes bounds gets it."""
    return replace(make_request(), schema=answer.schema, bounds=answer.bounds).bounded_schema


def test_claims_are_bounded_in_their_number_and_in_their_texts():
    claims = bounded(claims_format())["properties"]["claims"]
    assert claims["maxItems"] == 12
    for kind in claims["items"]["anyOf"]:
        for name, value in kind["properties"].items():
            is_open = value["type"] == "string" and "enum" not in value
            assert ("maxLength" in value) is is_open, name
    assert "maxItems" not in str(claims_format().schema), "the key of stored answers changed"


def test_a_list_of_labels_holds_each_of_them_once():
    dimension = Dimension(
        id="d",
        question="Which?",
        level="utterance",
        measurement="multi",
        labels=[{"id": x, "definition": x} for x in "abc"],
    )
    labels = response_format("x", [LabelField(dimension)], lambda *_: None)
    assert bounded(labels)["properties"][LabelField(dimension).key]["maxItems"] == 3
