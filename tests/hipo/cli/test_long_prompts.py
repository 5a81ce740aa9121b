"""What requests cost whose prompts are long stands in every estimate, and of short ones in none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hipo.cli.conftest import Hipo

PRICE = {"input": 1.0, "output": 4.0}
LONG = {"long_input": 10.0, "long_output": 40.0}
BELOW, ABOVE = 20, 9_000
"""Prompt tokens: fewer than any prompt has, and more than any has but fewer than all have together."""
MODEL = "openai/priced"


@pytest.fixture
def asked(hipo: Hipo, monkeypatch: pytest.MonkeyPatch) -> Hipo:
    """Call a command with a run that it can be about."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    played = ("generate", "--scenarios", "used_car", "-m", "offline/rules", "-n", "40", "-q", "-o",
              "run")  # fmt: skip
    assert hipo(*played).code == 0
    return hipo


def cost(asked: Hipo, command: tuple[str, ...], **more: float) -> Any:
    with Path("prices.yaml").open("w", encoding="utf-8") as file:
        yaml.safe_dump({"prices": {MODEL: PRICE | more}}, file)
    told = asked(*command, "--prices", "prices.yaml", "--dry-run", "--format", "json")
    assert told.code == 0, told.err
    return told.data


GENERATE = ("generate", "--scenarios", "used_car", "-m", MODEL, "-n", "40", "-o", "new", "--verify",
            "--judge", MODEL, "--allow-same-judge", "--no-embeddings")  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        GENERATE,
        (*GENERATE, "--judge-calls", "dialogue"),
        ("verify", "run", "--judge", MODEL, "--no-embeddings"),
        ("verify", "run", "--juror", MODEL),
        ("evaluate", "./run", "--any", "--task", "hipo-utterance", "-m", MODEL, "-o", "results"),
        ("scenarios", "translate", "products", "--language", "de", "-m", MODEL, "-o", "words"),
    ],
    ids=["generate", "once about a dialogue", "judge", "juror", "evaluate", "translate"],
)
def test_an_estimate_takes_the_price_that_the_length_of_each_prompt_has(
    asked: Hipo, command: tuple[str, ...]
) -> None:
    short = cost(asked, command)
    assert short["cost_usd"] > 0
    spared = cost(asked, command, long_above=ABOVE, **LONG)
    assert spared["cost_usd"] == pytest.approx(short["cost_usd"])
    assert cost(asked, command, long_above=BELOW, **LONG)["cost_usd"] == pytest.approx(
        10 * short["cost_usd"]
    )


def test_so_does_what_accepted_utterances_would_cost(asked: Hipo) -> None:
    def usd(**more: float) -> float:
        told: float = cost(asked, GENERATE, **more)["accepted_utterances"]["models"][0]["cost_usd"]
        return told

    assert usd(long_above=ABOVE, **LONG) == pytest.approx(usd())
    assert usd(long_above=BELOW, **LONG) == pytest.approx(10 * usd(), rel=1e-3)
