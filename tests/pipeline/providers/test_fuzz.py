"""Arbitrary JSON, mutated replies and damaged bytes: an error of the tree, or something sound."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wire.fuzz import PROPERTIES


@pytest.mark.parametrize("name", PROPERTIES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_an_endpoint_sends_is_read_or_refused(name, data):
    PROPERTIES[name].assert_holds(data.draw(PROPERTIES[name].drawn))
