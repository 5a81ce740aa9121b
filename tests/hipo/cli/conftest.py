"""The command line in this process: quick, and with its messages at hand."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from hipo.cli.main import run
from scenarios.pack import LIBRARY
from tests.factories import retold_car


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What was printed as JSON."""
        return json.loads(self.out)


Hipo = Callable[..., Result]


@pytest.fixture
def hipo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Hipo:
    """Run commands in an empty folder, without any key in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "HIPO_SCENARIO_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HIPO_DEBUG", raising=False)

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        code = run(arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def offline(hipo: Hipo) -> Hipo:
    """Run ``hipo generate`` with the offline rules on one scenario."""

    def call(*arguments: str) -> Result:
        return hipo("generate", "--model", "offline/rules", "--scenarios", "used_car", *arguments)

    return call


def generating(hipo: Hipo, folder: Path, recipe: Mapping[str, object]) -> Hipo:
    """Return ``hipo generate`` with a recipe, whose run is in ``run``."""
    (folder / "small.yaml").write_text(yaml.safe_dump(dict(recipe)))
    return partial(hipo, "generate", "small.yaml", "-o", "run")


Answer = tuple[int, str, str]
Bench = Callable[..., Answer]


@pytest.fixture
def bench(hipo: Hipo, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Call a command about scenarios; return its exit code, standard output and standard error."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: str) -> Answer:
        result = hipo("scenarios", *arguments)
        return result.code, result.out, result.err

    return call


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A folder of one's own with one good scenario, ``my_car``."""
    folder = tmp_path / "pack"
    folder.mkdir()
    text = (LIBRARY / "products" / "used_car.yaml").read_text(encoding="utf-8")
    text = text.replace("id: used_car", "id: my_car", 1).replace("A used car with a past", "My car")
    (folder / "my_car.yaml").write_text(retold_car(text), encoding="utf-8")
    return folder


def damage(pack: Path, old: str, new: str) -> int:
    """Change the scenario of the pack, and return the line of the change."""
    path = pack / "my_car.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def as_json(answer: Answer) -> Any:
    assert answer[0] == 0, answer[2]
    return json.loads(answer[1])


def beside(
    rows: list[dict[str, Any]], before: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of a set and those it had once, in one order.

    Then, rows that say the same were not left out: each that is missing now repeats another.
    """
    now = {row["id"]: row for row in rows}
    kept = [row for row in before if row["id"] in now]
    assert len(kept) == len(now) == len(rows)
    said = {(row.get("aspect"), str(row.get("messages", row["id"]))[-400:]) for row in kept}
    for row in before:
        assert (row.get("aspect"), str(row.get("messages", row["id"]))[-400:]) in said
    return [now[row["id"]] for row in kept], kept


def interrupted_twice(_messages: Sequence[tuple[str, str]], _seed: int) -> str:
    """Answer a call of this process after somebody has lost the patience to wait for it."""
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
    return ""
