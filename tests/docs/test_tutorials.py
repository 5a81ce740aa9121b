"""The tutorials of the three users: every command of a page is run in a fresh folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hipo.cli.main import run

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


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
        code = run(arguments)
        told = capsys.readouterr()
        assert code == 0, f"{line}\n{told.out}\n{told.err}"
