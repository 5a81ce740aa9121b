"""The figures of CoBRA's annotators on agreement, through the command and the released files."""

import pytest

from hipo.cli.main import run
from tests.reference.cei import reference_folder
from tests.reference.commands import figures, statistics


@pytest.fixture(scope="module")
def agreement(tmp_path_factory):
    path = reference_folder("cobra") / "WMT_D_annotations.csv"
    if not path.exists():
        pytest.skip("the released annotations of the first defence witness are not here")
    target = tmp_path_factory.mktemp("cobra") / "agreement.json"
    return figures(target, "agreement", path, "--map", "cobra")


@pytest.fixture(scope="module")
def rows(agreement):
    return statistics(agreement["groups"][0])


@pytest.mark.parametrize(
    ("dimension", "expected"),
    [("released_bat", 0.654), ("released_pat", 0.659), ("released_nrbat", 0.833)],
)
def test_mean_pairwise_spearman_of_the_strategic_metrics(rows, dimension, expected):
    row = rows[dimension, "Spearman rho"]
    assert row["value"] == pytest.approx(expected, abs=5e-4)
    assert (row["items"], row["annotators"]) == (101, 3)
    assert row["interval"] is None, (
        "one trial is one dialogue: nothing says how others would differ"
    )


@pytest.mark.parametrize(("dimension", "expected"), [("commitment", 0.588), ("outcome", 0.296)])
def test_cohens_kappa_is_as_released(rows, dimension, expected):
    assert rows[dimension, "Cohen kappa"]["value"] == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("dimension", "expected"),
    [("relevance_violated", 0.723), ("manner_violated", 0.525), ("quality_violated", 0.868)],
)
def test_violations_agree_beyond_free_marginal_chance_as_released(rows, dimension, expected):
    assert rows[dimension, "Randolph kappa"]["value"] == pytest.approx(expected, abs=5e-4)


def test_the_metrics_that_the_scheme_derives_are_compared_too(rows):
    for dimension in ("bat", "pat", "nrbat", "nra"):
        assert rows[dimension, "Spearman rho"]["items"] == 101, dimension


def test_nothing_is_odd_about_the_released_file(agreement):
    assert agreement["oddities"] == []
    assert [(f["rows"], f["read"]) for f in agreement["files"]] == [(303, 303)]


def test_a_file_of_one_annotator_has_no_agreement(tmp_path, capsys):
    refused = []
    for path in sorted(reference_folder("cobra").glob("*.csv")):
        if run(["agreement", str(path), "--map", "cobra", "--json", str(tmp_path / "one.json")]):
            refused.append(path.name)
            assert "is alone: agreement takes two annotators" in capsys.readouterr().err
    assert refused == ["WMT_P_annotations.csv", "control_human_annotated.csv"]
