"""The forms of the raters of reasonings, through hipo agreement: how far they agree, and what is odd."""

import pytest

from tests.reference.cei import reference_folder
from tests.reference.commands import figures


@pytest.fixture(scope="module")
def agreement(tmp_path_factory):
    forms = sorted(reference_folder("lelma").glob("gemini_filled_j*.csv"))
    if len(forms) != 3:
        pytest.skip("the forms of the three raters are not here")
    target = tmp_path_factory.mktemp("forms") / "agreement.json"
    return figures(target, "agreement", *forms, "--map", "payoff_reasoning", "--by", "game")


def test_the_forms_of_three_raters_are_joined_by_the_names_of_logs(agreement):
    everything = agreement["groups"][0]
    assert (everything["items"], everything["annotators"]) == (90, ["j1", "j2", "j3"])
    assert [group["group"] for group in agreement["groups"]] == ["", "hd", "pd", "sh"]


def test_the_two_odd_codes_are_named_and_nothing_else(agreement):
    found = {(odd["code"], odd["column"]) for odd in agreement["oddities"]}
    assert found == {("other_spelling", "err_type"), ("unknown_value", "err_type")}
    assert all(file["rows"] == file["read"] for file in agreement["files"])
