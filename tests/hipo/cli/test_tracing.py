"""Spans leave a command by the standard variables of OpenTelemetry, and only then."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hipo.app.workers import processes
from hipo.cli.main import run
from tests.forked import command, forked
from tests.hipo.collector import Collector, collecting

COMMAND = (
    "generate", "--model", "offline/rules", "--scenarios", "used_car", "-n", "2", "--turns", "1",
    "--strategy", "direct", "-q", "-o", "run",
)  # fmt: skip


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as server:
        yield server


def hipo(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return forked(command, [*COMMAND, *options], folder, {**clean, **variables})


def test_a_collector_gets_each_dialogue_with_its_calls(
    tmp_path: Path, collector: Collector
) -> None:
    done = hipo(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert (done.returncode, done.stderr) == (0, "")
    assert_whole(collector)


def without_patience(arguments: Sequence[str]) -> None:
    """Run a command that kills its workers at once where they have nothing to send."""
    processes.LEAVE_S = 0.0  # of this process alone
    command(arguments)


@pytest.mark.slow
def test_workers_have_the_time_that_a_busy_collector_takes(
    tmp_path: Path, collector: Collector
) -> None:
    collector.busy_s = 1.0
    told = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    done = forked(without_patience, [*COMMAND, "--workers", "2"], tmp_path, told)
    assert done.returncode == 0
    assert_whole(collector)


def assert_whole(collector: Collector) -> None:
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
