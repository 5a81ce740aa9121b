from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.spec import Scenario
from scenarios.statistics import Closest, Lengths, measure


def test_scenarios_and_facts_are_counted_by_category_and_pairs_by_their_truth(boat):
    one = Scenario.model_validate(boat)
    two = Scenario.model_validate(
        {**boat, "id": "b", "category": "finance", "facts": boat["facts"][:1]}
    )
    found = measure([one, two])
    assert (found.scenarios, found.facts) == (2, 4)
    assert found.categories == {"finance": (1, 1), "products": (1, 3)}
    assert found.pairs == {"false": 4, "misleads": 0, "true": 8, "open": 5}
    assert found.facts_per_scenario == Lengths(1, 2.0, 3)


def test_lengths_are_those_of_every_text_of_a_kind(boat):
    boat["background"] = "One two three. Four five."
    boat["opening"]["shared"]["hard_question"] = ["Is it?", "Is this it then?"]
    found = measure([Scenario.model_validate(boat)])
    assert found.background_sentences == Lengths(2, 2.0, 2)
    assert found.words["background"] == Lengths(5, 5.0, 5)
    assert found.words["hard question"] == Lengths(2, 3.0, 4)
    assert found.words["statement"].most == 7


def test_the_pairs_most_alike_are_named_facts_within_a_scenario_only(boat):
    one = Scenario.model_validate(boat)
    two = Scenario.model_validate({**boat, "id": "b"})
    three = Scenario.model_validate(
        {**boat, "id": "c", "background": "Of something else entirely."}
    )
    texts = [fact.text for fact in one.facts]

    def similarity(left, right):
        pair = {texts[0], texts[2]}
        return [[1.0 if a == b else 0.5 if {a, b} == pair else -0.25 for b in right] for a in left]

    found = measure([one, two, three], similarity)
    assert found.meaning is not None
    assert found.meaning.facts == Closest(0.5, ("old_boat/leak", "old_boat/paint"))
    assert found.meaning.backgrounds == Closest(1.0, ("old_boat", "b"))
    assert found.wording.backgrounds == Closest(1.0, ("old_boat", "b"))


def test_texts_in_other_languages_than_english_are_compared_by_their_words_alone(boat):
    one, two = Scenario.model_validate(boat), Scenario.model_validate({**boat, "id": "b"})
    german = Scenario.model_validate({**boat, "id": "c", "languages": ["de"]})

    def similarity(left, right):
        return [[1.0 for _ in right] for _ in left]

    found = measure([german, one, two], similarity)
    assert found.meaning is not None
    assert found.meaning.backgrounds == Closest(1.0, ("old_boat", "b"))
    assert found.wording.backgrounds == Closest(1.0, ("c", "old_boat"))


def test_without_two_texts_nothing_is_alike_and_without_a_model_no_meaning_is(boat):
    boat["facts"] = boat["facts"][:1]
    found = measure([Scenario.model_validate(boat)])
    assert (found.wording.facts, found.wording.backgrounds, found.meaning) == (None, None, None)
    assert measure([]).facts_per_scenario == Lengths(0, 0.0, 0)


@given(st.lists(st.integers(0, 1000), min_size=1))
def test_the_mean_lies_between_least_and_most(counts):
    lengths = Lengths.of(iter(counts))
    assert lengths.least <= lengths.mean <= lengths.most
    assert lengths.mean * len(counts) == pytest.approx(sum(counts))
