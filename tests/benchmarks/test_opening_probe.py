"""The probes find a leak where there is one, none where there is none, and chance where texts are alike."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.opening_probe import GOALS, PROBES, OpeningLine, read, rows_of, shared, statements
from scenarios.spec import Scenario
from tests.factories import make_new_scenario

QUICK = [probe for probe in PROBES if "MiniLM" not in probe.name]
"""Without the model that takes seconds to load."""
SUBJECTS = ("car", "boat", "flat", "fern", "ring", "desk", "coat", "bill")


def lines(*texts: tuple[str, str]) -> list[OpeningLine]:
    """One line per goal and scenario, with the subject of the scenario in it."""
    return [
        OpeningLine(subject, goal, text.format(subject))
        for number, subject in enumerate(SUBJECTS)
        for goal, text in enumerate(texts[number % len(texts)])
    ]


@pytest.mark.parametrize("probe", QUICK, ids=lambda probe: probe.name)
def test_a_goal_that_a_word_tells_is_found_above_swapped_labels(probe) -> None:
    told = lines(
        ("No, never, not this {}.", "I will not say a word about that {}."),
        ("Nothing ever happened to the {}.", "I would rather not say, not about the {}."),
    )
    found = read(told, probe, swaps=20)
    assert found.accuracy == 1.0
    assert found.low <= 0.5 <= found.high < 1.0


@pytest.mark.parametrize("probe", QUICK, ids=lambda probe: probe.name)
def test_styles_that_are_crossed_lie_within_swapped_labels(probe) -> None:
    crossed = lines(
        ("No, never, not this {}.", "I will not say a word about that {}."),
        ("I will not say a word about that {}.", "No, never, not this {}."),
    )
    found = read(crossed, probe, swaps=20)
    assert found.low <= found.accuracy <= found.high


@pytest.mark.parametrize("probe", QUICK, ids=lambda probe: probe.name)
def test_texts_that_are_the_same_under_both_goals_are_read_at_exactly_one_half(probe) -> None:
    pack = [make_new_scenario(f"new_{number}") for number in range(4)]
    alike = [
        OpeningLine(line.scenario, line.goal, f"{line.text} {line.scenario}")
        for line in shared(pack)
    ]
    assert len(alike) == 4 * 2 * 2 * len(GOALS)
    assert read(alike, probe, swaps=5).accuracy == 0.5


def test_swaps_are_seeded_and_leave_the_texts_alone() -> None:
    told = lines(("No, never, not this {}.", "I will not say a word about that {}."))
    first, again = (read(told, PROBES[0], swaps=20) for _ in range(2))
    assert first == again


def test_every_statement_and_every_shared_beginning_is_read_under_both_goals() -> None:
    scenario: Scenario = make_new_scenario()
    said = statements([scenario])
    assert np.bincount([line.goal for line in said]).tolist() == [len(scenario.opening.by_goal)] * 2
    texts = [{line.text for line in shared([scenario]) if line.goal == goal} for goal in (0, 1)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == len(scenario.opening.shared.exchanges) * 2


def test_only_held_out_probes_have_a_goal_beside_shared_openings() -> None:
    pack = [make_new_scenario(f"new_{number}") for number in range(4)]
    rows = list(rows_of(pack, QUICK))
    judged = [row.name for row in rows if row.goal is not None]
    assert [name.partition(":")[0] for name in judged] == [
        "shared openings, 32 texts", "openings by goal, 8 statements",
        "openings by goal, 8 statements", "shared openings, 32 texts",
    ]  # fmt: skip
    assert all(row.ok for row in rows if row.name.startswith("shared"))
