import pytest

from quality.strategic.comparison import likeness
from quality.strategic.discourses import AnswerLabel, discourses
from quality.strategic.distributions import distribution
from quality.strategic.formula import Formula
from quality.strategic.shared_reasons import SharedReasons, shared_reasons


def labels(annotator, commitments, dialogue="trial", **others):
    for turn, commitment in enumerate(commitments):
        yield AnswerLabel(dialogue, turn, annotator, "commitment", commitment)
        for dimension, values in others.items():
            yield AnswerLabel(dialogue, turn, annotator, dimension, values[turn])


def found(*sources):
    return discourses([label for source in sources for label in source], Formula())


def figure(rows, quantity, statistic=None):
    return next(
        row for row in rows if row.quantity == quantity and statistic in (None, row.statistic)
    )


BDN = ["beneficial", "detrimental", "none"]


def test_annotators_who_say_the_same_agree_wholly():
    rated = {m: ["1", "3", "4"] for m in ("relevance", "manner", "quality")}
    rated |= {"inconsistent": ["no", "yes", "no"]}
    rated |= {"outcome": ["witness", "questioner", "questioner"], "reasons": [("logic",)] * 3}
    rows = likeness(found(labels("A", BDN, **rated), labels("B", BDN, **rated)), None, threshold=3)
    assert {(row.quantity, row.statistic): row.value for row in rows} == {
        (row.quantity, row.statistic): pytest.approx(1) for row in rows
    }
    assert len(rows) == 12


def test_a_model_is_compared_with_each_person_and_people_not_among_themselves():
    people = found(labels("A", BDN), labels("B", BDN))
    model = found(labels("juror", ["beneficial", "none", "detrimental"]))
    row = figure(likeness(people, model, threshold=3), "commitment")
    assert [(pair.first, pair.second) for pair in row.pairs] == [("A", "juror"), ("B", "juror")]
    assert row.value == pytest.approx(0)


def test_the_rate_of_true_positives_takes_each_of_two_people_as_the_reference_in_turn():
    first = labels("A", BDN, inconsistent=["yes", "yes", "no"])
    second = labels("B", BDN, inconsistent=["yes", "no", "no"])
    row = figure(likeness(found(first, second), None, threshold=3), "inconsistent")
    assert {(p.first, p.second): p.value for p in row.pairs} == {("A", "B"): 0.5, ("B", "A"): 1.0}
    assert row.value == 0.75


def test_nobody_inconsistent_is_no_rate_and_not_zero():
    same = {"inconsistent": ["no"] * 3}
    rows = likeness(found(labels("A", BDN, **same), labels("B", BDN, **same)), None, threshold=3)
    assert figure(rows, "inconsistent").value is None


def test_reasons_are_compared_where_the_outcome_is_the_same():
    first = labels(
        "A",
        BDN,
        outcome=["witness", "witness", "questioner"],
        reasons=[("logic",), ("logic", "emotion"), ("logic",)],
    )
    second = labels(
        "B",
        BDN,
        outcome=["witness", "witness", "witness"],
        reasons=[("logic",), ("logic",), ("emotion",)],
    )
    rows = likeness(found(first, second), None, threshold=3)
    assert figure(rows, "reasons", "Jaccard, same outcome").value == pytest.approx(0.75)
    assert figure(rows, "reasons", "identical, same outcome").value == pytest.approx(0.5)


WQ = ["witness", "witness", "questioner", "questioner"]


def decided(annotator, outcome, reasons=(("logic",),) * 4):
    return labels(annotator, ["none"] * 4, outcome=outcome, reasons=list(reasons))


def test_the_outcomes_of_a_model_have_the_area_under_the_curve_beside_those_of_people():
    people = found(decided("A", WQ), decided("B", ["witness"] * 4))
    model = found(decided("juror", ["witness", "questioner", "questioner", "questioner"]))
    row = figure(likeness(people, model, threshold=3), "outcome", "AUC")
    assert [(p.first, p.second, p.value) for p in row.pairs] == [
        ("A", "juror", 0.75),
        ("B", "juror", None),  # B never saw the questioner win
    ]
    among_people = likeness(people, None, threshold=3)
    assert "AUC" not in {row.statistic for row in among_people}


def test_reasons_of_all_are_compared_where_all_decide_alike():
    first = decided("A", WQ, [("logic",), ("logic", "emotion"), ("logic",), ("logic",)])
    second = decided("B", WQ, [("logic",), ("logic",), ("emotion",), ("logic",)])
    third = decided("C", [*WQ[:3], "witness"], [("logic",), ("emotion",), ("emotion",), ("logic",)])
    rows = found(first, second, third)
    assert shared_reasons(rows) == SharedReasons(
        decided=4, alike=3, jaccard=pytest.approx(1 / 3), identical=pytest.approx(1 / 3)
    )
    assert shared_reasons(rows[:2]) is None
    nobody = found(
        *(decided(name, [side] * 4) for name, side in zip("ABC", [*WQ[1:]], strict=True))
    )
    assert shared_reasons(nobody) == SharedReasons(4, 0, None, None)


def test_answers_are_joined_by_dialogue_and_turn_and_not_by_place():
    late = [
        AnswerLabel("trial", turn, "B", "commitment", label)
        for turn, label in ((2, "none"), (1, "detrimental"))
    ]
    row = figure(likeness(found(labels("A", BDN), late), None, threshold=3), "commitment")
    assert row.pairs[0].answers == 2
    assert row.value == 1


def test_discourses_of_two_dialogues_are_normalised_apart():
    one, other = found(labels("A", BDN), labels("A", ["beneficial"] * 3, dialogue="other"))
    assert [answer.metrics.bat_sum for answer in other.answers] == [1, 2, 3]
    assert (one.dialogue, other.dialogue) == ("trial", "other")


def test_a_distribution_counts_what_one_annotator_said():
    (discourse,) = found(
        labels(
            "A", [*BDN, None], manner=["1", "3", "4", "2"], outcome=["witness", None, None, None]
        )
    )
    counted = distribution(discourse, 3)
    assert counted.commitments == {"beneficial": 1, "detrimental": 1, "neutral": 0, "none": 1}
    assert counted.ratings["manner"] == {1: 1, 2: 1, 3: 1, 4: 1}
    assert counted.violations == {"relevance": None, "manner": 0.5, "quality": None}
    assert (counted.answers, counted.won) == (4, 1.0)
    assert counted.bat.mean == 0.5
