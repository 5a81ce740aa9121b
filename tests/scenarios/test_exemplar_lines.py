"""The examples: every label, the labels that are easily confused side by side, and nobody's corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from scenarios.catalogue import Catalogue
from scenarios.lines.checks import problems_of
from scenarios.lines.library import exemplar_lines, gold_lines, scenarios_with, stage_lines
from scenarios.lines.model import Exemplar
from scenarios.pack import FAMILIES, LIBRARY_PLUS, read_scenario, scenario_files
from scenarios.schemes.registry import load_scheme
from scenarios.wording import shingles, words

HIPO = load_scheme("hipo")
DIMENSIONS = tuple(d for d in HIPO.declared if d.level == "utterance")
SAME_WORDS = 7
"""So many words in a row that two sets have in common are no chance."""


PACK = {path.stem: read_scenario(path, LIBRARY_PLUS)[0] for path in scenario_files(LIBRARY_PLUS)}


def exemplars(scheme: str) -> dict[str, tuple[Exemplar, ...]]:
    names = [name for name in scenarios_with("exemplar") if PACK[name].scheme == scheme]
    files = {name: exemplar_lines(name) for name in names}
    return {name: file.lines for name, file in files.items() if file is not None}


LINES = [(name, line) for name, lines in exemplars("hipo").items() for line in lines]


def texts_elsewhere() -> Iterator[str]:
    """Yield what is said in the sets that no example may be in, and in the scheme."""
    for name in scenarios_with("stage"):
        if (stage := stage_lines(name)) is not None:
            yield from (line.text for line in (*stage.initiator, *stage.responder))
    for name in scenarios_with("gold"):
        if (gold := gold_lines(name)) is not None:
            yield from (text for line in gold.lines for text in (line.text, line.question))
    for dimension in HIPO.dimensions:
        yield from (contrast.text for contrast in dimension.contrast)
        yield from (label.example for label in dimension.labels if label.example)


@pytest.mark.parametrize(("scheme", "each"), [("hipo", 4), ("cei", 3)])
def test_each_scenario_of_library_plus_has_as_many_examples_as_the_others(scheme, each):
    pack = [name for name, scenario in PACK.items() if scenario.scheme == scheme]
    found = {name: len(lines) for name, lines in exemplars(scheme).items()}
    assert found == dict.fromkeys(pack, each)


@pytest.mark.parametrize("name", PACK)
def test_no_example_has_a_problem(name):
    assert problems_of("exemplar", name) == []


def test_no_scenario_of_the_examples_can_be_in_a_corpus():
    played = set(Catalogue.load([FAMILIES], environment={}).scenarios)
    assert not played & set(scenarios_with("exemplar"))
    assert set(scenarios_with("stage")) | set(scenarios_with("gold")) <= played


def test_no_example_stands_in_another_set():
    elsewhere = list(texts_elsewhere())
    said = {" ".join(words(text)) for text in elsewhere}
    runs = {run for text in elsewhere for run in shingles(text, SAME_WORDS)}
    for _, line in LINES:
        assert " ".join(words(line.text)) not in said
        assert not shingles(line.text, SAME_WORDS) & runs, line.text


def test_the_examples_show_every_label_and_both_goals():
    for dimension in DIMENSIONS:
        assert {line.labels[dimension.id] for _, line in LINES} == set(dimension.values)
    goals = Counter(line.goal for _, line in LINES)
    assert set(goals) == set(HIPO.goal.values)
    assert min(goals.values()) >= 8
    acts = Counter(line.labels["illocutionary"] for _, line in LINES)
    assert acts["Declarations"] >= 2


def test_neither_veracity_nor_goal_tells_the_act():
    pairs = {(line.labels["veracity"], line.labels["illocutionary"]) for _, line in LINES}
    assert len(pairs) >= 20
    for veracity in ("None", "Relevance", "Quality"):
        assert sum(pair[0] == veracity for pair in pairs) >= 4
    under = {goal: {line.labels["veracity"] for _, line in LINES if line.goal == goal} for goal in HIPO.goal.values}  # fmt: skip
    assert under["deception"] - {"Quality"}
    assert "Quality" not in under["truthful non-disclosure"]


@pytest.mark.parametrize(
    ("dimension", "label", "rival"),
    [
        ("veracity", "Quantity", "Manner"),
        ("veracity", "None", "Relevance"),
        ("intention", "Inform", "Convince"),
        ("illocutionary", "Commissives", "Directives"),
    ],
)
def test_labels_that_are_easily_confused_stand_side_by_side(dimension, label, rival):
    """Some question is answered both ways under one fact, and two scenarios or more show both."""
    answers: dict[tuple[str, str, str], set[str]] = {}
    for name, line in LINES:
        key = (name, line.fact, line.question)
        answers.setdefault(key, set()).add(line.labels[dimension])
    assert sum({label, rival} <= found for found in answers.values()) >= 1
    by_scenario: dict[str, set[str]] = {}
    for name, line in LINES:
        by_scenario.setdefault(name, set()).add(line.labels[dimension])
    assert sum({label, rival} <= found for found in by_scenario.values()) >= 2


def test_the_examples_of_emotions_show_all_of_them_and_no_scene_one_twice():
    emotions = {
        name: [line.labels["emotion"] for line in lines] for name, lines in exemplars("cei").items()
    }
    assert {e for found in emotions.values() for e in found} == set(
        load_scheme("cei").dimension("emotion").values
    )
    assert all(len(set(found)) == len(found) for found in emotions.values())
