from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.tasks.items import TaskItem
from quality.evaluation.draw import balancing_weights, draw_evenly, spread
from quality.evaluation.item import EvaluationItem
from tests.quality.evaluation.test_replies import SCENE, TURNS

sets = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=4), st.sampled_from("XYZ"), min_size=1, max_size=40
)
TEN_TO_ONE = {f"a{i}": "A" for i in range(100)} | {f"b{i}": "B" for i in range(10)} | {"c0": "C"}


def drawn(classes, n, seed=42):
    return draw_evenly(classes, n, dimension="d", seed=seed)


def test_classes_give_the_same_number_and_what_one_lacks_falls_to_the_others():
    assert Counter(drawn(TEN_TO_ONE, 21).classes.values()) == {"A": 10, "B": 10, "C": 1}
    assert Counter(drawn(TEN_TO_ONE, 31).classes.values()) == {"A": 20, "B": 10, "C": 1}
    assert len(drawn(TEN_TO_ONE, 33).items) == 33
    assert len(drawn(TEN_TO_ONE, 1000).items) == 111


@given(sets, st.integers(1, 45))
def test_no_class_has_two_more_than_another_that_could_give_more(classes, n):
    counts, there = Counter(drawn(classes, n).classes.values()), Counter(classes.values())
    assert sum(counts.values()) == min(n, len(classes))
    for one in there:
        if counts[one] < there[one]:
            assert max(counts.values()) <= counts[one] + 1


@given(sets, st.integers(1, 40))
def test_a_larger_draw_holds_the_smaller_one(classes, n):
    assert set(drawn(classes, n).items) <= set(drawn(classes, n + 1).items)


@given(sets, st.integers(1, 40), st.randoms())
def test_the_order_of_the_set_decides_nothing(classes, n, shuffle):
    items = list(classes.items())
    shuffle.shuffle(items)
    assert drawn(dict(items), n) == drawn(classes, n)


def test_another_seed_draws_others():
    assert drawn(TEN_TO_ONE, 20).items != drawn(TEN_TO_ONE, 20, seed=7).items


@given(sets, st.integers(3, 40))
def test_weights_bring_back_the_shares_of_the_whole_set(classes, n):
    found = drawn(classes, n)
    weights = balancing_weights(found.classes, found.shares)
    assert sum(weights.values()) == pytest.approx(len(weights))
    covered = sum(found.shares[name] for name in set(found.classes.values()))
    for name in set(found.classes.values()):
        mine = sum(weights[item] for item in found.items if classes[item] == name)
        assert mine / len(weights) == pytest.approx(found.shares[name] / covered)


def test_shares_that_name_none_of_the_classes_leave_every_item_alike():
    assert balancing_weights({"i": "X"}, {"Y": 1.0}) == {"i": 1.0}


def test_nothing_cannot_be_drawn():
    with pytest.raises(ValueError, match="at least 1 item"):
        drawn({"i": "X"}, 0)


def lines(*cases, turns=3, beside=("own",)):
    """Items of cases that are named by scenario and number, each of some turns beside some facts."""
    return [
        EvaluationItem(
            TaskItem(f"{case}/{turn}/{fact}", SCENE, TURNS, 1, 0),
            "utterance", {}, frozenset(), case=case, scenario=case[0], turn=turn,
        )
        for case in cases
        for turn in range(turns)
        for fact in beside
    ]  # fmt: skip


@given(st.permutations(lines("a1", "a2", "a3", "b1", "b2", "c1")), st.integers(1, 18))
def test_what_is_asked_first_is_of_as_many_scenarios_and_cases_as_it_can_be(items, n):
    asked = spread(items)[:n]
    scenarios = Counter(item.scenario for item in asked)
    assert len(scenarios) == min(n, 3)
    for name in "abc":
        own = {item.case for item in items if item.scenario == name}
        assert len({item.case for item in asked if item.scenario == name}) == min(
            scenarios[name], len(own)
        )
    assert asked == spread(sorted(items, key=lambda item: item.id))[:n]
    assert sorted(item.id for item in spread(items)) == sorted(item.id for item in items)


def test_what_is_asked_first_is_of_all_turns_and_a_line_stays_with_its_facts():
    many = lines(*(f"a{n}" for n in range(30)))
    assert set(Counter(item.turn for item in spread(many)[:30])) == {0, 1, 2}
    asked = spread(lines("a1", "b1", "b2", beside=("own", "other")))
    assert [item.id.rpartition("/")[0] for item in asked[::2]] == [
        item.id.rpartition("/")[0] for item in asked[1::2]
    ]
    assert [item.id.rpartition("/")[2] for item in asked] == ["own", "other"] * 9
