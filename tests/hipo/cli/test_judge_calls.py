"""``--judge-calls dialogue``: one call for each judge and dialogue, estimated, mended, stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pipeline.offline_judge.engine import answer as judge_answer
from tests.hipo.cli.conftest import Hipo
from tests.pipeline.integration.records import rows
from tests.wire.server import WireServer

RECIPE = {
    "scenarios": "used_car",
    "models": {"default": "offline/rules"},
    "turns": [1, 3],
    "n": 4,
    "verification": {"gates": {"off": ["near_duplicate"]}},
}
ONCE = ("--judge-calls", "dialogue")
LABELS = "select distinct dialogue, turn, dimension, value from labels where kind = 'external' order by 1, 2, 3"


@pytest.fixture
def generate(hipo: Hipo, tmp_path: Path) -> Hipo:
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(RECIPE))

    def call(*arguments: str):
        return hipo("generate", "small.yaml", "-o", "run", *arguments)

    return call


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
