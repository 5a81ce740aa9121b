"""Spans leave a command by the standard variables of OpenTelemetry, and only then."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from hipo.cli.main import run
from tests.forked import command, forked

COMMAND = (
    "generate", "--model", "offline/rules", "--scenarios", "used_car", "-n", "2", "--turns", "1",
    "--strategy", "direct", "-q", "-o", "run",
)  # fmt: skip


class Collector(ThreadingHTTPServer):
    """Takes spans as a collector does, and keeps them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans: list[tuple[str, ...]] = []
        """Service, name, and the ids of a span, its parent and its trace."""
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Reads what is posted to ``/v1/traces``."""

    server: Collector

    def do_POST(self) -> None:
        request = ExportTraceServiceRequest()
        request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
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


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def hipo(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return forked(command, [*COMMAND, *options], folder, {**clean, **variables})


@pytest.mark.parametrize(
    "options",
    [
        (),
        pytest.param(("--workers", "2"), marks=pytest.mark.slow),
        pytest.param(
            ("--executor", "ray", "--workers", "2"),
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(
                    find_spec("ray") is None, reason="needs pip install 'hipo[ray]'"
                ),
            ],
        ),
    ],
    ids=" ".join,
)
def test_a_collector_gets_each_dialogue_with_its_calls(
    options: tuple[str, ...], tmp_path: Path, collector: Collector
) -> None:
    done = hipo(tmp_path, *options, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert (done.returncode, done.stderr) == (0, "")
    dialogues = {
        span: trace for _, name, span, _, trace in collector.spans if name == "generate dialogue"
    }
    calls = [
        (parent, trace) for _, name, _, parent, trace in collector.spans if name == "chat rules"
    ]
    assert len(dialogues) == 2
    assert sorted(calls) == sorted(dialogues.items())  # an answer each: the first question is fixed
    assert {service for service, *_ in collector.spans} == {"hipo"}


def one_after_the_other(folders: Sequence[str]) -> None:
    """Run the command for each of some folders in one process, as a worker of Ray may be asked to."""
    for folder in folders:
        assert run([*COMMAND[:-1], folder]) == 0


def test_a_process_sends_the_spans_of_all_runs_in_it(tmp_path: Path, collector: Collector) -> None:
    told = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    done = forked(one_after_the_other, ["a", "b"], tmp_path, told)
    assert (done.returncode, done.stderr) == (0, "")
    names = [name for _, name, *_ in collector.spans]
    assert (names.count("generate dialogue"), names.count("chat rules")) == (4, 4)


def test_the_console_gets_them_on_standard_error_under_the_name_that_is_given(
    tmp_path: Path,
) -> None:
    done = hipo(tmp_path, OTEL_TRACES_EXPORTER="console", OTEL_SERVICE_NAME="night")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count('"name": "generate dialogue"') == 2
    assert '"service.name": "night"' in done.stderr


@pytest.mark.parametrize(
    "variables",
    [{"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_SDK_DISABLED": "true"}, {"OTEL_SERVICE_NAME": "x"}],
)
def test_nothing_is_sent_unless_it_is_asked_for(
    tmp_path: Path, collector: Collector, variables: dict[str, str]
) -> None:
    if "OTEL_SERVICE_NAME" not in variables:
        variables = {**variables, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    done = hipo(tmp_path, **variables)
    assert (done.returncode, done.stderr, collector.spans) == (0, "", [])


def test_an_exporter_nobody_knows_is_named_and_nothing_fails(tmp_path: Path) -> None:
    done = hipo(tmp_path, OTEL_TRACES_EXPORTER="zipkin")
    assert done.returncode == 0
    assert "OTEL_TRACES_EXPORTER=zipkin: hipo exports with otlp or console" in done.stderr
