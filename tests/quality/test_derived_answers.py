"""Functions of plugins behind derived dimensions: what is no list of numbers is told, not counted."""

from __future__ import annotations

import pytest

from quality.derived import DERIVED, DerivedFunction
from quality.derived_answers import with_derived
from scenarios.annotations import Annotation, Subject
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme

COBRA = load_scheme("cobra")
GIVEN = [
    Annotation(Subject("c", "a", turn), "human", "A01", "commitment", "beneficial")
    for turn in (1, 3)
]


def derived(monkeypatch, returned):
    function = DerivedFunction("mine", lambda rows, parameters: returned)
    monkeypatch.setattr(DERIVED, "get", lambda name: function)
    return [a.value for a in with_derived(COBRA, GIVEN) if a.dimension == "bat"]


def test_there_is_a_number_for_each_row_that_has_one(monkeypatch):
    assert derived(monkeypatch, [0.5, None]) == [0.5]


@pytest.mark.parametrize(
    "returned", [None, [1.0], [1.0, 2.0, 3.0], "12", [float("nan"), 1.0], ["a", None]]
)
def test_what_is_no_list_of_as_many_is_told_with_the_function(monkeypatch, returned):
    with pytest.raises(UsageError, match="the function 'mine' of the dimension 'bat'") as caught:
        derived(monkeypatch, returned)
    assert "a list of 2 numbers" in caught.value.hint
