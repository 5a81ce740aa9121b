"""The human baseline: people and models on the very same items."""

import pytest

from quality.agreement.annotations import Answer
from quality.evaluation.people import MAJORITY, human_baseline, place_of
from quality.evaluation.people_by_class import people_by_class
from quality.evaluation.scoring_results import score_results
from tests.quality.evaluation.scripted import QUICK
from tests.quality.evaluation.test_scoring_results import row

LABELS = {"veracity": ("Quality", "Manner", "None"), "goal": ("deception", "disclosure")}
HIDDEN = {"veracity": ("None",)}


def said(number, annotator, label, dimension="veracity"):
    return Answer(f"c{number}/a#3", dimension, annotator, label)


def baseline(rows, people):
    return human_baseline(rows, people, LABELS, hidden=HIDDEN)


def line(number, right, label, **fields):
    return row(number, right, label, arm="a", **fields)


def test_people_and_models_are_scored_on_what_both_answered():
    rows = [
        line(0, "Quality", "Quality"),
        line(1, "Manner", "Quality"),
        line(2, "Manner", "Manner"),  # nobody was asked
        line(3, "None", "None"),  # nobody could have said so
    ]
    people = [
        said(0, "P1", "Quality"), said(1, "P1", "Manner"), said(3, "P1", "Manner"),
        said(0, "P2", "Manner"), said(1, "P2", "Manner"),
    ]  # fmt: skip
    found = score_results(baseline(rows, people), LABELS, how=QUICK)
    assert {s.model: (s.items, s.accuracy.value) for s in found.scores} == {
        "m/one": (2, 0.5),
        "people": (2, 0.75),
        "people/P1": (2, 1.0),
        "people/P2": (2, 0.5),
    }
    together = next(s for s in found.scores if s.model == "people")
    assert [draw.accuracy for draw in together.draws] == [1.0, 0.5]
    assert together.accuracy_sd == pytest.approx(0.5 / 2**0.5)


def test_people_together_are_compared_with_a_model_by_the_mean_of_their_answers():
    rows = [line(0, "Quality", "Quality"), line(1, "Manner", "Quality")]
    people = [said(i, name, "Manner") for i in (0, 1) for name in ("P1", "P2")]
    people += [said(0, "P3", "Quality"), said(1, "P3", "Manner")]
    found = score_results(baseline(rows, people), LABELS, how=QUICK)
    pair = next(c for c in found.comparisons if (c.first, c.second) == ("m/one", "people"))
    # The model is right on the first, people on the second and by a third on the first.
    assert pair.n == 2
    assert pair.accuracy.value == pytest.approx(0.5 - (1 / 3 + 1) / 2)


def test_the_majority_of_three_stands_beside_them_and_is_wrong_where_they_split():
    rows = [line(i, "Quality", "Manner") for i in range(4)]
    labels = ["Quality Quality Manner", "Quality Manner Manner", "Quality Manner Other"]
    people = [
        said(i, f"P{n}", label)
        for i, given in enumerate(labels)
        for n, label in enumerate(given.split())
    ]
    people += [said(3, name, "Quality") for name in ("P0", "P1")]  # of two there is no majority
    found = baseline(rows, people)
    most = [row for row in found if row.model == MAJORITY]
    assert [row.labels["veracity"] for row in most] == ["Quality", "Manner", None]
    assert [row.right["declared"]["veracity"] for row in most] == [True, False, False]
    assert (most[-1].status, most[-1].reason) == ("answered", "no label has a majority")
    scores = {s.model: s for s in score_results(found, LABELS, how=QUICK).scores}
    assert (scores[MAJORITY].items, scores[MAJORITY].accuracy.value) == (3, pytest.approx(1 / 3))
    assert scores[MAJORITY].tally.unreadable == 1
    by_class = {one.label: one.annotators for one in people_by_class(scores.values())}
    assert by_class == {"Quality": 3}  # the majority is no fourth person


def test_two_people_have_no_row_of_a_majority():
    people = [said(0, "P1", "Quality"), said(0, "P2", "Quality")]
    found = baseline([line(0, "Quality", "Manner")], people)
    assert MAJORITY not in {row.model for row in found}


def test_people_stand_once_under_each_task_and_mode():
    rows = [
        line(0, "Quality", "Quality"),
        line(0, "Quality", "Quality", model="m/two"),
        line(0, "Quality", "Quality", mode="icl", draw=0),
        line(0, "Quality", "Quality", mode="icl", draw=1),
    ]
    found = baseline(rows, [said(0, "P1", "Quality")])
    people = [(r.mode, r.model) for r in found if r.model.startswith("people")]
    assert sorted(people) == [
        ("icl", "people"), ("icl", "people/P1"),
        ("zero-shot", "people"), ("zero-shot", "people/P1"),
    ]  # fmt: skip


def test_the_goal_is_answered_once_for_a_dialogue():
    goal = row(
        0, "", None, arm="a", turn=None, labels={"goal": "disclosure"},
        options={"goal": LABELS["goal"]}, references={"declared": {"goal": "deception"}},
    )  # fmt: skip
    assert place_of(goal) == "c0/a"
    people = [Answer("c0/a", "goal", "P1", "deception")]
    found = score_results(baseline([goal], people), LABELS, how=QUICK)
    assert [(s.model, s.accuracy.value) for s in found.scores] == [
        ("m/one", 0.0), ("people", 1.0), ("people/P1", 1.0),
    ]  # fmt: skip


def test_the_options_of_people_are_those_of_the_form():
    found = baseline([line(0, "Quality", "Quality")], [said(0, "P1", "Manner")])
    assert found[-1].options == {"veracity": ("Quality", "Manner")}
    assert found[-1].right == {"declared": {"veracity": False}}


def test_without_a_common_item_there_is_no_baseline():
    assert baseline([line(0, "Quality", "Quality")], [said(9, "P1", "Quality")]) == []
