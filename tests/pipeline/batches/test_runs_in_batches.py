"""Runs whose requests travel in batches: the same dialogues at half the price, whatever happens."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hipo.app.generation.generate import generate, generate_prepared
from hipo.app.generation.plan_estimates import estimate_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.models.batching import give_up_batches
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import prepare
from hipo.app.runs.resumption import prepare_for
from hipo.app.runs.run import Run
from hipo.cli.main import run as hipo
from hipo.cli.reports.estimate import plan_as_json, plan_as_text
from hipo.cli.reports.run import state_as_text
from pipeline.batches import journey
from pipeline.batches.batcher import Batcher
from pipeline.chunks import chunks
from pipeline.store.batches import BatchLog
from pipeline.store.writer import Writer, _resolve
from scenarios.errors import UsageError
from tests.pipeline.batches.interrupting import Interrupting
from tests.pipeline.batches.runs import QUICK, assert_whole, recipe
from tests.pipeline.integration.records import count, rows
from tests.wire.batches import BatchFaults
from tests.wire.server import WireServer, actors_and_judges


def texts(run: Path) -> list[tuple[str, ...]]:
    return rows(
        run,
        "select t.role, t.text from turns t join dialogues d on d.seq = t.dialogue"
        " order by d.case_seq, t.turn",
    )


def test_dialogues_in_batches_are_those_of_any_other_run_at_half_the_price(
    server: WireServer, tmp_path: Path
) -> None:
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    assert server.count == 0  # nothing was asked directly
    assert [len(batch.requests) for batch in server.batches.made] == [12, 12]
    direct = recipe(server, limits={"batch": False})
    generate(direct, output=tmp_path / "direct")
    assert texts(tmp_path / "run") == texts(tmp_path / "direct")
    (half,), (full,) = (
        rows(tmp_path / run, "select sum(cost_usd) from requests")[0] for run in ("run", "direct")
    )
    assert half == pytest.approx(full / 2)
    assert half > 0


def test_a_batch_is_not_sent_while_answers_are_written_down_however_slow_the_disk_is(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, commit, look = threading.Semaphore(0), Writer._commit, Batcher._look

    def seen(batcher: Batcher) -> None:
        look(batcher)
        looks.release()

    def slow(writer: Writer, items: Sequence[Any]) -> None:
        records = [item for item in items if item.write_all is not None]
        commit(writer, [item for item in items if item.write_all is None])
        for some in chunks(records, 4):  # the disk takes four at a time, and its time
            while looks.acquire(blocking=False):
                pass
            for _ in range(2 * QUICK.quiet_looks):
                assert looks.acquire(timeout=60)
            commit(writer, some)
            _resolve(some)

    monkeypatch.setattr(Batcher, "_look", seen)
    monkeypatch.setattr(Writer, "_commit", slow)
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    assert [len(batch.requests) for batch in server.batches.made] == [12, 12]


def test_a_batch_is_not_sent_while_the_results_of_another_come_in(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, look, store_results = [0], Batcher._look, BatchLog.store_results

    def seen(batcher: Batcher) -> None:
        look(batcher)
        looks[0] += 1

    async def late(log: BatchLog, *what: Any) -> None:
        until = looks[0] + 2 * QUICK.quiet_looks
        while looks[0] < until:
            await asyncio.sleep(0)
        await store_results(log, *what)

    monkeypatch.setattr(Batcher, "_look", seen)
    monkeypatch.setattr(BatchLog, "store_results", late)
    monkeypatch.setattr(journey, "STORED_AT_ONCE", 5)
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    assert [len(batch.requests) for batch in server.batches.made] == [12, 12]


def test_anthropic_takes_batches_too(server: WireServer, tmp_path: Path) -> None:
    generate(recipe(server, "anthropic"), output=tmp_path / "run")
    assert rows(tmp_path / "run", "select count(*) from dialogues where status = 'generated'") == [
        (12,)
    ]
    assert [len(batch.requests) for batch in server.batches.made] == [12, 12]
    assert server.count == 0


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "faults",
    [
        BatchFaults(end="expired", processed=0.5),
        BatchFaults(end="expired", processed=0.0, once=True),
        BatchFaults(errored=0.4),
        BatchFaults(repeat=0.5, garbage=(b"", b"{", b"[1]", b'{"custom_id": 7}', b"\xff" * 50)),
        BatchFaults(lose_creation=1),
        BatchFaults(refusals={"create": [500, 500]}),
        BatchFaults(refusals={"poll": [500] * 3}),
    ],
    ids=["partly expired", "expired", "errors", "garbage", "lost answer", "refused", "polls fail"],
)
def test_whatever_happens_to_batches_every_dialogue_is_made_and_nothing_is_processed_twice(
    server: WireServer, tmp_path: Path, provider: str, faults: BatchFaults
) -> None:
    server.batches.faults = faults
    server.batches.foreign = 1
    run = generate(recipe(server, provider, limits={"max_attempts": 50}), output=tmp_path / "run")
    assert run.outcome is not None
    assert (run.outcome.done, run.outcome.stopped) == (12, None)
    assert rows(tmp_path / "run", "select count(*) from reservations") == [(0,)]
    ours = [b for b in server.batches.made if "other" not in b.id]
    processed = [custom for b in ours for custom, _ in b.requests if _answered(b.lines, custom)]
    assert len(processed) == 24


def _answered(lines: list[bytes], custom: str) -> bool:
    return any(f'"{custom}"'.encode() in line for line in lines)


def test_a_batch_that_is_refused_for_its_size_goes_in_halves_one_after_the_other(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.faults = BatchFaults(end="full", once=True)
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    assert [len(batch.requests) for batch in server.batches.made] == [12, 6, 12, 6]


def test_a_batch_that_is_refused_as_a_whole_costs_nothing_and_goes_again_without_what_was_wrong(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.faults = BatchFaults(end="failed", once=True)
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    failed = "select code, count(*), sum(charged_usd) from requests where code <> 'ok' group by 1"
    assert rows(tmp_path / "run", failed) == [("bad_request", 1, 0.0), ("not_processed", 11, 0.0)]


def test_a_batch_that_somebody_cancels_stops_the_run_which_goes_on_with_the_same_command(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.faults = BatchFaults(end="cancelled", processed=0.5, once=True)
    first = generate(recipe(server), output=tmp_path / "run")
    assert first.outcome is not None
    assert first.outcome.stop_code == "interrupted"
    assert "was cancelled at the provider" in str(first.outcome.stopped)
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)


def test_results_that_are_missing_count_at_their_worst_and_are_asked_for_again(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.faults = BatchFaults(drop=0.5, once=True)
    generate(recipe(server), output=tmp_path / "run")
    (missing,) = rows(
        tmp_path / "run",
        "select count(*), min(charged_usd) > 0 from requests where code = 'server_fault'",
    )
    assert missing[0] > 0
    assert missing[1]
    assert count(tmp_path / "run", "reservations") == 0


def test_an_interrupt_leaves_the_batch_at_the_provider_and_the_next_start_picks_it_up(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.held = True
    watcher, run = Interrupting(), tmp_path / "run"
    prepared = prepare_for(run, recipe(server))
    first = asyncio.run(generate_prepared(prepared, run, signals=True, watcher=watcher))
    assert first.outcome is not None
    assert first.outcome.stop_code == "interrupted"
    assert "a batch of 12 requests in all stay" in watcher.notes[-1]
    assert rows(run, "select state, requests from batches") == [("submitted", 12)]
    assert rows(run, "select count(*), sum(usd) > 0 from reservations") == [(12, 1)]
    assert count(run, "requests") == 0
    with pytest.raises(UsageError, match="lies at openai in a batch"):
        generate(recipe(server, limits={"batch": False}), output=run)
    assert server.count == 0
    server.batches.held = False
    generate(recipe(server), output=run)
    assert_whole(run, server, 12)
    assert len(server.batches.made) == 2


def test_a_budget_holds_for_the_worst_of_a_batch_and_is_not_spent_twice_by_picking_it_up(
    server: WireServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    generate(recipe(server, n=3), output=tmp_path / "cost")
    (cost,) = rows(tmp_path / "cost", "select sum(cost_usd) from requests")[0]
    server.batches.held = True
    budget = recipe(server, n=3, budget_usd=0.5)
    prepared = prepare_for(run, budget)
    asyncio.run(generate_prepared(prepared, run, signals=True, watcher=Interrupting()))
    (held,) = rows(run, "select sum(usd) from reservations")[0]
    assert held <= 0.5
    server.batches.held = False
    done = generate(budget, output=run)
    assert done.state().charged_usd == pytest.approx(cost)
    assert (done.outcome and done.outcome.stopped) is None


def test_an_interrupt_ends_the_wait_of_a_run_whose_budget_is_spent(
    server: WireServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    server.batches.held = True
    asyncio.run(
        generate_prepared(
            prepare_for(run, recipe(server, n=3)), run, signals=True, watcher=Interrupting()
        )
    )
    (held,) = rows(run, "select sum(usd) from reservations")[0]

    def polled() -> None:  # nobody is to wait for ever
        server.batches.held = server.batches.made[0].polls < 100

    server.batches.on_poll = polled
    watcher = Interrupting("in batches that are paid")
    spent = prepare_for(run, recipe(server, n=6, budget_usd=held / 10))
    stopped = asyncio.run(generate_prepared(spent, run, signals=True, watcher=watcher))
    assert stopped.outcome is not None
    assert (stopped.outcome.stop_code, stopped.outcome.done) == ("interrupted", 0)
    (told,) = [note for note in watcher.notes if watcher.when in note]
    assert told.startswith("budget reached")
    assert re.search(r"; waiting for \d requests? in batches that are paid; Ctrl-C leaves", told)
    assert "a batch of 3 requests in all stay" in watcher.notes[-1]
    server.batches.held, server.batches.on_poll = False, lambda: None
    generate(recipe(server, n=6, budget_usd=100), output=run)
    assert_whole(run, server, 6)


def test_a_model_without_a_batch_api_is_refused_before_anything_is_made(
    server: WireServer, tmp_path: Path
) -> None:
    model = {"model": "compatible/rules", "base_url": server.openai_url}
    with pytest.raises(UsageError, match="compatible/rules has no batch API"):
        generate(recipe(server, models={"default": model}), output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_judges_are_asked_in_batches_while_dialogues_are_made(
    server: WireServer, tmp_path: Path
) -> None:
    server.answer = actors_and_judges
    overrides = VerificationOverrides(judges=["offline/judge"], embeddings=False)
    run = generate(recipe(server, n=4), output=tmp_path / "run", play=VerifiedPlay(overrides))
    assert run.outcome is not None
    assert run.outcome.done == 4
    assert server.count == 0
    # two rounds of generation, then the models' own labels
    assert [len(batch.requests) for batch in server.batches.made][:2] == [4, 4]
    assert len(server.batches.made) > 2


def test_a_run_says_what_lies_at_the_provider_until_that_is_given_up(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.batches.held = True
    run = tmp_path / "run"
    prepared = prepare_for(run, recipe(server, n=3))
    asyncio.run(generate_prepared(prepared, run, signals=True, watcher=Interrupting()))
    state = Run(run).state()
    assert [(b.model, b.state, b.requests) for b in state.batches] == [
        ("openai/rules", "submitted", 3)
    ]
    assert "a batch of 3 requests lies at the provider since" in state_as_text(run, state)
    estimate = plan_as_text(estimate_plan(prepared, run))
    at_provider = "3 requests of an earlier command in batches paid for and not used yet"
    assert at_provider in estimate
    assert hipo(["verify", str(run), "--dry-run"]) == 0
    assert at_provider in capsys.readouterr().out
    assert plan_as_json(estimate_plan(prepared, run))["at_providers"] == 3
    assert hipo(["verify", str(run), "--dry-run", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["at_providers"] == 3
    assert give_up_batches(run) == 3
    generate(recipe(server, n=3, limits={"batch": False}), output=run)
    state = Run(run).state()
    assert (state.generated, state.batches) == (3, ())
    # what was given up stays charged at its worst
    assert rows(run, "select count(*), min(charged_usd) > 0 from requests where code = 'lost'") == [
        (3, 1)
    ]


def test_the_estimate_counts_with_half_the_price_and_says_how_many_rounds(
    server: WireServer, tmp_path: Path
) -> None:
    half = estimate_plan(prepare(recipe(server)), tmp_path / "run")
    full = estimate_plan(prepare(recipe(server, limits={"batch": False})), tmp_path / "run")
    assert half.cost_usd == pytest.approx((full.cost_usd or 0) / 2)
    assert full.batches is None
    assert half.batches is not None
    assert half.at_providers == 0
    assert (half.batches.rounds, half.batches.most_rounds, half.batches.waves) == (2, 2, 1)
    assert "in batches: 2 rounds for a dialogue" in plan_as_text(half)


def test_a_run_of_several_lengths_takes_as_long_as_its_longest_dialogue(
    server: WireServer, tmp_path: Path
) -> None:
    mixed = estimate_plan(prepare(recipe(server, n=12, turns=[1, 2, 6])), tmp_path / "mixed")
    long = estimate_plan(prepare(recipe(server, n=12, turns=[6])), tmp_path / "long")
    assert mixed.batches is not None
    assert long.batches is not None
    assert mixed.batches.rounds < long.batches.rounds == long.batches.longest_rounds == 12
    assert mixed.batches.longest_rounds == mixed.batches.most_rounds == 12
    assert mixed.batches.usual_hours == long.batches.usual_hours == 12
    assert "6 rounds for a dialogue, 12 for the longest, 12 at most" in plan_as_text(mixed)
