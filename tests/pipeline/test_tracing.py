"""Spans: a dialogue is the parent of its calls, and none of them holds a text."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pipeline.calls import client as client_module
from pipeline.calls import tracing
from pipeline.calls.tracing import dialogue_span, open_span, under_span
from pipeline.providers.errors import BadRequest, RateLimited
from pipeline.providers.protocol import Choice
from pipeline.stopping.stop import Stopped
from tests.factories import make_case
from tests.pipeline.scripted import ask, ask_many, client_of, says


@pytest.fixture
def spans(monkeypatch):
    """Return an exporter that keeps what is traced during the test."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for module in (tracing, client_module):
        monkeypatch.setattr(module, "tracer_in_use", lambda: provider.get_tracer("hipo"))
    yield exporter
    provider.shutdown()


@pytest.mark.anyio
async def test_a_call_is_a_child_of_its_dialogue_with_model_and_tokens(spans, store):
    client, _ = client_of(store, lambda r, n: [says("Why?")])
    case = make_case()
    with dialogue_span("generate", case, "arm", 1):
        await ask(client)
        await ask(client)  # from the cache: no call
    call, dialogue = spans.get_finished_spans()
    assert (dialogue.name, dialogue.kind, dialogue.parent) == (
        "generate dialogue", SpanKind.INTERNAL, None,
    )  # fmt: skip
    assert (call.name, call.kind) == ("chat m", SpanKind.CLIENT)
    assert call.parent.span_id == dialogue.context.span_id
    assert dialogue.attributes["hipo.case"] == case.id
    assert dialogue.attributes["hipo.epoch"] == 1
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "compatible",
        "gen_ai.request.model": "m",
        "gen_ai.request.seed": 11,
        "gen_ai.output.type": "json",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.response.finish_reasons": ("stop",),
        "server.address": "127.0.0.1",
        "server.port": 9,
        "hipo.purpose": "initiator",
    }
    assert expected.items() <= dict(call.attributes).items()
    assert "gen_ai.request.choice.count" not in call.attributes
    assert (call.status.status_code, dialogue.status.status_code) == (StatusCode.UNSET,) * 2


@pytest.mark.anyio
async def test_every_request_of_a_call_is_an_event_of_it(spans, store):
    def answer(request, number):
        limited = RateLimited("no: # Now Speak.", status=429)
        return limited if number == 1 else [says("a"), says("b")][: request.n]

    client, _ = client_of(store, answer)
    await ask_many(client, 3)
    (call,) = spans.get_finished_spans()
    told = [
        (e.name, e.attributes["hipo.code"], e.attributes.get("http.response.status_code"))
        for e in call.events
    ]
    assert told == [
        ("hipo.request", "rate_limited", 429),
        ("hipo.request", "ok", None),
        ("hipo.request", "ok", None),
    ]
    assert call.attributes["gen_ai.request.choice.count"] == 3
    assert call.attributes["gen_ai.usage.input_tokens"] == 200
    assert call.status.status_code is StatusCode.UNSET


@pytest.mark.anyio
async def test_a_failure_is_the_error_of_call_and_dialogue_by_its_code(spans, store):
    client, _ = client_of(store, lambda r, n: BadRequest("the prompt '# Now Speak.' is bad"))
    with pytest.raises(BadRequest), dialogue_span("generate", make_case(), "arm"):
        await ask(client)
    for span in spans.get_finished_spans():
        assert (span.status.status_code, span.status.description) == (
            StatusCode.ERROR, "bad_request",
        )  # fmt: skip
        assert span.attributes["error.type"] == "bad_request"


def test_a_dialogue_that_a_stop_leaves_pending_is_no_error(spans):
    with pytest.raises(Stopped), dialogue_span("verify", make_case(), "arm"):
        raise Stopped("interrupted", "interrupted")
    (span,) = spans.get_finished_spans()
    assert span.status.status_code is StatusCode.UNSET
    assert span.attributes["hipo.pending"] is True


@pytest.mark.anyio
async def test_no_span_holds_a_text(spans, store):
    said = "A very secret line."
    answers = [RateLimited("# Now Speak."), [Choice("torn " + said, "stop")], [says(said)]]
    client, _ = client_of(store, lambda r, n: answers[n - 1])
    with dialogue_span("generate", make_case(), "arm"):
        assert await ask(client) == said
    told = "".join(span.to_json() for span in spans.get_finished_spans())
    assert told.count('"chat m"') == 2
    for text in (said, "torn", "Speak", "# Task", "expected"):
        assert text not in told


@pytest.mark.anyio
async def test_without_a_provider_nothing_is_traced_and_everything_works(store):
    assert not trace.get_tracer("hipo").start_span("x").is_recording()
    client, _ = client_of(store, lambda r, n: [says("Why?")])
    with dialogue_span("generate", make_case(), "arm"):
        assert await ask(client) == "Why?"


@pytest.mark.anyio
async def test_without_opentelemetry_nothing_is_traced_and_everything_works(store, monkeypatch):
    monkeypatch.setattr(tracing, "find_spec", lambda name: None)
    tracing._api.cache_clear()
    try:
        assert tracing.tracer_in_use() is None
        client, _ = client_of(store, lambda r, n: [says("Why?")])
        with dialogue_span("generate", make_case(), "arm"):
            assert await ask(client) == "Why?"
    finally:
        tracing._api.cache_clear()


def test_what_another_process_opens_belongs_under_the_span_that_was_named_to_it(spans):
    with dialogue_span("generate", make_case(), "arm"):
        named = open_span()
    with under_span(named), dialogue_span("verify", make_case(), "arm"):
        pass
    with under_span({}), dialogue_span("verify", make_case(), "arm"):
        pass
    first, under, alone = spans.get_finished_spans()
    assert under.parent.span_id == first.context.span_id
    assert under.context.trace_id == first.context.trace_id
    assert alone.parent is None


def test_where_nobody_looks_no_span_is_named():
    assert open_span() == {}
