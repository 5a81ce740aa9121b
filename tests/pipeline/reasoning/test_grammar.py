import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reasoning.claims import PairPayoff
from pipeline.reasoning.grammar import NotAPredicate, read_predicate
from tests.pipeline.reasoning.games import games_with_claims, unhurried


@unhurried
@given(games_with_claims)
def test_a_claim_that_is_written_is_read_as_the_same_claim(drawn):
    claim = drawn[1]
    assert read_predicate(claim.predicate()) == claim


@pytest.mark.parametrize(
    "text",
    [
        "finally(goal(them, 5), do(choice(you, 'R'), do(choice(them, 'B'), s0))).",
        "finally(goal(them, 5), do(choice(them, 'B'), do(choice(you, 'R'), s0))).",
        'finally( goal(them,5),do(choice(you,"R"), do(choice(them,"B"),s0)) )',
        "  finally(goal(them, 5.0), do(choice(you, 'R'), do(choice(them, 'B'), s0))) .  ",
    ],
)
def test_order_blanks_quotes_and_the_full_stop_do_not_matter(text):
    assert read_predicate(text) == PairPayoff(whose="them", amount=5, mine="R", theirs="B")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no predicate of this name"),
        ("highest_payoff(3).", "no predicate of this name"),
        ("Highest_mutual_payoff('R', 'R').", "no predicate of this name"),
        ("higher(5).", "not what higher takes"),
        ("higher(5, 3), lower(3, 5).", "not what higher takes"),
        ("higher(5$, 3).", "not what higher takes"),
        ("higher(X, 3).", "not what higher takes"),
        ("highest_mutual_payoff(R, B).", "not what highest_mutual_payoff takes"),
        (
            "lowest_possible_individual_payoff(0), do(choice(you, 'R'), s0).",
            "not what lowest_possible_individual_payoff takes",
        ),
        (
            "finally(goal(you, 5), do(choice(you, 'R'), do(choice(you, 'B'), s0))).",
            "both choices are given to 'you'",
        ),
        (f"higher({'9' * 40}, 1).", "an argument is out of bounds"),
        (f"higher(1, {'9' * 900}).", "characters"),
    ],
)
def test_what_is_no_predicate_is_refused_with_its_reason(text, reason):
    with pytest.raises(NotAPredicate, match=reason):
        read_predicate(text)


@unhurried
@given(st.one_of(st.text(), st.text("finalygo(),'BR0123. hert_p").map("higher(".__add__)))
def test_any_text_is_a_predicate_or_refused(text):
    try:
        claim = read_predicate(text)
    except NotAPredicate:
        return
    assert read_predicate(claim.predicate()) == claim
