import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.statistics.holm import holm

ps = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_p_values_are_corrected_by_holm():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(ps)
def test_the_order_is_kept_and_nothing_becomes_smaller_or_exceeds_one(values):
    adjusted = holm(values)
    ranked = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[i] for i in ranked] == sorted(adjusted)
    assert all(p <= a <= 1 for p, a in zip(values, adjusted, strict=True))
