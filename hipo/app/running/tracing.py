"""Send spans where the standard environment variables of OpenTelemetry say, from a command or a worker."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from scenarios.log import logger

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
EXPORTER = "OTEL_TRACES_EXPORTER"
SENT_IN_S = 30.0
"""So long a process may take to send what was traced: an exporter tries again where a collector is busy."""
_KNOWN = ("otlp", "console")
_ours: list[Any] = []
"""The provider that was set here: a process takes one alone, and may have several runs, as Ray's have."""
_log = logger("tracing")


def spans_are_sent() -> bool:
    """Return whether the environment names somewhere to send spans to."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    chosen = os.environ.get(EXPORTER, "").strip()
    return chosen != "none" and (bool(chosen) or any(os.environ.get(name) for name in ENDPOINTS))


@contextmanager
def exporting_spans() -> Iterator[None]:
    """Export what is traced inside, and have sent all of it at the end, if the environment says where to.

    Nothing happens either where the program was started by ``opentelemetry-instrument`` or the like, which
    sets everything up itself. The exporter and the provider read their own variables, such as
    ``OTEL_SERVICE_NAME`` and ``OTEL_EXPORTER_OTLP_HEADERS``.
    """
    if not spans_are_sent():
        yield
        return
    names = [name.strip() for name in os.environ.get(EXPORTER, "otlp").split(",")]
    unknown = [name for name in names if name not in _KNOWN]
    if unknown:
        _log.warning("%s=%s: hipo exports with otlp or console", EXPORTER, unknown[0])
    if not find_spec("opentelemetry") or not find_spec("opentelemetry.sdk"):
        _log.info('no spans are sent: install them with pip install "hipo[otel]"')
        yield
        return
    trace = importlib.import_module("opentelemetry.trace")
    current = trace.get_tracer_provider()
    if isinstance(current, trace.ProxyTracerProvider) and not unknown:
        current = _provider(names)
        _ours.append(current)
        trace.set_tracer_provider(current)
    if unknown or current not in _ours:
        yield
        return
    try:
        yield
    finally:
        current.force_flush(round(1_000 * SENT_IN_S))


def _provider(names: Sequence[str]) -> Any:
    """Return a provider that sends spans by these exporters; it ends with the process."""
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    provider = sdk.TracerProvider(resource=_resource())
    if "otlp" in names:
        otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    if "console" in names:
        exporter = export.ConsoleSpanExporter(out=sys.stderr)  # stdout is the command's own
        provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    return provider


def _resource() -> object:
    """Return what the environment says of this process, called hipo where it gives no name."""
    resources = importlib.import_module("opentelemetry.sdk.resources")
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    return resources.Resource.create({} if named else {"service.name": "hipo"})
