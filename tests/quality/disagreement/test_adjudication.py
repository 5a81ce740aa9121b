from quality.disagreement.adjudication import ExpertLabel, gold_with_notes, to_adjudicate
from tests.quality.disagreement.tables import FEELING, SCHEME, said

ANSWERS = said(
    {
        "all agree": "sad sad sad",
        "far apart": "sad sad glad",
        "nobody agrees": "sad glad cross",
        "one alone": "sad",
        "two differ": "sad glad",
    },
    {"far apart": "-1 0.9 0", "nobody agrees": "-1 -0.5 -0.2", "two differ": "1 1"},
)


def test_items_without_a_majority_are_listed_with_what_everybody_said():
    found = {one.item: one for one in to_adjudicate(SCHEME, FEELING, ANSWERS)}
    assert set(found) == {"far apart", "nobody agrees", "two differ"}
    split = found["nobody agrees"]
    assert split.undecided
    assert split.said == {"Ada": "sad", "Ben": "glad", "Cy": "cross"}
    assert split.beside["Ben"] == {"valence": -0.5}
    assert split.polarity == "negative"
    assert split.reasons == ("no majority among 3 people",)


def test_an_item_whose_ratings_lie_far_apart_is_listed_though_its_label_is_settled():
    (one,) = [o for o in to_adjudicate(SCHEME, FEELING, ANSWERS) if o.item == "far apart"]
    assert not one.undecided
    assert one.reasons == ("valence rated from -1 to 0.9",)


def test_labels_without_a_polarity_have_no_common_side():
    plain = FEELING.model_copy(update={"polarity_on": None})
    assert {one.polarity for one in to_adjudicate(SCHEME, plain, ANSWERS)} == {None}


def test_gold_is_the_majority_or_else_the_expert_with_the_note():
    expert = {"nobody agrees": ExpertLabel("cross", "the ratings are low")}
    gold = {row.item: row for row in gold_with_notes(FEELING, ANSWERS, expert)}
    assert (gold["all agree"].label, gold["all agree"].basis) == ("sad", "unanimous")
    assert (gold["far apart"].label, gold["far apart"].note) == ("sad", "differs: Cy 'glad'")
    row = gold["nobody agrees"]
    assert (row.label, row.basis, row.note) == ("cross", "expert", "the ratings are low")
    assert (gold["two differ"].label, gold["two differ"].basis) == (None, "open")
    assert (gold["one alone"].label, gold["one alone"].basis) == ("sad", "single")


def test_an_expert_who_differs_from_the_majority_is_kept_as_a_note_and_overrules_nobody():
    expert = {"far apart": ExpertLabel("glad", "it is a joke")}
    (row,) = [r for r in gold_with_notes(FEELING, ANSWERS, expert) if r.item == "far apart"]
    assert (row.label, row.basis) == ("sad", "majority")
    assert row.note == "the expert would say 'glad': it is a joke"


def test_an_item_that_only_the_expert_labelled_is_the_experts():
    (row,) = gold_with_notes(FEELING, [], {"new": ExpertLabel("sad")})
    assert (row.label, row.basis, row.said) == ("sad", "expert", {})
