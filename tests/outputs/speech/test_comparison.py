"""Differences between groups of lines, and what they are resampled from."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from outputs.speech.comparison import SpeechGroup, compare_groups
from outputs.speech.measures import SpeechMeasure

LENGTH = SpeechMeasure("line_length", "length of a line", "words")


def group(name: str, lengths: dict[str, list[int]]) -> SpeechGroup:
    """Return a group with lines of these lengths by scenario."""
    made = SpeechGroup(name)
    for cluster, words in lengths.items():
        for each in words:
            made.add(cluster, np.array([[each], [1]], dtype=float), 1)
    return made


def difference(first: SpeechGroup, other: SpeechGroup):
    (found,) = compare_groups([first, other], [LENGTH], seed=0).differences[other.name]
    return found


def test_a_figure_is_that_of_all_lines_whatever_dialogue_they_are_from() -> None:
    found = difference(group("a", {"x": [2, 4], "y": [9]}), group("b", {"z": [5], "w": [7]}))
    assert (found.reference, found.figure) == (5, 6)
    assert found.difference == 1
    assert not found.certain


def test_scenarios_that_both_share_are_drawn_for_both_together() -> None:
    rng = np.random.default_rng(1)
    lengths = {f"s{n}": [int(length)] for n, length in enumerate(rng.integers(5, 50, 30))}
    longer = {name: [words + 1 + n % 2] for n, (name, (words,)) in enumerate(lengths.items())}
    shared = difference(group("a", lengths), group("b", longer))
    assert shared.certain
    assert shared.interval is not None
    assert shared.interval.high - shared.interval.low < 1
    apart = difference(
        group("a", lengths), group("b", {f"other {name}": them for name, them in longer.items()})
    )
    assert not apart.certain
    assert apart.interval is not None
    assert apart.interval.high - apart.interval.low > 5


def test_an_interval_holds_the_true_difference_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(60):
        one, two = (
            group(name, {f"{name}{n}": [int(x)] for n, x in enumerate(rng.poisson(mean, 20))})
            for name, mean in (("a", 10), ("b", 13))
        )
        found = difference(one, two).interval
        assert found is not None
        held += found.low <= 3 <= found.high
    assert held >= 52


@pytest.mark.parametrize(
    "other",
    [
        group("b", {"z": [5, 7]}),
        group("b", {"x": [5, 7]}),
        group("b", {"x": [2], "y": [2], "z": [2]}),
    ],
)
def test_what_a_bootstrap_cannot_know_has_no_interval_and_is_not_certain(other) -> None:
    found = difference(group("a", {"x": [1], "y": [1], "w": [1]}), other)
    assert found.interval is None
    assert not found.certain


@pytest.mark.parametrize(
    ("clusters", "looks", "told"), [(5, 1, None), (6, 1, True), (6, 15, False)]
)
def test_few_scenarios_are_not_enough_however_much_they_agree(clusters, looks, told) -> None:
    first = group("a", {f"s{n}": [n] for n in range(clusters)})
    other = group("b", {f"s{n}": [n + 50 + n % 2] for n in range(clusters)})
    others = [SpeechGroup(f"b{n}", 1, 1, other.clusters) for n in range(looks)]
    (found,) = compare_groups([first, *others], [LENGTH], seed=0).differences["b0"]
    assert (found.interval is None) == (told is None)
    assert found.certain == bool(told)


@pytest.mark.parametrize(
    ("clusters", "why", "told"),
    [
        (
            1,
            "too few",
            [
                "a is drawn from 1, scenarios or dialogues of none: an interval takes 6 in each group, a star 10"
            ],
        ),
        (
            4,
            "too few",
            [
                "a is drawn from 4, scenarios or dialogues of none: an interval takes 6 in each group, a star 10"
            ],
        ),
        (
            7,
            None,
            ["a is drawn from 7, scenarios or dialogues of none: a star takes 10 in each group"],
        ),
        (10, None, []),
    ],
)
def test_why_there_is_no_interval_is_said_and_what_it_takes(clusters, why, told) -> None:
    first = group("a", {f"s{n}": [n] for n in range(clusters)})
    other = group("b", {f"s{n}": [2 * n] for n in range(12)})
    others = [SpeechGroup(f"b{n}", 1, 1, other.clusters) for n in range(15)]
    compared = compare_groups([first, *others], [LENGTH], seed=0)
    (found,) = compared.differences["b0"]
    assert (found.counted, found.no_interval) == (clusters, why)
    assert (found.interval is None) == (why is not None)
    assert list(compared.notes) == told


def test_resamples_that_are_all_the_same_are_told_from_too_few_scenarios() -> None:
    same = {f"s{n}": [5] for n in range(8)}
    assert difference(group("a", same), group("b", same)).no_interval == "no spread"
    silent = SpeechGroup("b")
    for n in range(8):
        silent.add(f"s{n}", np.zeros((2, 1)), 1)
    found = difference(group("a", same), silent)
    assert (found.difference, found.no_interval) == (None, "nothing counted")


def test_certain_is_less_the_more_is_looked_at() -> None:
    rng = np.random.default_rng(3)
    first, other = (
        group(name, {f"{name}{n}": [int(x)] for n, x in enumerate(rng.poisson(mean, 40))})
        for name, mean in (("a", 10), ("b", 12.5))
    )
    assert difference(first, other).certain
    others = [SpeechGroup(f"b{n}", 1, 1, other.clusters) for n in range(400)]
    found = compare_groups([first, *others], [LENGTH], seed=0).differences["b0"]
    assert not found[0].certain


def test_scenarios_in_which_nothing_was_counted_are_no_ground_for_an_interval() -> None:
    first = group("a", {f"s{n}": [n] for n in range(12)})
    other = group("b", {f"s{n}": [n + 50 + n % 2] for n in range(3)})
    assert difference(first, other).interval is None
    for n in range(3, 12):
        other.add(f"s{n}", np.zeros((2, 1)), 1)
    found = difference(first, other)
    assert found.interval is None
    assert not found.certain


def test_no_star_stands_at_one_of_many_differences_that_are_chance() -> None:
    rng = np.random.default_rng(5)
    measures = [SpeechMeasure(f"m{n}", "a figure", "words") for n in range(400)]
    groups = [SpeechGroup("a"), SpeechGroup("b")]
    for group, cluster in product(groups, range(14)):
        figures = rng.normal(10, 3, len(measures))
        group.add(f"s{cluster}", np.array([figures, np.ones(len(measures))]), 1)
    found = compare_groups(groups, measures, seed=0).differences["b"]
    assert all(one.interval is not None for one in found)
    assert not [one.measure.id for one in found if one.certain]
