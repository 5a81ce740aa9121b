"""Agreement of people beside the accuracy of models, by group."""

import pytest

from quality.agreement.annotations import Answer
from quality.evaluation.kappa_by_group import kappa_by_group, rank_correlation
from quality.evaluation.people import human_baseline
from quality.evaluation.scoring_results import score_results
from scenarios.schemes.registry import load_scheme
from tests.quality.evaluation.scripted import QUICK
from tests.quality.evaluation.test_scoring_results import row

VERACITY = load_scheme("hipo").dimension("veracity")
LABELS = {"veracity": VERACITY.values}
PRINTED = {
    "sarcasm": (0.25, 0.152),
    "passive aggression": (0.22, 0.160),
    "strategic politeness": (0.20, 0.255),
    "mixed signals": (0.16, 0.221),
    "deflection": (0.06, 0.212),
}
"""Kappa and mean accuracy of seven models, by subtype (CEI, table 9)."""


def test_the_printed_table_has_another_rho_than_the_text():
    # Differences of ranks 4, 2, -2, -2, -2: 1 - 6 * 32 / (5 * 24). The text has -0.50.
    assert rank_correlation(*zip(*PRINTED.values(), strict=True)) == pytest.approx(-0.6)


def test_equal_values_share_the_middle_of_their_places():
    assert rank_correlation([1, 1, 2], [1, 2, 3]) == pytest.approx(0.75**0.5)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_rho_is_a_plain_number_that_json_can_hold():
    assert type(rank_correlation([1, 2, 3], [1, 3, 2])) is float


PAIRS = {
    "one": [("Quality", "Quality"), ("Manner", "Manner")] * 5,  # kappa 1
    "two": [("Quality", "Manner"), ("Manner", "Quality")] * 5,  # kappa -1
    "three": [("Quality", "Quality"), ("Quality", "Manner")] * 5,  # (1/2 - 5/8) / (1 - 5/8)
    "too small": [("Quality", "Quality"), ("Manner", "Manner")] * 4,
}
RIGHT = {"one": 0, "two": 10, "three": 5, "too small": 8}
"""Of ten lines, how many the model has right."""


class ReadAnswers(list):
    """Counts how often its answers are read."""

    times = 0

    def __iter__(self):
        self.times += 1
        return super().__iter__()


def answered_in(groups):
    rows, people = [], ReadAnswers()
    for group in groups:
        pairs = PAIRS[group]
        for place, pair in enumerate(pairs):
            number = len(rows)
            given = "Quality" if place < RIGHT[group] else "None"
            rows.append(row(number, "Quality", given, arm="a", goal=group, options=LABELS))
            people += [
                Answer(f"c{number}/a#3", "veracity", who, label)
                for who, label in zip("PQ", pair, strict=True)
            ]
    known = human_baseline(rows, people, LABELS, hidden={})
    scores = score_results(known, LABELS, how=QUICK).scores
    return scores, rows, people


def found_in(groups):
    return kappa_by_group(*answered_in(groups), {"veracity": VERACITY})


def test_answers_are_read_once_however_many_groups_there_are():
    scores, rows, people = answered_in(PAIRS)
    before = people.times
    assert kappa_by_group(scores, rows, people, {"veracity": VERACITY})
    assert people.times == before + 1


def test_people_agree_least_where_the_model_is_best():
    (table,) = found_in(PAIRS)  # categories, turns and so on are one group each
    assert (table.by, table.models, table.rho) == ("goal", 1, pytest.approx(-1))
    assert [(g.group, g.items, g.accuracy) for g in table.groups] == [
        ("one", 10, 0.0), ("three", 10, 0.5), ("two", 10, 1.0),
    ]  # fmt: skip
    # Of two people in each line: both right, one of them, or each now and then.
    assert [g.accuracies for g in table.groups] == [
        {"m/one": 0.0, "people": 0.5},
        {"m/one": 0.5, "people": 0.75},
        {"m/one": 1.0, "people": 0.5},
    ]
    assert [g.kappa for g in table.groups] == pytest.approx([1, -1 / 3, -1])


def test_two_groups_are_too_few():
    assert found_in(["one", "two", "too small"]) == []
