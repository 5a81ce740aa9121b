import orjson
import pytest

from quality.evaluation.evaluation_record import DrawnEvenly
from quality.evaluation.result_row import ResultRow
from quality.evaluation.scores import EvaluationScores
from quality.evaluation.scoring_results import score_results
from tests.quality.evaluation.scripted import QUICK

LABELS = {"veracity": ("Quality", "Manner", "None"), "goal": ("deception", "disclosure")}


def test_one_tag_is_a_part_and_several_are_none():
    rows = [
        row(i, "Quality", "Quality", tags=tags) for i, tags in enumerate([("peer",), ("a", "b")])
    ]
    (score,) = score_results(rows, {"veracity": LABELS["veracity"]}, how=QUICK).scores
    assert [(g.group, g.n) for g in score.groups if g.by == "tag"] == [("peer", 1)]


def row(number, right, said, **fields):
    values = {
        "item": f"i{number}",
        "task": "hipo-utterance",
        "mode": "zero-shot",
        "model": "m/one",
        "case": f"c{number}",
        "scenario": f"s{number}",
        "category": "Finance",
        "turn": 3,
        "goal": "deception",
        "strategy": "direct",
        "generator": "g",
        "status": "answered",
        "labels": {"veracity": said},
        "options": {"veracity": LABELS["veracity"]},
        "references": {"declared": {"veracity": right, "goal": "deception"}},
    }
    return ResultRow(**{**values, **fields})


def test_one_table_for_each_reference_model_and_dimension_that_was_asked():
    agreed = {"declared": {"veracity": "Manner"}, "agreed": {"veracity": "Manner"}}
    rows = [
        row(0, "Quality", "Quality"),
        row(1, "Manner", "Quality", references=agreed),
        row(0, "Quality", "None", model="m/two"),
    ]
    found = score_results(rows, LABELS, how=QUICK)
    assert [(s.reference, s.model, s.dimension, s.n, s.accuracy.value) for s in found.scores] == [
        ("declared", "m/one", "veracity", 2, 0.5),
        ("declared", "m/two", "veracity", 1, 0.0),
        ("agreed", "m/one", "veracity", 1, 0.0),
    ]
    (pair,) = found.comparisons
    assert (pair.first, pair.second, pair.n, pair.left_out) == ("m/one", "m/two", 1, 1)
    assert {(g.by, g.group) for g in found.scores[0].groups} == {
        ("category", "Finance"), ("turn", "3"), ("goal", "deception"), ("strategy", "direct"),
        ("generator", "g"),
    }  # fmt: skip
    written = orjson.dumps(found.to_dict())
    assert EvaluationScores.from_dict(orjson.loads(written)) == found


def test_faults_are_read_from_the_status_and_from_each_dimension():
    rows = [
        row(0, "Quality", None, status="failed", labels={}),
        row(1, "Quality", None, status="refused", labels={}),
        row(2, "Quality", None, status="unreadable", labels={}),
        row(3, "Quality", None, faults={"veracity": "unknown label"}),
        row(4, "Quality", "Quality", harmonised=("veracity",)),
    ]
    (found,) = score_results(rows, LABELS, how=QUICK).scores
    tally = found.tally
    assert (tally.failed, tally.refused, tally.unreadable, tally.unknown_labels) == (1, 1, 1, 1)
    assert (tally.read, tally.harmonised, found.n) == (1, 1, 4)


def test_repetitions_are_not_scored_but_tell_how_often_answers_flip():
    rows = [
        row(0, "Quality", "Quality"), row(1, "Quality", "None"),
        row(0, "Quality", "None", repeat=1), row(1, "Quality", "None", repeat=1),
    ]  # fmt: skip
    found = score_results(rows, LABELS, how=QUICK)
    assert [score.n for score in found.scores] == [2]
    (flips,) = found.flips
    assert (flips.items, flips.times, flips.flipped.value) == (2, 2, 0.5)


def test_draws_of_examples_are_scored_together_with_their_spread():
    rows = [
        row(0, "Quality", said, draw=i, mode="icl") for i, said in enumerate(["Quality", "None"])
    ]
    found = score_results(rows, LABELS, how=QUICK)
    assert [draw.accuracy for draw in found.scores[0].draws] == [1.0, 0.0]
    assert found.flips == ()


def test_what_was_drawn_evenly_stands_there_as_drawn_and_weighted_back():
    rows = [
        row(0, "Quality", "Quality"), row(1, "Quality", "Quality"),
        row(2, "Manner", "None"), row(3, "Manner", "None"),
    ]  # fmt: skip
    drawn = DrawnEvenly(n=4, dimension="veracity", seed=1, shares={"Quality": 0.9, "Manner": 0.1})
    found = score_results(rows, LABELS, drawn=drawn, how=QUICK).scores
    assert [(s.weighting, s.accuracy.value, s.drawn_over) for s in found] == [
        ("balanced", 0.5, "veracity"),
        ("reweighted", pytest.approx(0.9), "veracity"),
    ]


