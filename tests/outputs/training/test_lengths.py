"""A row whose answer would be cut is left out, and told; one that fits is kept whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outputs.training.lengths import (
    LengthPlan,
    check_something_left,
    length_limit,
    plan_lengths,
)
from outputs.training.training_set import TrainingRow
from pipeline.providers.system_messages import without_system
from scenarios.errors import UsageError


def words(conversations):
    return [sum(len(m["content"].split()) for m in said) for said in conversations]


def row(asked, *answers):
    return TrainingRow("r", [{"role": "user", "content": asked}], answers)


def test_a_pair_is_as_long_as_its_longer_answer():
    rows = [row("a b", "c"), row("a", "b c d", "e"), row("a", "b", "c d e f")]
    assert plan_lengths(rows, words, 4).lengths == (3, 4, 5)
    assert plan_lengths(rows, words, 4).kept == (0, 1)


@given(st.lists(st.integers(1, 9), max_size=700), st.integers(0, 9))
def test_rows_are_kept_if_and_only_if_they_fit(lengths, limit):
    plan = plan_lengths([row("x " * (n - 1), "y") for n in lengths], words, limit)
    assert plan.lengths == tuple(lengths)
    assert [n for i, n in enumerate(lengths) if i in set(plan.kept)] == [
        n for n in lengths if n <= limit
    ]
    assert plan.left_out + len(plan.kept) == len(lengths)
    assert plan.longest_kept == max((n for n in lengths if n <= limit), default=0)


def test_what_is_left_out_is_told_with_the_reason():
    lengths, left_out = LengthPlan(1024, (900, 1024, 1025, 4000)).told("train")
    assert lengths.startswith("train: 4 rows; of tokens 50% have at most 1,024, 90% have at most 4")
    assert lengths.endswith(", the longest 4,000")
    assert left_out.startswith("train: 2 of 4 rows are left out: they have more than 1,024 tokens")
    assert len(LengthPlan(5000, (900,)).told("train")) == 1
    assert LengthPlan(5000, ()).told("validation") == []


def test_a_limit_beyond_the_window_is_refused():
    assert length_limit(2048, None) == 2048
    assert length_limit(2048, 512) == 512
    assert length_limit(None, 512) == 512
    assert length_limit(None, None) > 100_000
    with pytest.raises(UsageError, match="--max-length 4096 is more than the 2048 tokens"):
        length_limit(2048, 4096)


def test_nothing_left_is_one_clear_error():
    with pytest.raises(UsageError, match="none of the 2 training rows fits into 512 tokens") as it:
        check_something_left(LengthPlan(512, (700, 900)), asked=512)
    assert "the shortest has 700" in it.value.message
    assert it.value.hint.startswith("raise --max-length")
    with pytest.raises(UsageError, match="none of the 1 training") as it:
        check_something_left(LengthPlan(512, (700,)), asked=None)
    assert it.value.hint == "choose a base with a larger window"
    with pytest.raises(UsageError, match="holds no row"):
        check_something_left(LengthPlan(512, ()), asked=None)


def test_a_system_message_goes_to_the_head_of_the_users():
    said = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "where?"},
        {"role": "assistant", "content": "here"},
    ]
    assert without_system(said) == [
        {"role": "user", "content": "be brief\n\nwhere?"},
        {"role": "assistant", "content": "here"},
    ]
    assert said[1]["content"] == "where?"
