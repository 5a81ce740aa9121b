"""The tutorials of the three users: every command of a page is run in a fresh folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from benchmarks.machine import free_port
from hipo.cli.main import run

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


SERVED = frozenset({"view", "author"})
"""Commands that serve a page until they are interrupted."""


def visit(arguments: list[str]) -> str:
    """Start a command that serves a page, and return the page that its link leads to."""
    command = [sys.executable, "-m", "hipo", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as serving:
        try:
            told = serving.stderr or ()
            link = next((line.strip() for line in told if "/enter?token=" in line), "")
            assert link, arguments
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with opener.open(link) as answer:
                page: str = answer.read().decode()
            return page
        finally:
            serving.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("user", ["linguist", "ml-engineer", "batch-runner"])
def test_every_command_of_a_first_hour_works(
    user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("HIPO_SCENARIO_PATH", raising=False)
    page = (TUTORIALS / f"{user}.md").read_text(encoding="utf-8")
    lines = [line for block in BLOCK.findall(page) for line in block.splitlines() if line]
    assert len(lines) >= 6
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "hipo"
        if arguments[0] in SERVED:
            assert "<h1" in visit([*arguments, "--port", str(free_port())])
            continue
        code = run(arguments)
        told = capsys.readouterr()
        assert code == 0, f"{line}\n{told.out}\n{told.err}"