def test_items_of_each_task_are_weighted_back_to_the_shares_of_that_task():
    said = {"utterance": ("Quality", "Manner", "None"), "talk": ("Quality", "None", "None")}
    right = ("Quality", "Manner", "Manner")
    rows = [
        row(f"{number}/{task}", label, answer, task=task)
        for task, answers in said.items()
        for number, (label, answer) in enumerate(zip(right, answers, strict=True))
    ]
    drawn = DrawnEvenly(
        n=3, dimension="veracity", seed=1, shares={"Quality": 0.5, "Manner": 0.5},
        by_task={"talk": {"Quality": 0.2, "Manner": 0.8}},
    )  # fmt: skip
    found = score_results(rows, LABELS, drawn=drawn, how=QUICK).scores
    assert {s.task: s.accuracy.value for s in found if s.weighting == "reweighted"} == {
        "utterance": pytest.approx(0.75),
        "talk": pytest.approx(0.2),
    }


def test_a_task_with_few_of_a_class_leaves_the_weights_of_others_alone():
    alone = [row(0, "Quality", "Quality"), row(1, "Manner", "None")]
    more = [row(f"{number}/talk", "Quality", "Quality", task="talk") for number in range(6)]
    drawn = DrawnEvenly(n=6, dimension="veracity", seed=1, shares={"Quality": 0.5, "Manner": 0.5})
    found = [
        next(s for s in score_results(rows, LABELS, drawn=drawn, how=QUICK).scores
             if s.weighting == "reweighted" and s.task == "hipo-utterance")
        for rows in (alone, [*alone, *more])
    ]  # fmt: skip
    assert [score.accuracy.value for score in found] == [pytest.approx(0.5)] * 2


def test_rows_that_do_not_tell_the_class_are_not_weighted_back():
    drawn = DrawnEvenly(n=1, dimension="goal", seed=1, shares={"deception": 1.0})
    rows = [row(0, "Quality", "Quality", references={"declared": {"veracity": "Quality"}})]
    found = score_results(rows, LABELS, drawn=drawn, how=QUICK).scores
    assert [score.weighting for score in found] == ["balanced"]


def swap_row(number, shown, said, references):
    return row(
        0, "", said, item=f"c/a/{number}/{shown}", task="hipo-swap", references=references
    )  # fmt: skip


def test_swap_items_are_scored_by_own_other_and_no_fact_and_as_one_table():
    rows = [
        swap_row(1, "own", "Quality", {"swap": {"veracity": "Quality"}}),
        swap_row(1, "other/f", "None", {"swap": {"veracity": "not Quality"}}),
        swap_row(1, "none", "Quality", {}),
        swap_row(2, "own", "Quality", {}),  # nobody wrote down what it claims
    ]
    found = score_results(rows, LABELS, how=QUICK)
    (swap,) = found.swaps
    assert (swap.n_own, swap.n_other, swap.both.value) == (1, 1, 1.0)
    assert swap.named_without_fact.value == 1.0
    (table,) = found.scores
    assert (table.reference, table.labels, table.accuracy.value) == (
        "swap", ("Quality", "not Quality"), 1.0,
    )  # fmt: skip


def test_no_rows_give_no_scores():
    assert score_results([], LABELS) == EvaluationScores()


def test_answers_that_nobody_has_asked_for_yet_are_told_of_the_model_that_lacks_them():
    rows = [
        row(i, "Quality", "Quality", model=m)
        for m, n in (("m/all", 12), ("m/few", 3))
        for i in range(n)
    ]
    rows += [row(0, "Quality", "Manner", model="m/few", repeat=1)]
    found = score_results(
        rows,
        {"veracity": LABELS["veracity"]},
        planned={("hipo-utterance", "zero-shot"): 12},
        how=QUICK,
    )
    whole, part = found.scores
    assert (whole.tally.unasked, part.tally.unasked, part.n) == (0, 9, 3)
    assert not any("asked for yet" in text for text in whole.remarks)
    assert part.remarks[0] == (
        "9 answers of the task have not been asked for yet: the figures are of the others alone, which"
        " are no random part of the items"
    )


def test_answers_that_were_cut_off_are_wrong_and_told_apart():
    cut = {"labels": {"veracity": None}, "faults": {"veracity": "cut off"}, "status": "unreadable"}
    rows = [row(0, "Quality", "Quality"), row(1, "Quality", None, **cut)]
    (score,) = score_results(rows, {"veracity": LABELS["veracity"]}, how=QUICK).scores
    assert (score.accuracy.value, score.tally.unreadable, score.tally.cut_off) == (0.5, 1, 1)
    assert score.remarks[0] == (
        "1 of 2 answers were cut off before this label (--max-tokens), which counts as wrong"
    )
