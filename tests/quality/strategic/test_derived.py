import pytest

from quality.derived import DERIVED
from scenarios.errors import UsageError

ROWS = [
    {
        "commitment": "beneficial", "relevance": "1", "manner": "1", "quality": "1",
        "inconsistent": "no", "outcome": "witness",
    },
    {
        "commitment": "detrimental", "relevance": "1", "manner": "3", "quality": "3",
        "inconsistent": "no", "outcome": "questioner",
    },
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cobra.bat", [1, 0.6]),
        ("cobra.pat", [0, 1]),
        ("cobra.nrbat", [0, 0]),
        ("cobra.nra", [1, 0]),
    ],
)
def test_a_scheme_computes_the_metrics_by_their_names(name, expected):
    assert DERIVED.get(name).compute(ROWS, {}) == pytest.approx(expected)


def test_the_parameters_of_a_dimension_choose_the_variant():
    released = {"variant": "as_released", "weights": {"manner": 0.3}}
    assert DERIVED.get("cobra.bat").compute(ROWS, released) == pytest.approx([1, 0.3])


def test_a_function_that_does_not_exist_is_an_error_with_the_names_there_are():
    with pytest.raises(UsageError, match=r"no derived 'cobra\.bta'") as caught:
        DERIVED.get("cobra.bta")
    assert "cobra.bat" in caught.value.hint
