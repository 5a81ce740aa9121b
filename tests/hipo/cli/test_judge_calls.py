"""``--judge-calls dialogue``: one call for each judge and dialogue, estimated, mended, stored."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from pipeline.executors.local import width_for
from pipeline.offline_judge.engine import answer as judge_answer
from tests.hipo.cli.conftest import Hipo, generating
from tests.pipeline.integration.command import Hipo as Process
from tests.pipeline.integration.records import rows
from tests.wire.server import WireServer

RECIPE = {
    "scenarios": "used_car",
    "models": {"default": "offline/rules"},
    "turns": [1, 3],
    "n": 4,
    "verification": {"gates": {"off": ["near_duplicate"]}},
}
KILLS = 3
ONCE = ("--judge-calls", "dialogue")
LABELS = "select distinct dialogue, turn, dimension, value from labels where kind = 'external' order by 1, 2, 3"


@pytest.fixture
def generate(hipo: Hipo, tmp_path: Path) -> Hipo:
    return generating(hipo, tmp_path, RECIPE)


def at(server: WireServer) -> tuple[str, ...]:
    return ("--no-self", "--judge", "compatible/x", "--judge-base-url", server.openai_url)


def test_a_dialogue_takes_one_call_as_the_dry_run_says(generate: Hipo, hipo: Hipo) -> None:
    with WireServer(answer=judge_answer) as server:
        told = generate("--verify", *at(server), *ONCE, "--dry-run", "--format", "json").data
        assert generate("--verify", *at(server), *ONCE, "-q").code == 0
        assert server.count == told["verification"]["calls"] == 4
        [judge] = told["verification"]["judges"]
        sent = rows(Path("run"), "select sum(prompt_tokens) from requests where purpose = ?",
                    "external-whole")[0][0]  # fmt: skip
        assert 0.7 * sent < judge["prompt_tokens"] < 1.3 * sent
        again = hipo("verify", "run", *at(server), *ONCE, "--dry-run", "--format", "json").data
        assert again["calls"] == 0


def test_the_dry_run_says_how_much_an_answer_needs_that_would_be_cut(
    generate: Hipo, hipo: Hipo
) -> None:
    with WireServer(answer=judge_answer) as server:
        command = ("--turns", "3,30", "--verify", *at(server)[1:], *ONCE)
        told = generate(*command, "--dry-run", "--format", "json").data["verification"]
        offline, longest = (judge["longest_answer"] for judge in told["judges"])
        assert offline is None
        assert (longest["lines"], longest["allowed"]) == (30, 8192)
        assert longest["advised"] > 1.2 * longest["tokens"] > 1.2 * 8192
        asked = ("--judge-max-tokens", str(longest["advised"]))
        said = " ".join(generate(*command, "--dry-run").out.split())
        assert "external compatible/x: its answer on the longest dialogue, with 30" in said
        assert f"an answer that is cut cannot be read: give {' '.join(asked)}" in said
        assert "--judge-max-tokens" not in generate(*command, *asked, "--dry-run").out
        assert generate(*command, *asked, "-q").code == 0
        assert {seen.body["max_tokens"] for seen in server.seen} == {longest["advised"]}
        left = ("verify", "run", *at(server), *ONCE, "--dry-run")
        said = hipo(*left).out.split()
        assert asked == tuple(said[-2:])
        assert "--judge-max-tokens" not in hipo(*left, *asked).out


def test_a_verification_that_is_killed_asks_again_only_what_was_under_way(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    dialogues, most = 16, 4
    assert generate("-n", str(dialogues), "-q").code == 0
    with WireServer(answer=judge_answer, latency_s=0.03) as server:
        command = ("verify", "run", *at(server), *ONCE, "--max-concurrency", str(most), "-q")
        for _ in range(KILLS):
            seen = server.count
            process = Process(tmp_path).start(*command)
            while server.count == seen and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stderr.close()
        assert hipo(*command).code == 0
        requests = server.count
    judged = "select count(*), count(distinct dialogue) from passes"
    assert rows(Path("run"), judged) == [(dialogues, dialogues)]
    assert dialogues <= requests <= dialogues + KILLS * width_for(most)
    assert rows(Path("run"), "select count(distinct dialogue) from decisions") == [(dialogues,)]
    assert rows(Path("run"), "pragma integrity_check") == [("ok",)]


def test_what_is_found_is_stored_as_ever(generate: Hipo, hipo: Hipo) -> None:
    assert generate("-q").code == 0
    with WireServer(answer=judge_answer) as server:
        assert hipo("verify", "run", *at(server), "-q").code == 0
        by_turn, calls = rows(Path("run"), LABELS), server.count
        assert calls > 4
        # Another way of asking is another judge: everything is judged anew, and once only.
        assert hipo("verify", "run", *at(server), *ONCE, "-q").code == 0
        assert server.count == calls + 4
        assert rows(Path("run"), LABELS) == by_turn
        assert generate("--verify", *at(server), *ONCE, "-n", "6", "-q").code == 0
        assert server.count == calls + 6


def test_a_line_that_was_left_out_is_asked_for_again(generate: Hipo) -> None:
    corrections: list[str] = []

    def forgetful(messages, seed):
        found = json.loads(judge_answer(messages, seed))
        if len(messages) > 2:
            corrections.append(messages[-1][1])
        else:
            found.pop("line_4")
        return json.dumps(found)

    with WireServer(answer=forgetful) as server:
        result = generate("--verify", *at(server), *ONCE, "--format", "json")
        assert server.count == 8
    assert all("line_4: missing" in correction for correction in corrections)
    assert sum(result.data["verification"]["verdicts"].values()) == 4
    assert not [
        flag for flag in rows(Path("run"), "select code from flags") if "unreadable" in flag[0]
    ]


def test_labels_are_not_shown_dialogue_by_dialogue(generate: Hipo, hipo: Hipo) -> None:
    refused = generate("--verify", "--judge-style", "verify", *ONCE)
    assert refused.code == 2
    assert "--judge-calls dialogue cannot go with --judge-style verify" in refused.err
    assert generate("-q").code == 0
    assert hipo("verify", "run", "--judge-style", "verify", *ONCE).code == 2
    wrong = hipo("verify", "run", "--judge-calls", "page")
    assert (wrong.code, "--judge-calls" in wrong.err) == (2, True)


def test_the_dry_run_leaves_out_judges_of_an_arm_that_has_no_dialogue(
    generate: Hipo, hipo: Hipo
) -> None:
    with WireServer(answer=judge_answer) as server:
        gone = ("--model", "compatible/gone", "--base-url", server.openai_url)
        assert generate(*gone, "--budget-tokens", "1", "-q").code == 4
    assert generate("--model", "offline/rules", "--resume", "always", "-q").code == 0
    told = hipo("verify", "run", "--dry-run", "--format", "json").data
    assert "compatible/gone" not in {judge["judge"] for judge in told["judges"]}
    assert [judge["dialogues"] for judge in told["judges"]] == [4] * len(told["judges"]) != []
