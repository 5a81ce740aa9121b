"""The page on runs that nobody watches: its codes and words are those of the program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from hipo.cli.terminal.errors import ENDINGS, MEANINGS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "overnight.md").read_text(encoding="utf-8")


def test_every_exit_code_stands_in_its_table_with_its_meaning_and_its_words() -> None:
    rows = re.findall(r"^\| (\d+) \| ([^|]*) \| ([^|]*)\|", PAGE, re.MULTILINE)
    listed = {
        int(code): (meaning, set(re.findall(r"`(\w+)`", words))) for code, meaning, words in rows
    }
    known = {
        code: (meaning, {word for word, (ends_in, _) in ENDINGS.items() if ends_in == code})
        for code, meaning in MEANINGS.items()
    }
    assert listed == known


@pytest.mark.parametrize(
    ("codes", "slept"),
    [([0], 0), ([3, 5, 0], 2), ([5] * 20, 12), ([1], 0), ([2], 0), ([4], 0), ([3, 6], 1), ([7], 0)],
)
def test_the_script_tries_again_on_what_passes_and_on_nothing_else(
    tmp_path: Path, codes: list[int], slept: int
) -> None:
    (script,) = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", PAGE, re.DOTALL)
    (tmp_path / "codes").write_text("".join(f"{code}\n" for code in codes))
    for name, does in {
        "hipo": 'echo "$*" >> asked; read -r code < codes; sed -i 1d codes; exit "$code"',
        "sleep": 'echo "$1" >> slept',
    }.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)
    (tmp_path / "slept").touch()
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=False,
    )
    assert (tmp_path / "slept").read_text().split() == ["600"] * slept
    assert done.returncode == codes[min(slept, len(codes) - 1)] if slept < 12 else 5
    asked = (tmp_path / "asked").read_text().splitlines()
    again = [command.endswith(" --retry-failed") for command in asked]
    assert again == [5 in codes[:place] for place in range(len(asked))]
