"""Batches by the commands: made, left at the provider, picked up, given up, merged and repaired."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hipo.app.models import batching
from hipo.cli.terminal.errors import ExitCode
from tests.hipo.cli.conftest import Hipo, Result
from tests.hipo.cli.damage import sql
from tests.hipo.evaluation.answering import first_option
from tests.pipeline.batches.runs import KEYS, QUICK
from tests.pipeline.integration.records import count, rows
from tests.wire.fixtures import wire_server
from tests.wire.server import WireServer, actors_and_judges

__all__ = ["wire_server"]

RUN = Path("run")


@pytest.fixture
def asked(hipo: Hipo, wire_server: WireServer, monkeypatch: pytest.MonkeyPatch) -> Hipo:
    """Call commands that ask the local server; whoever makes dialogues there can judge them, too."""
    monkeypatch.setattr(batching, "RULES", QUICK)
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)

    wire_server.answer = actors_and_judges

    def call(*arguments: str, option: str = "--base-url") -> Result:
        return hipo(*arguments, option, wire_server.openai_url)

    return call


def generate(asked: Hipo, *more: str, n: int = 4, output: str = "run") -> Result:
    """Generate in batches, two requests for each dialogue."""
    return asked(
        "generate", "-m", "openai/rules", "--scenarios", "used_car", "-n", str(n), "--turns", "1",
        "--openings", "by-goal", "--batch", "-o", output, "-q", *more,
    )  # fmt: skip


def generate_and_leave(
    asked: Hipo, server: WireServer, *more: str, n: int = 4, output: str = "run"
) -> None:
    """Generate until the first batch is at the provider, where it stays."""
    server.batches.held = server.batches.interrupts = True
    assert generate(asked, *more, n=n, output=output).code == ExitCode.INTERRUPTED
    server.batches.held = False


def test_what_lies_at_the_provider_is_shown_and_given_up_by_a_command(
    asked: Hipo, hipo: Hipo, wire_server: WireServer
) -> None:
    generate_and_leave(asked, wire_server)
    assert "a batch of 4 requests lies at the provider" in hipo("runs", "show", "run").out
    dropped = hipo("runs", "drop-batches", "run")
    assert (dropped.code, dropped.out) == (0, "4 requests given up\n")
    lost = "select count(*), min(charged_tokens) > 0 from requests where code = 'lost'"
    assert rows(RUN, lost) == [(4, 1)]  # at once: nobody was killed
    assert hipo("runs", "drop-batches", "run").out == "0 requests given up\n"
    again = generate(asked)
    assert (again.code, "was killed" in again.err) == (0, False)
    waited_for = again.err.splitlines()  # -q
    assert len(waited_for) == 2
    assert all("a batch of 4 requests is at the provider (" in line for line in waited_for)
    assert [len(batch.requests) for batch in wire_server.batches.made] == [4, 4, 4]
    assert rows(RUN, lost) == [(4, 1)]


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_workers_and_batches_exclude_each_other_in_the_estimate_too(
    asked: Hipo, wire_server: WireServer, more: tuple[str, ...]
) -> None:
    result = asked("generate", "-m", "openai/gpt-4o-mini", "-n", "2", "--batch", "--workers", "2",
                   "-o", "run", *more)  # fmt: skip
    assert (result.code, "leave one of them out" in result.err) == (ExitCode.USAGE, True)
    assert not RUN.exists()
    assert not wire_server.seen


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    "command",
    [
        ("generate", "-n", "2", "-o", "run"),
        ("study", "-n", "2", "-o", "run"),
        ("evaluate", "gold", "--task", "hipo-utterance", "-o", "run"),
    ],
    ids=lambda command: command[0],
)
def test_a_model_without_a_batch_api_is_refused_in_the_estimate_too(
    asked: Hipo, command: tuple[str, ...], more: tuple[str, ...]
) -> None:
    result = asked(*command, "-m", "compatible/x", "--batch", *more)
    assert result.code == ExitCode.USAGE
    assert "compatible/x has no batch API that hipo knows" in result.err
    assert not RUN.exists()


def test_batches_of_a_recipe_are_refused_in_the_estimate_too(asked: Hipo) -> None:
    Path("mine.yaml").write_text("n: 2\nlimits: {batch: true}\nmodels: {default: compatible/x}\n")
    result = asked("generate", "mine.yaml", "--dry-run")
    assert result.code == ExitCode.USAGE
    assert "compatible/x has no batch API that hipo knows" in result.err


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_batches_of_a_recipe_are_refused_for_the_sake_of_a_judge_before_anything_is_made(
    asked: Hipo, more: tuple[str, ...]
) -> None:
    Path("mine.yaml").write_text(
        "n: 2\nscenarios: [used_car]\nlimits: {batch: true}\nmodels: {default: offline/rules}\n"
    )
    judge = ("--verify", "--judge", "compatible/x")
    command = ("generate", "mine.yaml", "-o", "run", *judge, *more)
    result = asked(*command, option="--judge-base-url")
    assert result.code == ExitCode.USAGE
    assert "compatible/x has no batch API that hipo knows" in result.err
    assert not RUN.exists()


def test_to_give_up_what_is_nowhere_is_refused(hipo: Hipo) -> None:
    refused = hipo("runs", "drop-batches", "nowhere")
    assert refused.code == 2
    assert "there is no run 'nowhere'" in refused.err


def verify(asked: Hipo, *more: str) -> Result:
    judge = ("--judge", "openai/judge", "--no-embeddings")
    return asked("verify", "run", *judge, "-q", *more, option="--judge-base-url")


def test_judges_are_asked_in_batches_and_picked_up_after_an_interrupt(
    asked: Hipo, hipo: Hipo, wire_server: WireServer
) -> None:
    assert hipo(
        "generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "4", "-o", "run", "-q"
    ).code == 0  # fmt: skip
    wire_server.batches.held = wire_server.batches.interrupts = True
    assert verify(asked, "--batch").code == ExitCode.INTERRUPTED
    shown = hipo("runs", "show", "run", "--format", "json").data
    (left,) = shown["batches"]
    assert (left["model"], left["state"]) == ("openai/judge", "submitted")
    refused = verify(asked)
    assert refused.code == 2
    assert "lies at openai in a batch" in refused.err
    assert wire_server.count == 0
    wire_server.batches.held = False
    assert verify(asked, "--batch").code == 0
    assert wire_server.count == 0
    state = hipo("runs", "show", "run", "--format", "json").data
    assert state["verification"]["judged"]["external openai/judge"] == 4
    assert sum(state["verification"]["verdicts"].values()) == 4
    assert (state["batches"], count(RUN, "reservations")) == ([], 0)
    sent = sum(len(batch.requests) for batch in wire_server.batches.made)
    answered = "select count(*) from requests where model = 'openai/judge' and code = 'ok'"
    assert rows(RUN, answered) == [(sent,)]


def test_jurors_are_asked_in_batches_at_half_the_price(
    asked: Hipo, hipo: Hipo, wire_server: WireServer
) -> None:
    assert hipo(
        "generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "2", "--turns", "1",
        "-o", "run", "-q",
    ).code == 0  # fmt: skip

    command = ("verify", "run", "--juror", "openai/gpt-4o", "--format", "json")
    whole = asked(*command, "--dry-run", option="--judge-base-url").data
    half = asked(*command, "--batch", "--dry-run", option="--judge-base-url").data
    assert half["cost_usd"] == pytest.approx(whole["cost_usd"] / 2)
    done = asked(*command, "--batch", option="--judge-base-url")
    assert (done.code, done.data["labelled"]) == (0, 2)
    assert wire_server.count == 0
    assert sum(len(batch.requests) for batch in wire_server.batches.made) == half["calls"]


def evaluate(asked: Hipo, *more: str) -> Result:
    return asked(
        "evaluate", "run", "run", "--any", "--task", "hipo-utterance-paper", "--mode", "zero-shot",
        "--model", "openai/one", "--no-page", "-o", "results", "-q", *more,
    )  # fmt: skip


@pytest.fixture
def evaluated(asked: Hipo, hipo: Hipo, wire_server: WireServer) -> int:
    """Leave a batch of an evaluation at the provider; return how many requests that are."""
    assert hipo(
        "generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "4", "-o", "run", "-q"
    ).code == 0  # fmt: skip
    wire_server.answer = first_option
    wire_server.batches.held = wire_server.batches.interrupts = True
    assert evaluate(asked, "--batch").code == ExitCode.INTERRUPTED
    wire_server.batches.held = False
    (batch,) = wire_server.batches.made
    return len(batch.requests)


def test_models_are_evaluated_in_batches_and_picked_up_after_an_interrupt(
    asked: Hipo, wire_server: WireServer, evaluated: int
) -> None:
    refused = evaluate(asked)
    assert refused.code == 2
    assert "hipo runs drop-batches" in refused.err
    done = evaluate(asked, "--batch", "--format", "json")
    assert done.code == 0
    sent = [len(batch.requests) for batch in wire_server.batches.made]
    assert sent == [evaluated]  # all four questions of every item
    assert done.data["calls"] == sum(sent)
    assert wire_server.count == 0


def test_the_estimate_of_an_evaluation_tells_of_what_lies_at_the_provider(
    asked: Hipo, evaluated: int
) -> None:
    told = evaluate(asked, "--batch", "--dry-run")
    assert f"{evaluated} requests of an earlier command in batches paid for" in told.out
    data = evaluate(asked, "--batch", "--dry-run", "--format", "json").data
    assert data["at_providers"] == evaluated


@pytest.mark.parametrize(("mode", "rounds"), [("zero-shot", 1), ("two-phase", 2)])
def test_the_estimate_of_an_evaluation_in_batches_says_how_often_they_are_waited_for(
    asked: Hipo, wire_server: WireServer, mode: str, rounds: int
) -> None:
    wire_server.answer = first_option
    command = ("evaluate", "gold", "--task", "hipo-utterance-paper", "--mode", mode, "-n", "8",
               "-m", "openai/one", "-m", "offline/judge", "-o", "results", "--batch")  # fmt: skip
    told = asked(*command, "--dry-run", option="--base-url")
    assert (
        f"in batches: {rounds} round{'s' * (rounds > 1)} for an item; some {rounds} h" in told.out
    )
    planned = asked(*command, "--dry-run", "--format", "json").data["batches"]
    assert (planned["longest_rounds"], planned["waves"], planned["usual_hours"]) == (
        rounds,
        1,
        rounds,
    )
    assert asked(*command, "--no-page", "-q").code == 0
    assert len(wire_server.batches.made) == rounds
    done = asked(*command, "--dry-run", "--format", "json").data
    assert (done["calls"], done["batches"]) == (0, None)


def test_what_an_evaluation_has_at_the_provider_can_be_given_up(
    asked: Hipo, hipo: Hipo, wire_server: WireServer, evaluated: int
) -> None:
    dropped = hipo("runs", "drop-batches", "results")
    assert (dropped.code, dropped.out) == (0, f"{evaluated} requests given up\n")
    assert evaluate(asked).code == 0
    assert wire_server.count == evaluated


def test_runs_of_shards_are_merged_with_what_they_have_at_the_provider(
    asked: Hipo, hipo: Hipo, wire_server: WireServer
) -> None:
    for shard in ("1", "2"):
        generate_and_leave(asked, wire_server, "--shard", f"{shard}/2", output=f"s{shard}", n=8)
    merged = hipo("runs", "merge", "s1", "s2", "-o", "run", "--format", "json")
    assert merged.code == 0
    (note,) = merged.data["notes"]
    assert "8 requests in batches are paid for and not used yet" in note
    assert len(hipo("runs", "show", "run", "--format", "json").data["batches"]) == 2
    assert generate(asked, n=8).code == 0
    assert rows(RUN, "select status, count(*) from dialogues group by 1") == [("generated", 8)]
    assert [len(batch.requests) for batch in wire_server.batches.made] == [4, 4, 8]
    assert len(set(wire_server.batches.paid)) == len(wire_server.batches.paid) == 16
    assert count(RUN, "reservations") == 0


@pytest.mark.parametrize("order", [("copy", "run"), ("run", "copy")])
def test_a_run_and_an_earlier_copy_of_it_are_merged_with_nothing_open_that_came_back(
    asked: Hipo, hipo: Hipo, wire_server: WireServer, order: tuple[str, str]
) -> None:
    generate_and_leave(asked, wire_server)
    shutil.copytree("run", "copy")
    assert generate(asked).code == 0
    merged = hipo("runs", "merge", *order, "-o", "merged", "--format", "json").data
    assert (merged["generated"], merged["missing"], merged["notes"]) == (4, 0, [])
    states = [hipo("runs", "show", name, "--format", "json").data for name in ("run", "merged")]
    assert states[0]["charged"] == states[1]["charged"]
    assert states[1]["batches"] == []
    assert rows(Path("merged"), "select state from batches order by seq") == [("ended",)] * 2


def test_a_repaired_run_picks_up_what_it_has_at_the_provider(
    asked: Hipo, hipo: Hipo, wire_server: WireServer
) -> None:
    generate_and_leave(asked, wire_server)
    repaired = hipo("runs", "repair", "run", "-o", "new", "--format", "json").data
    assert "4 requests in batches are paid for" in repaired["notes"][0]
    assert generate(asked, output="new").code == 0
    assert [len(batch.requests) for batch in wire_server.batches.made] == [4, 4]
    assert count(Path("new"), "reservations") == 0


def test_requests_whose_batch_is_lost_stay_charged_in_a_repaired_run(
    asked: Hipo, hipo: Hipo, wire_server: WireServer
) -> None:
    generate_and_leave(asked, wire_server)
    (held,) = rows(RUN, "select sum(tokens) from reservations")[0]
    sql("pragma foreign_keys = off", "delete from batches")(RUN / "run.sqlite")
    assert hipo("runs", "repair", "run", "-o", "new").code == 0
    state = hipo("runs", "show", "new", "--format", "json").data
    assert (state["charged"]["tokens"], state["batches"]) == (held, [])
    assert generate(asked, output="new").code == 0


def test_the_estimate_of_judging_says_how_many_batches_a_dialogue_waits_for(
    asked: Hipo, hipo: Hipo
) -> None:
    assert hipo(
        "generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "2", "--turns", "2",
        "-o", "run", "-q",
    ).code == 0  # fmt: skip
    assert (
        "in batches: 1 round for a dialogue, and repairs"
        in verify(asked, "--batch", "--dry-run").out
    )
    assert "in batches" not in verify(asked, "--dry-run").out
    foiled = verify(asked, "--batch", "--judge-style", "verify", "--foils", "4", "--dry-run")
    assert "in batches: 2 rounds for a dialogue, and repairs" in foiled.out
    command = ("verify", "run", "--juror", "openai/gpt-4o", "--batch", "--format", "json")
    whole = asked(*command, "--dry-run", option="--judge-base-url").data
    assert (whole["batches"]["rounds"], whole["batches"]["usual_hours"]) == (1, 1)


def test_the_estimate_of_judging_counts_no_round_of_what_is_done(asked: Hipo, hipo: Hipo) -> None:
    assert hipo(
        "generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "2", "--turns", "2",
        "-o", "run", "-q",
    ).code == 0  # fmt: skip
    style = ("--judge-style", "verify")
    assert verify(asked, "--batch", *style, "--foils", "0").code == 0
    assert "in batches" not in verify(asked, "--batch", "--dry-run", *style, "--foils", "0").out
    foiled = verify(asked, "--batch", "--dry-run", *style, "--foils", "4")
    assert "in batches: 1 round for a dialogue, and repairs on top; some 1 h" in foiled.out
    juror = ("--juror", "openai/gpt-4o", "--judge-style", "verify", "--foils", "0")
    heard = verify(asked, "--batch", "--dry-run", *juror)
    assert "in batches: 1 round for a dialogue, and repairs on top; some 1 h" in heard.out
