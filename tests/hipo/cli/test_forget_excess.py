"""One absurd count of an endpoint's does not block a run for ever."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hipo.cli.terminal.errors import ExitCode
from tests.hipo.cli.conftest import Hipo, Result
from tests.wire.fixtures import wire_server
from tests.wire.server import WireServer

__all__ = ["wire_server"]

ABSURD = 9_000_000
BUDGET = ABSURD + 200_000
"""Tokens: far more than the run needs, even where the absurd count is on the bill."""


@pytest.fixture
def misled(wire_server: WireServer, monkeypatch: pytest.MonkeyPatch) -> WireServer:
    """A server whose first answer has an absurd count of tokens."""
    counted = [ABSURD]
    answered = wire_server._answer

    def answer(*asked: Any) -> Any:
        reply = answered(*asked)
        if counted:
            reply["usage"]["completion_tokens"] = counted.pop()
        return reply

    monkeypatch.setattr(wire_server, "_answer", answer)
    return wire_server


def generate(hipo: Hipo, server: WireServer, budget_tokens: int) -> Result:
    return hipo(
        "generate", "-m", "compatible/rules", "--base-url", server.openai_url, "--scenarios",
        "used_car", "-n", "2", "--turns", "1", "-o", "run", "--budget-tokens", str(budget_tokens),
    )  # fmt: skip


def test_what_was_learnt_of_a_mistaken_count_can_be_forgotten(
    hipo: Hipo, misled: WireServer
) -> None:
    stopped = generate(hipo, misled, 100_000)
    assert stopped.code == ExitCode.BUDGET
    (enough,) = re.findall(r"raise --budget-tokens above (\d+)", stopped.err)
    assert int(enough) > 2 * ABSURD  # the next request is held back at as much
    blocked = generate(hipo, misled, BUDGET)
    assert blocked.code == ExitCode.BUDGET
    assert "hipo runs forget-excess run undoes it" in blocked.err
    forgotten = hipo("runs", "forget-excess", "run")
    assert forgotten.code == 0
    assert "compatible/rules: the budget took answers to be 8,789.1 times as long" in forgotten.out
    assert generate(hipo, misled, BUDGET).code == 0
    assert "nothing to forget" in hipo("runs", "forget-excess", "run").out


def test_to_forget_what_is_nowhere_is_refused(hipo: Hipo) -> None:
    refused = hipo("runs", "forget-excess", "nowhere")
    assert refused.code == ExitCode.USAGE
    assert "there is no run 'nowhere'" in refused.err
