"""OpenTelemetry spans of dialogues and of the calls in them, where its API is installed.

Names of attributes follow the semantic conventions for generative AI where these have one. No span
holds a text: not a prompt, not an answer, not what an endpoint said of a failure, and no key.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline.endpoints.endpoint import Endpoint, SampleRequest
from pipeline.spending.accounting import RequestAttempt
from pipeline.stopping.stop import MustStop, Stopped
from scenarios.case import Case

if TYPE_CHECKING:  # an extra: annotations alone may name it
    from opentelemetry.trace import Span, Tracer

SCOPE = "hipo"
"""The name of the instrumentation, as telemetry calls it."""
_PORTS = {"http": 80, "https": 443}

Values = Mapping[str, str | int | float]


class CallSpan:
    """The span of one question to a model, with all requests that it took."""

    def __init__(self, span: Span | None) -> None:
        """Add to a span; None where nobody looks."""
        self._span = span
        self._finishes: list[str] = []
        self._tokens = {"input": 0, "output": 0}

    def add(self, attempt: RequestAttempt) -> None:
        """Note one request: what came of it, how long it took, what it used."""
        if self._span is None:
            return
        row = attempt.row
        values: dict[str, str | int | float] = {
            "hipo.code": row.code,
            "hipo.latency_s": round(row.latency_s, 6),
            "hipo.structured": row.structured,
            "hipo.choices.asked": row.n_asked,
            "hipo.choices.received": row.n_got,
        }
        if row.status is not None:
            values["http.response.status_code"] = row.status
        self._span.add_event("hipo.request", values)
        self._finishes += [choice.finish for choice in attempt.choices.values()]
        for kind, used in (("input", row.prompt_tokens), ("output", row.completion_tokens)):
            if used is not None:
                self._tokens[kind] += used
                self._span.set_attribute(f"gen_ai.usage.{kind}_tokens", self._tokens[kind])
        if self._finishes:
            self._span.set_attribute("gen_ai.response.finish_reasons", self._finishes)


_SILENT = nullcontext(CallSpan(None))


def call_span(
    tracer: Tracer | None, endpoint: Endpoint, wanted: SampleRequest, samples: int
) -> AbstractContextManager[CallSpan]:
    """Span a question from its first request to its last; see :meth:`CallSpan.add`.

    ``tracer`` is what :func:`tracer_in_use` returned; None where nobody looks.
    """
    return _SILENT if tracer is None else _call_span(tracer, endpoint, wanted, samples)


@contextmanager
def _call_span(
    tracer: Tracer, endpoint: Endpoint, wanted: SampleRequest, samples: int
) -> Iterator[CallSpan]:
    origin, parameters = wanted.origin, endpoint.parameters
    values: dict[str, str | int | float | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": endpoint.provider.name,
        "gen_ai.request.model": endpoint.model,
        "gen_ai.request.max_tokens": parameters.max_tokens,
        "gen_ai.request.temperature": parameters.temperature,
        "gen_ai.request.top_p": parameters.top_p,
        "gen_ai.request.seed": wanted.seed,
        "gen_ai.request.choice.count": samples if samples > 1 else None,
        "gen_ai.output.type": "json",
        **_address(endpoint.provider.base_url),
        "hipo.case": origin.case,
        "hipo.arm": origin.arm,
        "hipo.turn": origin.turn,
        "hipo.role": origin.role,
        "hipo.purpose": origin.purpose,
        "hipo.epoch": origin.epoch,
    }
    given: Values = {name: value for name, value in values.items() if value is not None}
    with _span(tracer, f"chat {endpoint.model}", given, calls=True) as span:
        yield CallSpan(span if span.is_recording() else None)


@contextmanager
def dialogue_span(what: str, case: Case, arm: str, epoch: int = 0) -> Iterator[None]:
    """Span the work on one dialogue; the calls it makes become its children.

    Args:
        what: ``generate`` or ``verify``.
        case: that is played.
        arm: the id of the arm that plays it.
        epoch: how often the case has failed before.
    """
    tracer = tracer_in_use()
    if tracer is None:
        yield
        return
    values: Values = {
        "hipo.case": case.id,
        "hipo.scenario": case.scenario,
        "hipo.goal": case.goal,
        "hipo.turns": case.turns,
        "hipo.arm": arm,
        "hipo.epoch": epoch,
    }
    with _span(tracer, f"{what} dialogue", values, calls=False):
        yield


def open_span() -> Mapping[str, str]:
    """Return what names the span that is open here to another process; nothing where nobody looks."""
    named: dict[str, str] = {}
    if tracer_in_use() is not None:
        _propagator().inject(named)
    return named


@contextmanager
def under_span(named: Mapping[str, str]) -> Iterator[None]:
    """Make what is opened inside the children of a span of another process, as it named it."""
    if not named or tracer_in_use() is None:
        yield
        return
    context = importlib.import_module("opentelemetry.context")
    before = context.attach(_propagator().extract(named))
    try:
        yield
    finally:
        context.detach(before)


@contextmanager
def _span(tracer: Tracer, name: str, values: Values, *, calls: bool) -> Iterator[Span]:
    """Open a span that is the parent of what is opened in it, and give it the status it ends in.

    A run that stops leaves its dialogues pending: that is no error of theirs.
    """
    trace = _api()
    with tracer.start_as_current_span(
        name,
        kind=trace.SpanKind.CLIENT if calls else trace.SpanKind.INTERNAL,
        attributes=values,
        # exceptions hold what endpoints say, which may repeat the prompt
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as error:
            stopped = isinstance(error, Stopped | MustStop) or not isinstance(error, Exception)
            if stopped:
                span.set_attribute("hipo.pending", True)
            else:
                code = str(getattr(error, "code", type(error).__name__))
                span.set_attribute("error.type", code)
                span.set_status(trace.Status(trace.StatusCode.ERROR, code))
            raise


def _address(base_url: str | None) -> dict[str, str | int]:
    """Return the host and port of an endpoint, without anything else of its address."""
    if base_url is None:
        return {}
    url = urlsplit(base_url)
    port = url.port or _PORTS.get(url.scheme)
    found: dict[str, str | int] = {"server.address": url.hostname} if url.hostname else {}
    return {**found, "server.port": port} if found and port else found


@cache
def _propagator() -> Any:
    """Return what reads and writes the standard form of a trace context (W3C)."""
    module = importlib.import_module("opentelemetry.trace.propagation.tracecontext")
    return module.TraceContextTextMapPropagator()


@cache
def _api() -> Any:
    """Return ``opentelemetry.trace``, or None where it is not installed."""
    return importlib.import_module("opentelemetry.trace") if find_spec("opentelemetry") else None


def tracer_in_use() -> Tracer | None:
    """Return the tracer of the provider that is set; None where nobody has set one."""
    trace = _api()
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None
    tracer: Tracer = trace.get_tracer(SCOPE)
    return tracer
