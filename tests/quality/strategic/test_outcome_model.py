import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from quality.strategic.discourses import Discourse, LabelledAnswer
from quality.strategic.moves import Move
from quality.strategic.outcome_model import outcome_model, outcome_models, roc_area, roc_curve
from quality.strategic.trajectory import AnswerMetrics


def answer(bat, pat, winner, *reasons):
    move = Move(winner=winner, reasons=frozenset(reasons))
    return LabelledAnswer(0, move, AnswerMetrics(bat, pat, 0, 0, None, None))


def sampled(count=400, seed=0):
    """Answers that are won with the log-odds 0.5 + 2 BaT - PaT."""
    rng = np.random.default_rng(seed)
    bat, pat = rng.choice([0, 0.4, 0.5, 1], count), rng.choice([0, 0.4, 0.5, 1], count)
    won = rng.random(count) < 1 / (1 + np.exp(-(0.5 + 2 * bat - pat)))
    return [
        answer(b, p, "witness" if w else "questioner")
        for b, p, w in zip(bat, pat, won, strict=True)
    ]


def test_finds_the_odds_that_the_answers_were_drawn_with():
    model = outcome_model("all answers", sampled(4000))
    assert [c.beta for c in model.coefficients] == pytest.approx([0.5, 2, -1], abs=0.3)
    for term in model.coefficients:
        assert term.interval.low < term.odds_ratio < term.interval.high
        assert term.p < 0.001
    assert model.aic < model.null_aic
    assert 0 < model.tjur < 1
    assert model.auc_interval.low < model.auc < model.auc_interval.high
    assert model.note == ""


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        ([], "no answer has outcome"),
        ([answer(1, 0, "witness"), answer(0, 1, "witness")], "every answer went to the witness"),
        ([answer(1, 0, "witness"), answer(1, 1, "questioner")], "BaT is 1 for every answer"),
        (
            [answer(b, 1 - b, w) for b in (0, 0.5, 1) for w in ("witness", "questioner")],
            "go up and down together",
        ),
        (
            [
                answer(b, p, "witness" if b > 0.6 else "questioner")
                for b in (0, 0.5, 1)
                for p in (0, 0.5, 1)
            ],
            "separate won from lost",
        ),
    ],
)
def test_says_why_nothing_can_be_fitted(answers, note):
    model = outcome_model("all answers", answers)
    assert note in model.note
    assert (model.coefficients, model.auc, model.aic) == ((), None, None)


def test_answers_with_something_unknown_are_left_out_and_counted():
    whole = sampled(200)
    partial = [answer(None, 0, "witness"), answer(1, None, "witness"), answer(1, 0, None)]
    model = outcome_model("all answers", [*whole, *partial])
    assert (model.answers, model.left_out) == (200, 3)
    assert model.aic == outcome_model("all answers", whole).aic


def test_each_reason_has_a_model_of_its_own():
    answers = [
        answer(a.metrics.bat, a.metrics.pat, a.move.winner, *reasons)
        for a, reasons in zip(
            sampled(200), [("logic",), ("emotion",), ("emotion", "logic"), ()] * 50, strict=True
        )
    ]
    models = outcome_models([Discourse("trial", "A", tuple(answers))])
    assert [(m.condition, m.answers) for m in models] == [
        ("all answers", 200),
        ("reason emotion", 100),
        ("reason logic", 100),
    ]


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
)
def test_the_area_is_the_share_of_pairs_in_the_right_order(positive, negative):
    area, error = roc_area(np.array(positive, float), np.array(negative, float))
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    assert area == pytest.approx(sum(pairs) / len(pairs))
    assert (error is None) == (min(len(positive), len(negative)) < 2)
    assert error is None or error >= 0


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
)
def test_the_area_below_the_curve_is_the_area(positive, negative):
    scores = np.array(positive, float), np.array(negative, float)
    points = roc_curve(*scores)
    assert (points[0], points[-1]) == ((0, 0), (1, 1))
    xs, ys = zip(*points, strict=True)
    assert np.trapezoid(ys, xs) == pytest.approx(roc_area(*scores)[0])


def told_by(answers, *reasons):
    return [answer(a.metrics.bat, a.metrics.pat, a.move.winner, *reasons) for a in answers]


def test_answers_of_a_reason_are_compared_with_those_decided_without_it():
    """Where sides are drawn by lot, benefit and penalty tell nothing."""
    rng = np.random.default_rng(1)
    by_lot = [
        answer(a.metrics.bat, a.metrics.pat, str(rng.choice(["witness", "questioner"])))
        for a in sampled(400, seed=2)
    ]
    answers = [*told_by(sampled(400), "logic"), *told_by(by_lot, "emotion")]
    unexplained = by_lot  # without reasons, neither here nor there
    models = outcome_models([Discourse("trial", "A", (*answers, *unexplained))])
    whole, emotion, logic = models
    assert (whole.others_auc, whole.others_p) == (None, None)
    assert (logic.others_auc, emotion.others_auc) == (emotion.auc, logic.auc)
    z = (logic.auc - emotion.auc) / np.hypot(logic.auc_se, emotion.auc_se)
    assert logic.others_p == emotion.others_p == pytest.approx(2 * norm.sf(z))
    assert logic.others_p < 0.001
    assert logic.auc_interval.high - logic.auc == pytest.approx(1.96 * logic.auc_se, rel=1e-3)


def test_a_reason_that_everybody_gives_has_nothing_to_be_compared_with():
    models = outcome_models([Discourse("trial", "A", tuple(told_by(sampled(200), "logic")))])
    assert (models[1].others_auc, models[1].others_p) == (None, None)
