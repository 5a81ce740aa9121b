"""The log outlives a kill, forgets what is done again, and is drawn."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outputs.plots.curves import Curve, curve_chart, power_ticks, round_ticks
from outputs.training.log import TrainingLog
from outputs.training.summary import LossFigures, training_loss, validation_loss
from tests.outputs.test_plots import SVG, check

numbers = st.floats(-1e6, 1e6)


def test_what_was_logged_after_the_checkpoint_is_forgotten(tmp_path):
    log = TrainingLog(tmp_path)
    for step in range(1, 6):
        log.add(step, {"loss": 10.0 - step, "eval_runtime": 3.0})
    log.begin_again(3)
    assert log.rows() == [{"step": n, "loss": 10.0 - n} for n in (1, 2, 3)]
    log.begin_again(0)
    assert log.rows() == []


def test_a_line_that_a_kill_cut_short_is_no_row(tmp_path):
    log = TrainingLog(tmp_path)
    log.add(1, {"loss": 2.0})
    with log.path.open("ab") as file:
        file.write(b'{"step":2,"lo')
    assert log.rows() == [{"step": 1, "loss": 2.0}]
    log.begin_again(1)
    log.add(2, {"loss": 1.0})
    assert [row["step"] for row in log.rows()] == [1, 2]


def test_the_first_and_the_last_tenth_of_the_steps_are_compared():
    rows = [{"step": n, "loss": float(n)} for n in range(1, 21)]
    assert training_loss(rows) == LossFigures(first=1.5, last=19.5)
    assert training_loss([]) == LossFigures()
    held_out = [{"step": 0, "eval_loss": 3.0}, *rows, {"step": 20, "eval_loss": 2.0}]
    assert validation_loss(held_out) == LossFigures(first=3.0, last=2.0)
    assert validation_loss(rows) == LossFigures()
    assert validation_loss(held_out[1:]) == LossFigures(first=None, last=2.0)


def test_a_loss_that_is_no_number_ends_in_a_row_without_it(tmp_path):
    log = TrainingLog(tmp_path)
    assert log.add(1, {"loss": float("nan"), "learning_rate": 0.1}) == {
        "step": 1,
        "learning_rate": 0.1,
    }


def test_the_curve_is_a_sound_drawing_with_both_losses(tmp_path):
    log = TrainingLog(tmp_path)
    log.add(0, {"eval_loss": 4.0})
    for step in range(1, 31):
        log.add(step, {"loss": 4.0 / step})
    log.add(30, {"eval_loss": 1.0})
    svg = log.draw().read_text()
    root = check(svg[: svg.index("<style>")] + svg[svg.index("</style>") + 8 :])
    said = [element.text for element in root.iter(f"{SVG}text")]
    assert {"training", "validation", "step"} <= set(said)
    assert len(list(root.iter(f"{SVG}circle"))) == 2


@given(st.lists(numbers, min_size=1, max_size=20))
def test_ticks_are_few_even_and_around_all_values(values):
    ticks = round_ticks(values)
    slack = 1e-6 * max(1.0, ticks[-1] - ticks[0])
    assert ticks[0] <= min(values) + slack
    assert max(values) <= ticks[-1] + slack
    assert 2 <= len(ticks) <= 9
    steps = [b - a for a, b in pairwise(ticks)]
    assert min(steps) > 0
    assert max(steps) == pytest.approx(min(steps), rel=1e-3)


@given(st.lists(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9), max_size=4))
def test_any_curves_make_a_sound_drawing(points):
    curves = [Curve(f"line {i}", tuple(sorted(some))) for i, some in enumerate(points)]
    check(curve_chart(curves, label="l", axis="x"))


above_zero = st.floats(1e-6, 1e9)


@given(st.lists(above_zero, min_size=1, max_size=20))
def test_ticks_by_powers_are_four_times_each_other_and_around_all_values(values):
    ticks = power_ticks(values)
    assert ticks[0] <= min(values) * (1 + 1e-6)
    assert max(values) <= ticks[-1] * (1 + 1e-6)
    assert all(b == 4 * a for a, b in pairwise(ticks))
    assert len(ticks) >= 2


@given(st.lists(st.tuples(above_zero, above_zero), min_size=1, max_size=9))
def test_curves_by_powers_make_a_sound_drawing(points):
    check(curve_chart([Curve("line", tuple(sorted(points)))], label="l", axis="x", by_powers=True))


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_what_is_not_above_zero_is_not_drawn_by_powers(value):
    with pytest.raises(ValueError, match="above 0"):
        curve_chart([Curve("a", ((1.0, value),))], label="l", axis="x", by_powers=True)


def test_what_is_not_finite_is_not_drawn():
    with pytest.raises(ValueError, match="not finite"):
        curve_chart([Curve("a", ((0, float("nan")),))], label="l", axis="x")
