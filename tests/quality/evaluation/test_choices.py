"""Which label is chosen where another one is right."""

from quality.evaluation.choices import choices
from quality.evaluation.label_matrix import ALL_MODELS
from quality.evaluation.scoring_results import score_results
from tests.quality.evaluation.scripted import QUICK
from tests.quality.evaluation.test_scoring_results import LABELS, row


def test_every_answer_is_in_one_cell_and_the_most_frequent_of_a_label_stands_first():
    said = ["Manner", "Quality", "Manner", None, "Quality", "Quality"]
    right = ["Quality"] * 4 + ["Manner"] * 2
    rows = [
        row(n, label, given, faults={} if given else {"veracity": "unreadable"})
        for n, (label, given) in enumerate(zip(right, said, strict=True))
    ]
    found = choices(score_results(rows, LABELS, how=QUICK).scores)
    assert [(c.right, c.chosen, c.answers, c.of) for c in found if c.dimension == "veracity"] == [
        ("Quality", "Manner", 2, 4),
        ("Quality", "Quality", 1, 4),
        ("Quality", None, 1, 4),
        ("Manner", "Quality", 2, 2),
    ]


def test_models_are_added_up_where_there_are_several_and_people_are_none():
    said = {"lab/a": ["Manner", "Quality"], "lab/b": ["Manner", None], "people": ["None", "None"]}
    rows = [
        row(n, "Quality", given, model=who, faults={} if given else {"veracity": "unreadable"})
        for who, answers in said.items()
        for n, given in enumerate(answers)
    ]
    found = choices(score_results(rows, LABELS, how=QUICK).scores)
    together = [c for c in found if c.dimension == "veracity" and c.who == ALL_MODELS]
    assert [(c.right, c.chosen, c.answers, c.of) for c in together] == [
        ("Quality", "Manner", 2, 4),
        ("Quality", "Quality", 1, 4),
        ("Quality", None, 1, 4),
    ]
