"""Words that models wrote where labels were asked for."""

from quality.evaluation.other_words import OtherWord, other_words
from quality.evaluation.scores import EvaluationScores
from quality.evaluation.scoring_results import score_results
from tests.quality.evaluation.scripted import QUICK
from tests.quality.evaluation.test_scoring_results import LABELS, row


def read_as(number, written, label, **fields):
    told = {"harmonised": ("veracity",)} if label else {"faults": {"veracity": "unknown label"}}
    return row(number, "Quality", label, raw={"veracity": written}, **told, **fields)


ROWS = [
    read_as(0, "Lie", "Quality"),
    read_as(1, "lie", "Quality"),
    read_as(2, "Fog", "Manner"),
    read_as(3, "Banter", None),
    read_as(4, "lie", "Quality", model="m/two"),
    read_as(5, "lie", "Quality", repeat=1),
    row(6, "Quality", "Quality", raw={"veracity": "quality"}),
    row(7, "Quality", None, raw={"veracity": "{{"}, faults={"veracity": "unreadable"}),
]
ABOUT = ("hipo-utterance", "zero-shot")


def test_each_word_is_counted_by_model_with_the_label_it_was_read_as():
    assert other_words(ROWS, LABELS) == [
        OtherWord(*ABOUT, "m/one", "veracity", "lie", "Quality", 2),
        OtherWord(*ABOUT, "m/one", "veracity", "fog", "Manner", 1),
        OtherWord(*ABOUT, "m/one", "veracity", "banter", None, 1),
        OtherWord(*ABOUT, "m/two", "veracity", "lie", "Quality", 1),
    ]
    assert other_words(ROWS, ()) == []


def test_they_are_kept_with_the_figures_and_add_up_to_what_was_harmonised_or_unknown():
    scores = score_results(iter(ROWS), LABELS, how=QUICK)
    assert EvaluationScores.from_dict(scores.to_dict()) == scores
    tallies = [one.tally for one in scores.scores if one.dimension == "veracity"]
    assert sum(tally.harmonised for tally in tallies) == sum(
        w.answers for w in scores.words if w.label
    )
    assert sum(tally.unknown_labels for tally in tallies) == 1


def test_figures_of_an_earlier_hipo_have_none():
    data = score_results(ROWS, LABELS, how=QUICK).to_dict()
    del data["words"]
    assert EvaluationScores.from_dict(data).words == ()
