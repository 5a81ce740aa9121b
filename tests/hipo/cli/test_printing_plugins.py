"""What plugins print goes to standard error: standard output has what was asked for, JSON at best."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.plugins import PLUGINS
from tests.conftest import MadeOnce
from tests.hipo.cli.conftest import Hipo

CHATTY = """
from pipeline.offline_judge.engine import answer
from pipeline.providers.offline import build
from pipeline.providers.registry import ProviderExtension
from quality.gates.protocol import GateExtension, NoSettings

print("chatty is loaded")


class Chatty:
    code = "chatty"

    def check(self, subject):
        print("chatty looks on")
        return []


def make(**options):
    print("chatty is made")
    return build(**options)


EXTENSIONS = [
    GateExtension("chatty", NoSettings, lambda its: Chatty()),
    ProviderExtension(name="chatty", build=make, models=("judge", "rules", "random")),
]
"""
JUDGED = ("--gate", "chatty", "--judge", "chatty/judge", "--no-self", "--no-embeddings")
ASKED = ("made", "--any", "--task", "hipo-utterance", "--model", "chatty/random", "-o", "scores")
PLAYED = ("--model", "chatty/rules", "--scenarios", "used_car", "--turns", "1", "-n", "1")


@pytest.fixture
def chatty(
    hipo: Hipo,
    offline: Hipo,
    tmp_path: Path,
    made_once: MadeOnce,
    monkeypatch: pytest.MonkeyPatch,
) -> Hipo:
    """Run a command with a plugin that prints, in a folder with a run ``made``."""
    short = ("-n", "2", "--turns", "1", "-o", "made", "-q")
    made_once("chatty", tmp_path / "made", lambda: offline(*short))
    (tmp_path / "chatty.py").write_text(CHATTY)
    for held, none in {"files": {}, "stored": []}.items():
        monkeypatch.setattr(PLUGINS, held, none)
    return lambda *command: hipo(*command, "--plugin", "chatty.py", "--format", "json")


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "made", *JUDGED),
        ("verify", "made", *JUDGED, "--dry-run"),
        ("verify", "made", "--juror", "chatty/judge"),
        ("evaluate", *ASKED),
        ("evaluate", *ASKED, "--dry-run"),
        ("generate", *PLAYED, "-o", "more", "--verify", *JUDGED),
        ("generate", *PLAYED, "-o", "more", "--dry-run"),
        ("generate", *PLAYED, "--preview", "1"),
        ("generate", *PLAYED, "--dry-run", "--pilot", "1", *JUDGED),
        ("study", *PLAYED, "--strategy", "direct", "-o", "all", *JUDGED),
    ],
    ids=" ".join,
)
def test_json_on_standard_output_is_all_there_is(chatty: Hipo, command: tuple[str, ...]) -> None:
    result = chatty(*command)
    assert result.code == 0, result.err
    assert result.data
    assert "chatty is" in result.err or "--dry-run" in command


def test_jurors_answer_in_json_however_quiet_a_command_is(offline: Hipo, hipo: Hipo) -> None:
    assert offline("-n", "1", "-o", "made", "-q").code == 0
    asked = ("verify", "made", "--juror", "offline/judge", "-q", "--format", "json")
    assert hipo(*asked).data["labelled"] == 1
    both = hipo(*asked, "--judge", "offline/judge")
    assert both.data["verified"] == 1


def test_a_report_knows_what_a_gate_of_a_plugin_reads(
    chatty: Hipo, hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads_nothing = "lambda its: Chatty(), reads=lambda language: False)"
    (tmp_path / "chatty.py").write_text(CHATTY.replace("lambda its: Chatty())", reads_nothing))
    assert chatty("verify", "made", *JUDGED).code == 0
    written = chatty("report", "made", "--no-embeddings")
    assert written.code == 0, written.err
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    assert "chatty" in page
    assert "not know the language" in page
    for held, none in {"files": {}, "stored": []}.items():
        monkeypatch.setattr(PLUGINS, held, none)
    assert hipo("report", "made", "--no-embeddings").code == 0
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    assert "not know the language" not in page
    assert "hipo report --plugin FILE loads it" in page
