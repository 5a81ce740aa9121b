"""The gold set: enough of every label, from people and programs, and its words nowhere else."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from scenarios.lines import library
from scenarios.lines.library import gold_lines, scenarios_with
from scenarios.lines.model import GoldLine, GoldLines
from scenarios.pack import LIBRARY, scenario_files
from scenarios.schemes.registry import load_scheme

REPOSITORY = Path(library.__file__).parents[2]
READ_BY_PROGRAMS = {".py", ".yaml", ".yml", ".j2", ".jinja", ".txt", ".json", ".jsonl", ".md"}
FEWEST_OF_A_LABEL = {"intention": 20, "veracity": 20, "illocutionary": 12}


def _files() -> list[GoldLines]:
    return [lines for name in scenarios_with("gold") if (lines := gold_lines(name))]


def _lines() -> list[GoldLine]:
    return [line for file in _files() for line in file.lines]


def test_every_scenario_of_the_library_has_written_and_drawn_lines() -> None:
    assert set(scenarios_with("gold")) == {path.stem for path in scenario_files(LIBRARY)}
    few = []
    for file in _files():
        drawn = sum(line.origin != "written" for line in file.lines)
        if drawn < 2 or len(file.lines) - drawn < 3:
            few.append(file.scenario)
    assert few == []


@pytest.mark.parametrize("dimension", sorted(FEWEST_OF_A_LABEL))
def test_every_label_is_there_often_enough_to_be_measured(dimension: str) -> None:
    scheme = load_scheme("hipo")
    counts = Counter(line.labels[dimension] for line in _lines())
    labels = next(d for d in scheme.declared if d.id == dimension).values
    rare = {name: n for name in labels if (n := counts[name]) < FEWEST_OF_A_LABEL[dimension]}
    assert rare == {}


def test_every_veracity_goes_with_every_act() -> None:
    scheme = load_scheme("hipo")
    veracity, acts = (
        next(d for d in scheme.declared if d.id == name).values
        for name in ("veracity", "illocutionary")
    )
    there = {(line.labels["veracity"], line.labels["illocutionary"]) for line in _lines()}
    assert set(product(veracity, acts)) - there == set()


def test_goals_and_origins_are_about_even() -> None:
    lines = _lines()
    deception = sum(line.goal == "deception" for line in lines)
    drawn = sum(line.origin != "written" for line in lines)
    assert 0.4 <= deception / len(lines) <= 0.6
    assert 0.4 <= drawn / len(lines) <= 0.6


def test_one_canary_marks_every_file_of_gold_and_no_other() -> None:
    (canary,) = {file.canary for file in _files()}
    assert _holding([canary]) == []


def test_what_was_written_for_gold_stands_in_no_other_file() -> None:
    written = [line.text for line in _lines() if line.origin == "written"]
    assert _holding(written) == []


def _holding(texts: list[str]) -> list[str]:
    """Return the files of the repository outside gold that hold one of the texts."""
    plain = [" ".join(text.casefold().split()) for text in texts]
    packages = (
        "scenarios",
        "prompts",
        "pipeline",
        "quality",
        "outputs",
        "hipo",
        "docs",
        "examples",
    )
    found = []
    for package in packages:
        for path in sorted((REPOSITORY / package).rglob("*")):
            if path.suffix not in READ_BY_PROGRAMS or library.FOLDER / "gold" in path.parents:
                continue
            words = " ".join(path.read_text(encoding="utf-8").casefold().split())
            found += [f"{path.name}: {text}" for text in plain if text in words]
    return found
