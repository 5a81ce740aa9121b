"""A scheme and a scenario as they are begun, where the words of both people are labelled."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hipo.cli.main import run as hipo
from tests.outputs.html_tree import parsed
from tests.outputs.report.report_page import table

FIXED_ROLES = re.compile(r"\b(initiator|responder)", re.IGNORECASE)


@pytest.fixture(scope="module")
def generate(tmp_path_factory) -> list[str]:
    """The command that plays the scenario, without where to; the scheme lies beside it."""
    folder = tmp_path_factory.mktemp("advice")
    assert hipo(["scheme", "new", "advice", "--flow", "-o", str(folder)]) == 0
    scheme = ["--scheme", str(folder / "advice.yaml")]
    assert hipo(["scenarios", "new", "stairs", *scheme, "-o", str(folder)]) == 0
    own = ["--scenario-dir", str(folder), "--only", "--model", "offline/rules", "-n", "2"]
    return ["generate", *scheme, *own]


@pytest.fixture(scope="module")
def run(generate: list[str], tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    assert hipo([*generate, "-o", str(folder), "-q"]) == 0
    return folder


def test_nothing_is_asked_as_an_initiator_whom_nobody_plays(
    generate: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert hipo([*generate, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^direct +2 +adviser, seeker +\d+$", told, re.MULTILINE)
    assert FIXED_ROLES.findall(told.replace("--task initiator", "")) == []


def test_card_and_datasheet_tell_of_the_roles_and_the_scheme_there_are(
    run: Path, tmp_path: Path
) -> None:
    assert hipo(["export", str(run), "-o", str(tmp_path / "set"), "-q"]) == 0
    card = (tmp_path / "set" / "README.md").read_text()
    assert "| offline/rules | adviser, seeker | direct | 2 |" in card
    assert FIXED_ROLES.findall(card) == []
    sheet = " ".join((tmp_path / "set" / "datasheet.md").read_text().split())
    assert "as the scheme Giving and taking advice has it: Labels every turn" in sheet
    assert "what is done to the truth" not in sheet


def test_the_report_says_how_the_run_was_made_and_of_which_sets_it_counts_none(
    run: Path, tmp_path: Path
) -> None:
    assert hipo(["verify", str(run), "--judge", "offline/judge", "-q", "--no-embeddings"]) == 0
    assert hipo(["export", str(run), "-o", str(tmp_path / "set"), "-q"]) == 0
    page = tmp_path / "report.html"
    assert hipo(["report", str(run), "-o", str(page), "--no-embeddings", "-q"]) == 0
    tree = parsed(page.read_text())
    assert FIXED_ROLES.findall(page.read_text().split("</style>")[-1]) == []
    settings = table(tree, "Settings")
    assert settings["scenarios to draw from"] == ["1 with 1 private fact"]
    assert settings["labels asked for"] == ["none: whoever speaks chooses"]
    assert settings["blind reading by"] == ["offline/judge"]
    assert settings["reviewed by"] == ["nobody"]
    assert "openings" not in settings
    (model,) = table(tree, "Models and their parameters").values()
    assert model[:4] == ["adviser, seeker", "offline/rules", "0.2", "0.6"]
    assert table(tree, "Dialogues by stage")["Exported"] == ["no set of accepted ones"]


def test_what_was_changed_on_the_way_is_named_as_the_newest(
    generate: list[str], tmp_path: Path
) -> None:
    page, command = tmp_path / "report.html", [*generate, "-o", str(tmp_path / "run"), "-q"]
    shown = ["report", str(tmp_path / "run"), "-o", str(page), "--no-embeddings", "-q"]
    assert hipo(command) == 0
    assert hipo([*command, "-n", "3"]) == 0
    assert hipo(shown) == 0
    assert "the newest is shown" not in page.read_text()
    assert hipo([*command, "--tactics", "balanced", "--resume", "always"]) == 0
    assert hipo(shown) == 0
    assert "the newest is shown: tactics." in page.read_text()


def test_a_copy_goes_on_where_its_scheme_and_its_scenarios_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    monkeypatch.chdir(here)
    assert hipo(["scheme", "new", "advice", "--flow"]) == 0
    assert hipo(["scenarios", "new", "stairs", "--scheme", "advice.yaml", "-o", "pack"]) == 0
    own = ["--scheme", "advice.yaml", "--scenario-dir", "pack", "--only"]
    command = ["generate", *own, "--model", "offline/rules", "-q", "-o", "run"]
    assert hipo([*command, "-n", "1"]) == 0
    there.mkdir()
    shutil.copytree("run", there / "run")
    monkeypatch.chdir(there)
    assert hipo([*command, "-n", "2"]) == 0
    with closing(sqlite3.connect("run/run.sqlite")) as database:
        assert database.execute("select count(*) from dialogues").fetchone() == (2,)
