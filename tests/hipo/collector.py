"""A collector of spans, as OpenTelemetry's own is one: what is sent to it is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.serving import serving


class Collector(ThreadingHTTPServer):
    """Takes spans as a collector does, and keeps them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans: list[tuple[str, ...]] = []
        """Service, name, and the ids of a span, its parent and its trace."""
        self.url = ""
        self.busy_s = 0.0
        """So long it takes nothing, from the moment at which it was first asked to."""
        self.asked_at: float | None = None

    def is_busy(self) -> bool:
        """Whether it takes nothing at the moment."""
        if self.asked_at is None:
            self.asked_at = time.monotonic()
        return time.monotonic() < self.asked_at + self.busy_s


class Handler(BaseHTTPRequestHandler):
    """Reads what is posted to ``/v1/traces``."""

    server: Collector

    def do_POST(self) -> None:
        request = ExportTraceServiceRequest()
        request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.is_busy():
            self.send_error(503)
            return
        for resource in request.resource_spans:
            (service,) = (
                a.value.string_value
                for a in resource.resource.attributes
                if a.key == "service.name"
            )
            self.server.spans += [
                (
                    service,
                    span.name,
                    *(i.hex() for i in (span.span_id, span.parent_span_id, span.trace_id)),
                )
                for scope in resource.scope_spans
                for span in scope.spans
            ]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@contextmanager
def collecting() -> Iterator[Collector]:
    """Listen until the block ends."""
    server = Collector()
    with serving(server) as server.url:
        yield server
