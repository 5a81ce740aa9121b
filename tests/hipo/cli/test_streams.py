"""Closed streams, full devices and poor encodings: a run that was played is not a crash."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hipo.app.runs.run import Run
from hipo.cli.main import run
from tests.forked import command, forked
from tests.hipo.cli.conftest import damage

ROOT = Path(__file__).resolve().parents[3]
GENERATE = "generate --model offline/rules --scenarios used_car --turns 1 -n 2 -o run"
FULL = "error: standard output could not be written: No space left on device\n"


def shell(
    folder: Path, arguments: str, redirected: str = "", **environment: str
) -> tuple[int, str, str]:
    """Run a command of hipo in a shell; return its exit code, standard output and error."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m hipo {arguments} {redirected}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def told(folder: Path, arguments: str) -> tuple[int, str, str]:
    """Run a command of hipo whose streams are files and pipes; return what ``shell`` does."""
    done = forked(command, arguments.split(), folder, os.environ)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    assert told(folder, f"{GENERATE} -q")[0] == 0
    return folder


@pytest.mark.parametrize(
    ("redirected", "err", "unbuffered"),
    [(">&-", "", ""), (">/dev/full", FULL, ""), (">/dev/full", FULL, "1"), ("2>/dev/full", "", ""),
     (">/dev/full 2>/dev/full", "", "1"), ("<&- >&- 2>&-", "", "")],
)  # fmt: skip
def test_a_run_is_done_whatever_has_become_of_its_streams(
    tmp_path: Path, redirected: str, err: str, unbuffered: str
) -> None:
    code, _, said = shell(tmp_path, GENERATE, redirected, PYTHONUNBUFFERED=unbuffered)
    assert code == 0
    assert said.endswith(err)
    assert said.count("error") == bool(err)
    assert Run(tmp_path / "run").state().generated == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_listing_that_cannot_be_written_is_an_error_in_one_line(
    played: Path, unbuffered: str
) -> None:
    listing = "runs show run --format json" if unbuffered else "show run"
    assert shell(played, listing, ">/dev/full", PYTHONUNBUFFERED=unbuffered) == (1, "", FULL)
    assert shell(played, listing, ">&-", PYTHONUNBUFFERED=unbuffered) == (0, "", "")


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_any_encoding_of_the_terminal_will_do(
    played: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(*arguments: str) -> Any:
        """Return what a command of this process prints as JSON."""
        capsys.readouterr()
        assert run(["show", str(played / "run"), *arguments, "--format", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    dialogue = shown()[0]["id"]
    code, out, err = shell(played, f"show run {dialogue} --trace", **environment)
    assert (code, err) == (0, "")
    assert "\\xb7" in out
    assert out.isascii()
    code, out, _ = shell(played, f"show run {dialogue} --format json", **environment)
    assert code == 0
    assert json.loads(out) == shown(dialogue)


HOSTILE = "\x1b]0;all is well\x07\x1b[8m\x9b2J\u202e"


@pytest.mark.parametrize("of_run", ["verdict run {}", "runs tail run --count 2", "runs show run"])
def test_no_cell_of_a_run_that_was_sent_drives_the_terminal(
    played: Path, tmp_path: Path, of_run: str
) -> None:
    shutil.copytree(played / "run", tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        (case,) = database.execute("select id from cases").fetchone()
        database.execute("update arms set id = id || ?", (HOSTILE,))
        database.execute("update cases set fact = fact || ?", (HOSTILE,))
        database.execute("update meta set value = value || ? where key = 'name'", (HOSTILE,))
    code, out, err = told(tmp_path, of_run.format(case))
    assert (code, err) == (0, "")
    assert r"\x1b]0;all is well\x07\x1b[8m\x9b2J\x202e" in out
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out)


def test_text_of_a_file_cannot_drive_the_terminal(pack: Path) -> None:
    damage(pack, "title: My car", 'title: "My \\e[31mcar"')
    _, out, _ = told(pack.parent, "scenarios show my_car --scenario-dir pack")
    assert "\x1b" not in out
    assert out.startswith("My \\x1b[31mcar")


def test_json_keeps_what_is_not_shown(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(played / "run", tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        database.execute("update turns set text = text || ?", (HOSTILE,))
    assert run(["show", str(tmp_path / "run"), "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    code, out, err = told(tmp_path, f"show run {listed[0]['id']} --format json")
    assert (code, err) == (0, "")
    assert json.loads(out)["turns"][0]["text"].endswith(HOSTILE)
    assert "\x9b" not in out


PRINTING = """
from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GateExtension
from scenarios.strict import Strict


class Settings(Strict):
    pass


class Printing:
    code: ClassVar[str] = "printing"

    def check(self, subject):
        print("looked at one")
        return []


EXTENSIONS = [GateExtension("printing", Settings, build=lambda settings: Printing())]
"""


def test_what_a_plugin_prints_while_it_works_is_no_part_of_the_output(tmp_path: Path) -> None:
    (tmp_path / "printing.py").write_text(PRINTING)
    judged = "--plugin printing.py --gate printing --verify --judge offline/judge --format json"
    code, out, err = told(tmp_path, f"{GENERATE} -q {judged}")
    assert code == 0
    assert json.loads(out)["generated"] == 2
    assert err.count("looked at one") == 2
