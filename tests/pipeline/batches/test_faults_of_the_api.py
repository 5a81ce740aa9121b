"""What a batch API refuses, and what it has no room for: nothing is lost and nothing is sent twice."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from hipo.app.generation.generate import generate
from hipo.app.running.watching import Silent
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.anthropic_batches import AnthropicBatches
from pipeline.providers.openai_batches import OpenAIBatches
from scenarios.errors import UsageError
from tests.pipeline.batches.runs import assert_whole, recipe
from tests.pipeline.integration.records import count, rows
from tests.wire.batches import BatchFaults, BatchStep
from tests.wire.server import WireServer


@pytest.mark.parametrize(
    ("provider", "step"),
    [
        ("openai", "upload"),
        ("openai", "create"),
        ("openai", "poll"),
        ("openai", "download"),
        ("anthropic", "create"),
        ("anthropic", "poll"),
        ("anthropic", "download"),
    ],
)
def test_a_step_that_is_refused_for_now_is_tried_again(
    server: WireServer, tmp_path: Path, provider: str, step: BatchStep
) -> None:
    server.batches.faults = BatchFaults(refusals={step: [429, 503]})
    run = generate(recipe(server, provider), output=tmp_path / "run")
    assert run.outcome is not None
    assert (run.outcome.done, run.outcome.stopped) == (12, None)
    assert server.batches.faults.refusals == {step: []}
    assert_whole(tmp_path / "run", server, 12)
    assert [len(batch.requests) for batch in server.batches.made] == [12, 12]


@pytest.mark.parametrize("step", ["upload", "create"])
def test_an_api_that_never_takes_a_batch_is_waited_for_no_longer_than_any_other(
    server: WireServer, tmp_path: Path, step: BatchStep
) -> None:
    server.batches.faults = BatchFaults(refusals={step: [500] * 1000})
    hasty = recipe(server, limits={"wait_for_endpoint": 0})
    first = generate(hasty, output=tmp_path / "run")
    assert first.outcome is not None
    assert first.outcome.stop_code == "unavailable"
    assert "the batch API fails: not now" in str(first.outcome.stopped)
    assert count(tmp_path / "run", "batches") == count(tmp_path / "run", "reservations") == 0
    server.batches.faults = BatchFaults()
    generate(hasty, output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)


class Quiet(Silent):
    """Hears nothing but what a run waits for."""

    def __init__(self) -> None:
        self.warned: list[str] = []

    def warn(self, message: str) -> None:
        self.warned.append(message)


def test_an_outage_is_told_also_where_quiet_was_asked_for(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = partial(WaitRules, confirm_s=0.02, probe_s=0.05)
    monkeypatch.setattr("hipo.app.models.batching.WaitRules", rules)
    server.go_away()
    watcher = Quiet()
    hasty = recipe(server, limits={"wait_for_endpoint": 0.2})
    generate(hasty, output=tmp_path / "run", watcher=watcher)
    (told,) = watcher.warned
    assert told.startswith(f"no connection to {server.openai_url}")


def test_room_that_comes_back_is_used_again(server: WireServer, tmp_path: Path) -> None:
    def polled() -> None:  # others had used up what the account may have waiting
        server.batches.faults.room = 100 if len(server.batches.made) >= 4 else 1

    polled()
    server.batches.on_poll = polled
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    sizes = [len(batch.requests) for batch in server.batches.made]
    assert sizes[:7] == [12, 6, 3, 1, 2, 4, 8]


def test_a_single_request_without_room_is_waited_for_no_longer_than_any_other(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.faults = BatchFaults(room=0)
    hasty = recipe(server, limits={"wait_for_endpoint": 0})
    first = generate(hasty, output=tmp_path / "run")
    assert first.outcome is not None
    assert (first.outcome.stop_code, first.outcome.failed) == ("unavailable", {})
    assert "Enqueued token limit reached" in str(first.outcome.stopped)
    assert count(tmp_path / "run", "reservations") == count(tmp_path / "run", "requests") == 0
    assert [len(batch.requests) for batch in server.batches.made] == [12, 6, 3, 1, 1]
    server.batches.faults = BatchFaults()
    generate(hasty, output=tmp_path / "run")
    assert rows(tmp_path / "run", "select status, count(*) from dialogues group by 1") == [
        ("generated", 12)
    ]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("step", ["list", "poll", "download"])
def test_a_key_that_may_not_look_at_a_batch_loses_nothing_of_it(
    server: WireServer, tmp_path: Path, provider: str, step: BatchStep
) -> None:
    server.batches.faults = BatchFaults(
        refusals={step: [403] * 9}, lose_creation=1 if step == "list" else 0
    )
    with pytest.raises(UsageError, match="cannot be asked about"):
        generate(recipe(server, provider), output=tmp_path / "run")
    assert count(tmp_path / "run", "reservations") == 12
    assert count(tmp_path / "run", "requests") == 0
    server.batches.faults = BatchFaults()
    generate(recipe(server, provider), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    assert [len(batch.requests) for batch in server.batches.made] == [12, 12]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_more_requests_than_a_batch_takes_are_several_batches(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    for api in (OpenAIBatches, AnthropicBatches):
        monkeypatch.setattr(api, "most_requests", 5)
    generate(recipe(server, provider), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    sizes = [len(batch.requests) for batch in server.batches.made]
    assert max(sizes) == 5
    assert sizes[:2] == [5, 5]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_more_bytes_than_a_batch_takes_are_several_batches(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    generate(recipe(server, provider), output=tmp_path / "whole")
    sizes = [batch.size for batch in server.batches.made]
    most = max(sizes) // 3
    server.batches.made.clear()
    for api in (OpenAIBatches, AnthropicBatches):
        monkeypatch.setattr(api, "most_bytes", most)
    generate(recipe(server, provider), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    made = server.batches.made
    assert all(batch.size <= most for batch in made)
    assert len(made) > 4  # of two rounds
    assert max(len(batch.requests) for batch in made) > 1


def test_a_request_larger_than_a_batch_may_be_goes_alone(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAIBatches, "most_bytes", 10)
    generate(recipe(server, n=3), output=tmp_path / "run")
    assert rows(tmp_path / "run", "select code, count(*) from requests group by 1") == [("ok", 6)]
    assert [len(batch.requests) for batch in server.batches.made] == [1] * 6
