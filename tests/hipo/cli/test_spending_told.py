"""Every command that asks a model says in the end what the endpoint bills for it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hipo.app.authoring import open_desk
from hipo.app.running.watching import Silent
from hipo.cli.terminal.console import dollars
from hipo.cli.terminal.errors import ExitCode
from pipeline.store.queries.charges import Charges
from tests.factories import write_new_scenario
from tests.hipo.cli.conftest import Hipo, Result
from tests.wire.fixtures import wire_server
from tests.wire.server import WireServer, actors_and_judges

__all__ = ["wire_server"]

MODEL = "compatible/priced"
INPUT, OUTPUT = 100.0, 400.0
GENERATE = ("generate", "--scenarios", "used_car", "-m", MODEL)
PREVIEW = ("scenarios", "preview", "used_car", "-m", MODEL)


class Bill:
    """Adds up what a server bills."""

    def __init__(self, server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.usd = 0.0
        answered = server._answer

        def answer(*asked: Any) -> Any:
            reply = answered(*asked)
            usage = reply["usage"]
            self.usd += usage["prompt_tokens"] * INPUT / 1e6
            self.usd += usage["completion_tokens"] * OUTPUT / 1e6
            return reply

        monkeypatch.setattr(server, "_answer", answer)


@pytest.fixture
def bill(wire_server: WireServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bill:
    monkeypatch.chdir(tmp_path)
    wire_server.answer = actors_and_judges
    Path("prices.yaml").write_text(
        f"prices:\n  compatible/*: {{input: {INPUT}, output: {OUTPUT}}}\n", encoding="utf-8"
    )
    return Bill(wire_server, monkeypatch)


def last_told(text: str) -> float:
    return float(re.findall(r"\$([\d.]+)", text)[-1])


def asked(hipo: Hipo, server: WireServer, *command: str, option: str = "--base-url") -> Result:
    return hipo(*command, "--prices", "prices.yaml", option, server.openai_url)


def test_judges_and_jurors_say_what_the_run_has_cost(
    hipo: Hipo, wire_server: WireServer, bill: Bill
) -> None:
    played = ("generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "2", "-o", "run")
    assert hipo(*played, "-q").code == 0
    for command in (
        ("verify", "run", "--judge", MODEL, "--no-embeddings"),
        ("verify", "run", "--juror", MODEL),
    ):
        before = bill.usd
        told = asked(hipo, wire_server, *command, option="--judge-base-url")
        assert "run so far: 2 dialogues" in told.out
        assert last_told(told.out) == pytest.approx(bill.usd, rel=0.02)
        assert bill.usd > before
        again = asked(
            hipo, wire_server, *command, "--format", "json", option="--judge-base-url"
        ).data
        assert again["calls"] == 0
        assert again["cost_usd"] == again["charged"]["usd"] == pytest.approx(bill.usd)


@pytest.mark.parametrize(
    "command",
    [PREVIEW, (*GENERATE, "--preview", "2")],
    ids=["scenarios preview", "generate --preview"],
)
def test_a_preview_says_what_it_cost_and_keeps_to_a_budget(
    hipo: Hipo, wire_server: WireServer, bill: Bill, command: tuple[str, ...]
) -> None:
    told = asked(hipo, wire_server, *command)
    assert told.code == 0
    assert "nothing is kept" in told.err
    assert last_told(told.err) == pytest.approx(bill.usd, rel=0.02)
    budget = 0.9 * bill.usd
    bill.usd = 0.0
    stopped = asked(hipo, wire_server, *command, "--budget-usd", str(budget))
    assert stopped.code == ExitCode.BUDGET
    assert "raise --budget-usd above" in stopped.err
    assert bill.usd <= budget


@pytest.mark.parametrize(
    "command",
    [PREVIEW, (*GENERATE, "--preview", "2")],
    ids=["scenarios preview", "generate --preview"],
)
def test_a_preview_that_is_interrupted_says_what_it_cost(
    hipo: Hipo, wire_server: WireServer, bill: Bill, command: tuple[str, ...]
) -> None:
    def interrupted(messages: Sequence[tuple[str, str]], seed: int) -> str:
        if bill.usd:
            os.kill(os.getpid(), signal.SIGINT)
        return actors_and_judges(messages, seed)

    wire_server.answer = interrupted
    told = asked(hipo, wire_server, *command)
    assert told.code == ExitCode.INTERRUPTED
    assert re.search(r"calls?, .*\$0\.\d+.*; nothing is kept\nstopped: interrupted", told.err)


@pytest.mark.usefixtures("bill")
def test_so_does_a_pilot_whose_budget_ends_within_its_first_dialogue(
    hipo: Hipo, wire_server: WireServer
) -> None:
    pilot = (*GENERATE, "-n", "2", "--pilot", "2", "--dry-run", "--budget-usd", "2.1")
    told = asked(hipo, wire_server, *pilot)
    assert told.code == ExitCode.BUDGET
    assert re.search(
        r"calls?, \$0\.\d+; nothing is kept\nerror: the pilot played nothing", told.err
    )


def test_what_costs_nothing_is_not_told(hipo: Hipo) -> None:
    told = hipo("scenarios", "preview", "used_car", "-m", "offline/rules")
    assert (told.code, told.err) == (0, "")


def test_a_budget_is_for_all_previews_of_the_author_s_form(
    tmp_path: Path, wire_server: WireServer, bill: Bill
) -> None:
    path = write_new_scenario(tmp_path / "pack", "mine")
    took: list[Charges] = []

    def errors(**budget: Any) -> list[Any]:
        changes = {"models.default.base_url": wire_server.openai_url, "prices": Path("prices.yaml")}
        desk = open_desk(path.parent, MODEL, dollars, {**changes, **budget}, took.append)
        data = desk.open(path.name).data
        return [one["error"] for _ in range(8) for one in desk.preview(path.name, data)]

    assert errors() == [None] * 16
    assert sum(charges.charged_usd for charges in took) == pytest.approx(bill.usd)
    budget = 0.5 * bill.usd
    bill.usd = 0.0
    told = errors(budget_usd=budget)
    assert told[0] is None
    assert "budget reached" in str(told[-1])
    assert bill.usd <= budget


@pytest.mark.usefixtures("bill")
def test_what_a_preview_took_that_failed_on_the_way_is_told_and_counts(
    tmp_path: Path, wire_server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_new_scenario(tmp_path / "pack", "mine")
    took: list[Charges] = []
    changes = {"models.default.base_url": wire_server.openai_url, "prices": Path("prices.yaml")}
    desk = open_desk(path.parent, MODEL, dollars, changes, took.append)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Silent, "see", fail)
    with pytest.raises(ZeroDivisionError):
        desk.preview(path.name, desk.open(path.name).data)
    (charges,) = took
    assert charges.charged_usd > 0
