from collections import Counter

import pytest

from quality.agreement import dimension_agreement
from quality.annotations import Answer
from scenarios.schemes.model import Dimension, Label
from tests.reference.cei import read_csv, reference_folder

COMMITMENTS = ("1", "2", "3", "4")


def labelled(name, *labels):
    return Dimension(
        id=name,
        level="utterance",
        question="Which?",
        labels=tuple(Label(id=label, definition=f"The code {label}.") for label in labels),
    )


def scored(name):
    return Dimension(
        id=name, level="utterance", measurement="interval", question="How much?", range=(-50, 50)
    )


def answers(rows, dimension, column):
    """Join on turn order: the questions of the discourse repeat."""
    turn = Counter()
    found = []
    for row in rows:
        turn[row["annotator"]] += 1
        raw = row[column].strip()
        value = float(raw) if dimension.measurement == "interval" else raw
        found.append(Answer(f"{turn[row['annotator']]:04}", dimension.id, row["annotator"], value))
    return found


def statistic(rows, dimension, column, name):
    table = dimension_agreement(dimension, answers(rows, dimension, column))
    return next(row for row in table if row.statistic == name)


@pytest.fixture
def rows():
    path = reference_folder("cobra") / "WMT_D_annotations.csv"
    if not path.exists():
        pytest.skip("the released annotations of the first defence witness are not here")
    return read_csv(path)


@pytest.mark.parametrize(
    ("column", "expected"), [("bat", 0.654), ("pat", 0.659), ("net_ZNRBaT", 0.833)]
)
def test_mean_pairwise_spearman_of_the_strategic_metrics(rows, column, expected):
    row = statistic(rows, scored("metric"), column, "Spearman rho")
    assert row.value == pytest.approx(expected, abs=5e-4)
    assert (row.items, row.annotators) == (101, 3)
    assert row.interval.low < row.value < row.interval.high


def test_commitment_agrees_as_released(rows):
    row = statistic(rows, labelled("commitment", *COMMITMENTS), "Committment_value", "Cohen kappa")
    assert row.value == pytest.approx(0.588, abs=5e-4)


def test_outcome_agrees_as_released(rows):
    outcome = labelled("outcome", "Witness", "Questioner")
    row = statistic(rows, outcome, "outcome_value", "Cohen kappa")
    assert row.value == pytest.approx(0.296, abs=5e-4)


@pytest.mark.parametrize(
    ("column", "expected"),
    [("relevance_binary", 0.723), ("manner_binary", 0.525), ("quality_binary", 0.868)],
)
def test_violations_agree_beyond_free_marginal_chance_as_released(rows, column, expected):
    row = statistic(rows, labelled("violation", "0", "1"), column, "Randolph kappa")
    assert row.value == pytest.approx(expected, abs=5e-4)


def test_a_file_of_one_annotator_has_no_agreement():
    for path in sorted(reference_folder("cobra").glob("*.csv")):
        rows = read_csv(path)
        found = statistic(
            rows, labelled("commitment", *COMMITMENTS), "Committment_value", "Cohen kappa"
        )
        alone = len({row["annotator"] for row in rows}) == 1
        assert (found.value is None) == alone, path.name
