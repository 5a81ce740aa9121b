"""No scenario, and no fact, in two splits; all of them much alike; the same every time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outputs.export.balance import Balance, balanced_column, classes_by_tag
from outputs.export.export import export
from outputs.export.planning import one_tag_each
from outputs.export.splits import plan_splits
from outputs.kinds.export_kind import ExportOptions
from outputs.kinds.split_shares import SPLITS, checked_fractions
from outputs.selecting.wish import Selection
from pipeline.store.queries.export import GroupTally
from scenarios.errors import RunError, UsageError
from tests.factories import make_case, make_run, make_scenario
from tests.outputs.corpora import SCHEME

CASE = make_case()
NAMES = st.text("abcdef", min_size=1, max_size=3)
TALLIES = st.lists(
    st.builds(
        GroupTally,
        scenario=NAMES,
        part=NAMES,
        dimension=st.sampled_from([None, "veracity"]),
        label=st.sampled_from(["x", "y", "z"]),
        n=st.integers(1, 50),
    ),
    min_size=1,
    max_size=40,
)
FRACTIONS = st.lists(st.integers(0, 10), min_size=3, max_size=3).filter(any)


def categories(tallies):
    return {tally.scenario: tally.scenario[0] for tally in tallies}


@given(TALLIES, st.sampled_from(["scenario", "fact"]), FRACTIONS, st.integers(0, 5))
def test_every_group_is_in_one_split_and_every_split_has_a_group(tallies, by, shares, seed):
    fractions = checked_fractions(shares)
    groups = {t.scenario if by == "scenario" else f"{t.scenario}/{t.part}" for t in tallies}
    used = [split for split, share in zip(SPLITS, shares, strict=True) if share]

    def plan():
        return plan_splits(
            tallies, categories(tallies), situations={}, by=by, fractions=fractions, seed=seed
        )

    if len(groups) < len(used):
        with pytest.raises(UsageError, match="cannot be divided"):
            plan()
        return
    found = plan()
    assert set(found.groups) == groups
    assert set(found.groups.values()) == set(used) == set(found.splits)
    assert found == plan()
    for tally in tallies:
        key = tally.scenario if by == "scenario" else f"{tally.scenario}/{tally.part}"
        case = replace(CASE, scenario=tally.scenario, fact=tally.part)
        assert found.split_of(case) == found.groups[key]


@pytest.mark.parametrize(("by", "facts", "finer"), [
    ("scenario", 3, True), ("scenario", 1, False), ("fact", 1, False),
])  # fmt: skip
def test_facts_are_the_way_out_only_where_there_are_enough_of_them(by, facts, finer):
    tallies = [GroupTally("s", str(fact), None, "x", 1) for fact in range(facts)]
    with pytest.raises(UsageError, match="cannot be divided") as refused:
        plan_splits(
            tallies,
            {"s": "c"},
            situations={},
            by=by,
            fractions=checked_fractions([8, 1, 1]),
            seed=0,
        )
    assert ("--split-by fact" in refused.value.hint) is finer
    assert "--splits 100,0,0" in refused.value.hint


def even(scenarios=40):
    """Return tallies of scenarios of one size, each with a category, a goal and labels of its own."""
    return [
        GroupTally(f"s{i:02}", "f", dimension, f"{dimension}{i % kinds}", 12)
        for i in range(scenarios)
        for dimension, kinds in ((None, 2), ("veracity", 5), ("intention", 4))
    ]


def test_sizes_goals_categories_and_labels_are_spread_as_asked_for():
    tallies = even()
    kinds = {f"s{i:02}": "abcd"[i % 4] for i in range(40)}
    plan = plan_splits(
        tallies, kinds, situations={}, by="scenario", fractions=(0.5, 0.25, 0.25), seed=1
    )
    assert Counter(plan.groups.values()) == {"train": 20, "validation": 10, "test": 10}
    for split, share in (("train", 0.5), ("validation", 0.25), ("test", 0.25)):
        counts = Counter()
        for tally in tallies:
            if plan.groups[tally.scenario] == split:
                counts[tally.label] += tally.n
                counts[kinds[tally.scenario]] += tally.dimension is None
        for label in {t.label for t in tallies}:
            whole = sum(t.n for t in tallies if t.label == label)
            assert abs(counts[label] - share * whole) <= 12, (split, label)
        assert {counts[c] for c in "abcd"} <= {10 * share - 0.5, 10 * share, 10 * share + 0.5}


def test_a_seed_decides_and_another_one_decides_otherwise():
    def plan(seed):
        tallies = even()
        return plan_splits(
            tallies,
            categories(tallies),
            situations={},
            by="scenario",
            fractions=(0.6, 0.2, 0.2),
            seed=seed,
        ).groups

    assert plan(1) == plan(1)
    assert plan(1) != plan(2)


def test_the_order_of_the_tallies_does_not_matter():
    tallies = even()
    plans = [
        plan_splits(
            t, categories(t), situations={}, by="scenario", fractions=(0.6, 0.2, 0.2), seed=0
        ).groups
        for t in (tallies, tallies[::-1])
    ]
    assert plans[0] == plans[1]


@given(st.integers(0, 50))
def test_a_situation_is_in_one_split_however_many_scenarios_tell_it(seed):
    tallies = even(12)
    leaders = {f"s{i:02}": f"s{i // 3 * 3:02}" for i in range(12)}
    plan = plan_splits(
        tallies, {}, situations=leaders, by="scenario", fractions=(0.5, 0.25, 0.25), seed=seed
    )
    assert set(plan.groups.values()) == set(SPLITS)
    assert all(plan.groups[one] == plan.groups[leader] for one, leader in leaders.items())


def test_too_few_situations_are_told_with_the_scenarios_that_share_them():
    with pytest.raises(
        UsageError, match="3 scenarios that tell 1 situation cannot be divided"
    ) as no:
        plan_splits(
            even(3), {}, situations=dict.fromkeys(["s00", "s01", "s02"], "s00"),
            by="scenario", fractions=(0.8, 0.1, 0.1), seed=0,
        )  # fmt: skip
    assert "--split-by fact" in no.value.hint


def tagged(*tags_of_each):
    return [
        make_scenario().model_copy(update={"id": f"s{i:02}", "tags": tags})
        for i, tags in enumerate(tags_of_each)
    ]


def test_where_each_scenario_has_one_tag_splits_have_all_tags_alike():
    tags = one_tag_each(tagged(*([("peer",)] * 20 + [("above",)] * 12 + [("below",)] * 8)))
    plan = plan_splits(
        even(),
        {},
        situations={},
        by="scenario",
        fractions=(0.5, 0.25, 0.25),
        seed=3,
        tags=tags,
    )
    found = Counter((split, tags[scenario]) for scenario, split in plan.groups.items())
    for split, share in (("train", 0.5), ("validation", 0.25), ("test", 0.25)):
        assert [found[split, tag] / share for tag in ("peer", "above", "below")] == [20, 12, 8]


def test_tags_are_no_design_where_a_scenario_has_several_or_none():
    assert one_tag_each(tagged(("peer",), ())) == one_tag_each(tagged(("peer", "home"))) == {}
    assert one_tag_each(tagged(("peer",), ("above",))) == {"s00": "peer", "s01": "above"}


def test_what_was_not_there_when_splits_were_made_is_not_guessed():
    tallies = even(3)
    plan = plan_splits(tallies, {}, situations={}, by="scenario", fractions=(1, 0, 0), seed=0)
    with pytest.raises(RunError, match="was added to the run"):
        plan.split_of(replace(CASE, scenario="new"))


@pytest.mark.parametrize("shares", [(0, 0, 0), (1, -1, 1), (1, 2), (float("inf"), 1, 1)])
def test_impossible_shares_are_refused(shares):
    with pytest.raises(UsageError, match="three numbers"):
        checked_fractions(shares)


LABELLED = st.lists(
    st.tuples(st.sampled_from(["train", "test"]), st.sampled_from(["x", "y", "z", None])),
    max_size=80,
)


@given(LABELLED, st.integers(0, 3))
def test_balancing_leaves_as_many_of_each_label_as_of_the_rarest(labelled, seed):
    rows = [(s, {"id": str(i), "label": label}) for i, (s, label) in enumerate(labelled)]

    def kept(order):
        balance = Balance("label", seed)
        for split, row in rows:
            balance.count(split, row)
        balance.settle()
        return [(split, row) for split, row in order if balance.keeps(split, row)], balance

    left, balance = kept(rows)
    for split in ("train", "test"):
        before = Counter(row["label"] for s, row in rows if s == split)
        after = Counter(row["label"] for s, row in left if s == split)
        unlabelled = before.pop(None, 0)
        assert after.pop(None, 0) == unlabelled
        assert after == dict.fromkeys(before, min(before.values(), default=0))
    assert balance.dropped == len(rows) - len(left)
    other, _ = kept(rows[::-1])
    assert {row["id"] for _, row in other} == {row["id"] for _, row in left}


def test_only_dimensions_with_single_labels_can_be_balanced():
    assert balanced_column(SCHEME, "veracity") == "label_veracity"
    assert balanced_column(SCHEME, "goal") == "goal"
    with pytest.raises(UsageError, match="has no dimension 'mood'"):
        balanced_column(SCHEME, "mood")


def test_rows_are_balanced_by_the_one_tag_of_their_scenario_or_by_having_a_tag():
    one_each = classes_by_tag(tagged(("peer",), ("peer",), ("above",)), "tag")
    assert one_each == {"s00": "peer", "s01": "peer", "s02": "above"}
    several = tagged(("peer", "home"), ("home",), ())
    assert classes_by_tag(several, "tag:peer") == {"s00": "peer", "s01": "", "s02": ""}
    assert classes_by_tag(several, "veracity") is None
    balance = Balance("scenario", 0, one_each)
    rows = [{"id": str(i), "scenario": f"s{i % 3:02}"} for i in range(30)]
    for row in rows:
        balance.count("test", row)
    balance.settle()
    kept = Counter(one_each[row["scenario"]] for row in rows if balance.keeps("test", row))
    assert kept == {"peer": 10, "above": 10}


@pytest.mark.parametrize(("tags", "wanted", "found"), [
    ((("peer", "home"), ("home",)), "tag", "'s00' has 2: peer, home"),
    ((("peer",), ()), "tag", "'s01' has none"),
    ((("peer",), ("peer",)), "tag", "all scenarios have the tag 'peer'"),
    ((("peer",), ("home",)), "tag:work", "no scenario has 'work'"),
    ((("peer",), ("peer",)), "tag:peer", "all scenarios have the tag 'peer'"),
])  # fmt: skip
def test_tags_that_make_no_classes_are_refused(tags, wanted, found):
    with pytest.raises(UsageError, match=found):
        classes_by_tag(tagged(*tags), wanted)


def test_a_run_without_dialogues_is_told_to_be_one_whatever_it_is_balanced_by(tmp_path):
    run = make_run(tmp_path / "run", [])
    for wanted in ("veracity", "tag", "tag:peer"):
        options = ExportOptions("benchmark", balance=wanted)
        with pytest.raises(UsageError, match="the runs hold no dialogue"):
            export(Selection((run,), verdict="any"), options, tmp_path / "set")
