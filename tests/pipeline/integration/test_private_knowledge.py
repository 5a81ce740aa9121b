"""Nothing private reaches the initiator: every request of a run is read for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.strategies.registry import ANY_SCENARIO, STRATEGIES
from scenarios.catalogue import Catalogue
from scenarios.schemes.registry import load_scheme
from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import rows
from tests.wire.server import Seen, WireServer


def _is_initiators(seen: Seen) -> bool:
    system: str = seen.body["messages"][0]["content"]
    return '"goal"' not in system and "_carried" not in system


def _said(run: Path) -> set[str]:
    return {text for (text,) in rows(run, "select text from turns")}


def _without_quotes(message: str, said: set[str]) -> str:
    """Take out what has been said in the dialogue: quoting that is allowed."""
    for text in sorted(said, key=len, reverse=True):
        message = message.replace(text, "")
    return message


@pytest.mark.parametrize(
    "strategy", [name for name in ANY_SCENARIO if not STRATEGIES.get(name).knows_all]
)
def test_no_request_of_the_initiator_holds_a_fact_a_goal_or_a_rationale(
    tmp_path: Path, strategy: str
) -> None:
    with WireServer() as server:
        Hipo(tmp_path).here(
            "generate", "--model", "compatible/rules", "--base-url", server.openai_url,
            "--scenarios", "all", "-n", "16", "--turns", "1,3", "--strategy", strategy,
            "--vary", "persona,register,style,opening", "-o", "run",
        )  # fmt: skip
        requests = list(server.seen)
    run = tmp_path / "run"
    said = _said(run)
    goals = load_scheme("hipo").goal.values
    facts = [f for s in Catalogue.load().scenarios.values() for f in s.facts]
    rationales = {r for (r,) in rows(run, "select rationale from labels") if r and len(r) > 12}
    assert len(rationales) > 20
    initiators = [seen for seen in requests if _is_initiators(seen)]
    assert len(initiators) >= 16
    for seen in initiators:
        own_words = _without_quotes(
            "\n".join(str(m["content"]) for m in seen.body["messages"]), said
        )
        for fact in facts:
            assert fact.text not in own_words
            assert f": {fact.about}" not in own_words
        for goal in goals:
            assert goal not in own_words
        assert not any(rationale in own_words for rationale in rationales)
    private = [seen for seen in requests if not _is_initiators(seen)]
    assert any(fact.text in json.dumps(seen.body) for fact in facts for seen in private)


def test_keys_are_sent_only_where_they_were_named(tmp_path: Path) -> None:
    secret = "sk-never-send-this"
    with WireServer() as server:
        Hipo(tmp_path).here(
            "generate", "--model", "compatible/rules", "--base-url", server.openai_url,
            "--scenarios", "used_car", "-n", "2", "-o", "run",
            env={"OPENAI_API_KEY": secret, "ANTHROPIC_API_KEY": secret},
        )  # fmt: skip
        requests: list[Any] = list(server.seen)
    assert requests
    assert not any(secret in json.dumps(dict(seen.headers)) + seen.raw for seen in requests)
    stored = b"".join(p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file())
    assert secret.encode() not in stored
