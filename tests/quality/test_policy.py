"""Policies: from the flags of a dialogue to its verdict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.verification.policy import Policy, Rule, load_policy, policy_names
from scenarios.errors import InputError, UsageError
from scenarios.verdicts import Assessment, Flag


def assessed(*codes, severities=()):
    flags = []
    for i, code in enumerate(codes):
        severity = severities[i] if i < len(severities) else None
        flags.append(Flag("c", "a", None, code, "because", severity))
    return Assessment("c", "a", "config", tuple(flags))


def policy(*rules, **more):
    return Policy(name="mine", rules=tuple(Rule.model_validate(rule) for rule in rules), **more)


def test_review_lets_the_flagged_wait_and_auto_discards_them():
    assert policy_names() == ["auto", "gates", "review"]
    review, auto = load_policy("review"), load_policy("auto")
    assert review.decide(assessed()).verdict == "accepted"
    assert review.decide(assessed("x")).verdict == "pending"
    assert auto.decide(assessed()).verdict == "accepted"
    assert auto.decide(assessed("x")).verdict == "discarded"


def test_a_decision_says_who_and_why():
    decision = load_policy("auto").decide(assessed("self_veracity", "truncated", "self_veracity"))
    assert decision.by == "policy:auto"
    assert decision.by_policy
    assert decision.reason == "self_veracity (2), truncated"
    assert load_policy("review").decide(assessed()).reason == "no flag"


def test_the_first_rule_that_covers_a_flag_counts():
    mine = policy(
        {"flags": "self_goal", "then": "discard"},
        {"flags": ["self_*"], "then": "ignore"},
    )
    assert mine.decide(assessed("self_veracity")).verdict == "accepted"
    assert mine.decide(assessed("self_veracity")).reason == "ignored: self_veracity"
    assert mine.decide(assessed("self_goal", "self_veracity")).verdict == "discarded"
    assert mine.decide(assessed("other")).verdict == "pending"


def test_the_gravest_flag_decides_and_is_the_reason():
    mine = policy({"flags": "bad", "then": "discard"}, {"flags": "fine", "then": "ignore"})
    decision = mine.decide(assessed("fine", "odd", "bad"))
    assert (decision.verdict, decision.reason) == ("discarded", "bad")


def test_a_threshold_is_met_from_its_value_on_and_by_flags_without_one():
    mine = policy({"flags": "external_*", "then": "discard", "at_least": 0.6}, flagged="ignore")
    assert mine.decide(assessed("external_x", severities=[0.5])).verdict == "accepted"
    assert mine.decide(assessed("external_x", severities=[0.6])).verdict == "discarded"
    assert mine.decide(assessed("external_x")).verdict == "discarded"


def test_a_rule_may_need_several_flags():
    mine = policy({"flags": "self_*", "then": "discard", "times": 2}, flagged="ignore")
    assert mine.decide(assessed("self_a")).verdict == "accepted"
    assert mine.decide(assessed("self_a", "self_b")).verdict == "discarded"


def test_nothing_is_accepted_unseen_where_the_policy_says_so():
    assert policy(unflagged="pending").decide(assessed()).verdict == "pending"


@given(st.lists(st.sampled_from(["a", "b", "c"])), st.lists(st.sampled_from(["a", "b", "c"])))
def test_more_flags_never_make_a_verdict_milder(few, more):
    order = ["accepted", "pending", "discarded"]
    mine = policy(
        {"flags": "a", "then": "discard"}, {"flags": "b", "then": "ignore"}, flagged="review"
    )
    verdicts = [mine.decide(assessed(*codes)).verdict for codes in (few, [*few, *more])]
    assert order.index(verdicts[0]) <= order.index(verdicts[1])


def test_a_rule_about_a_flag_that_does_not_exist_is_refused():
    mine = policy({"flags": "self_veracty", "then": "ignore"})
    with pytest.raises(UsageError, match=r"'self_veracty'.*\n.*did you mean 'self_veracity'"):
        mine.check_codes(["self_veracity", "truncated"])
    policy({"flags": "self_*", "then": "ignore"}).check_codes(["self_veracity"])


def test_a_file_of_ones_own_is_read(tmp_path):
    path = tmp_path / "strict.yaml"
    path.write_text("name: strict\nflagged: discard\nrules:\n  - {flags: x, then: review}\n")
    assert load_policy(str(path)).decide(assessed("x")).verdict == "pending"


def test_mistakes_in_a_file_have_their_line(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("name: bad\nrules:\n  - {flags: x, than: review}\n")
    with pytest.raises(InputError) as raised:
        load_policy(str(path))
    assert {p.line for p in raised.value.problems} == {3}
    assert "then" in str(raised.value)


def test_an_unknown_policy_names_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'review'"):
        load_policy("reveiw")


def test_a_policy_is_told_in_words():
    known = (
        "wanted_not_obtained is ignored; what else is flagged is discarded; the rest is accepted"
    )
    assert load_policy("auto").in_words == known
    assert load_policy("gates").in_words == (
        "self_*, external_*, *_self, *_external is ignored; wanted_not_obtained is ignored; "
        "what else is flagged waits for people; the rest is accepted"
    )


@pytest.mark.parametrize("name", ["auto", "gates", "review"])
def test_another_label_than_was_wanted_is_no_fault_of_a_dialogue(name):
    decision = load_policy(name).decide(assessed("wanted_not_obtained"))
    assert (decision.verdict, decision.reason) == ("accepted", "ignored: wanted_not_obtained")
