"""Benchmarks that run by name only: hipo takes the command lines that they begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import night, soak, train
from tests.hipo.cli.conftest import Hipo, hipo

__all__ = ["hipo"]
SERVER = "http://127.0.0.1:9/v1"


def night_of(folder: Path) -> list[str]:
    prices = folder / "prices.yaml"
    prices.write_text(night.PRICES)
    return night.command_line(folder / "run", night.FULL.cases, SERVER, prices)


def labels_of(folder: Path) -> list[str]:
    return [*train.GENERATED["labels"], "-o", str(folder / "run")]


def pairs_of(folder: Path) -> list[str]:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "responder_system.j2").write_text(train.BRIEF)
    return [*train.GENERATED["pairs"], "-o", str(folder / "run")]


LINES: dict[str, Callable[[Path], list[str]]] = {
    "night": night_of,
    "kills": lambda folder: soak.generated(folder / "run", soak.FULL.generate, SERVER),
    "clock": lambda folder: soak.generated_offline(folder / "run", soak.FULL.cases),
    "labels to learn": labels_of,
    "pairs to learn": pairs_of,
}


@pytest.mark.parametrize("name", LINES)
def test_hipo_takes_the_command_line_of_a_long_benchmark(
    hipo: Hipo, tmp_path: Path, name: str
) -> None:
    planned = hipo(*LINES[name](tmp_path), "--dry-run")
    assert planned.code == 0, planned.err


def test_hipo_takes_the_command_line_of_the_evaluation_that_is_killed(
    hipo: Hipo, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    hipo(*soak.generated_offline(run, 2))
    planned = hipo(*soak.evaluated(run, tmp_path / "evaluation", SERVER), "--dry-run")
    assert planned.code == 0, planned.err
