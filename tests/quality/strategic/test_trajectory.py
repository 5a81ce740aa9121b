import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.strategic.formula import Formula, Weights, formula_from
from quality.strategic.moves import Move, read_move
from quality.strategic.trajectory import VALUES, trajectory
from scenarios.errors import UsageError

PLAIN = Move("neutral", 1, 1, 1, inconsistent=False, winner="witness", reasons=frozenset())
PRINTED, RELEASED = Formula(), Formula(variant="as_released")

moves = st.builds(
    Move,
    st.sampled_from(sorted(VALUES)),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(["witness", "questioner"]),
)


def bats(*answers, formula=PRINTED):
    return [metrics.bat for metrics in trajectory(answers, formula)]


def pats(*answers, formula=PRINTED):
    return [metrics.pat for metrics in trajectory(answers, formula)]


def test_the_worked_example_of_the_paper_adds_up_as_printed():
    """Figure 3: plain benefit, unclear admission, unclear neutral answer, evasion."""
    snippet = [
        replace(PLAIN, commitment="beneficial"),
        replace(PLAIN, commitment="detrimental", manner=3),
        replace(PLAIN, manner=3),
        replace(PLAIN, commitment="none", relevance=3, manner=4),
    ]
    found = trajectory(snippet, PRINTED)
    assert [s.bat_sum for s in found] == pytest.approx([1, 1.4, 1.9, 1.9])
    assert [s.pat_sum for s in found] == pytest.approx([0, 1, 1.2, 1.7])


def test_an_inconsistent_answer_puts_a_share_of_all_benefit_so_far_at_risk():
    said = [replace(PLAIN, commitment="beneficial")] * 2
    said.append(replace(PLAIN, commitment="beneficial", inconsistent=True))
    assert pats(*said) == pytest.approx([0, 0, 0.2 * 3])
    assert pats(*said, formula=RELEASED) == [0, 0, 0]


def test_doubtful_truth_compensates_an_admission_as_printed_and_not_as_released():
    admission = replace(PLAIN, commitment="detrimental", manner=4, quality=3)
    assert bats(admission) == pytest.approx([0.6])
    assert bats(admission, formula=RELEASED) == pytest.approx([0.4])


@given(st.lists(moves, min_size=1, max_size=30), st.sampled_from([PRINTED, RELEASED]))
def test_equals_the_equations_written_out(answers, formula):
    worth = np.array([VALUES[move.commitment] for move in answers])
    rated = np.array([[m.relevance, m.manner, m.quality] for m in answers]) >= 3
    full = rated @ [0.4, 0.4, 0.2]
    compensated = rated @ ([0.4, 0.4, 0.2] if formula is PRINTED else [0.4, 0.4, 0])
    bat = np.where(worth > 0, worth, np.where(worth == -1, compensated, 0))
    pat = np.where(worth < 0, -worth, worth * full)
    if formula is PRINTED:
        pat = pat + 0.2 * np.array([m.inconsistent for m in answers]) * bat.cumsum()

    def z(x):
        sums = x.cumsum()
        return (sums - sums.mean()) / sums.std() if sums.std() > 1e-9 else 0 * sums

    found = trajectory(answers, formula)
    assert [s.bat for s in found] == pytest.approx(bat)
    assert [s.pat for s in found] == pytest.approx(pat)
    assert [s.nrbat for s in found] == pytest.approx(z(bat) - z(pat), abs=1e-6)
    wins = np.array([1 if m.winner == "witness" else -1 for m in answers])
    assert [s.nra for s in found] == pytest.approx(wins.cumsum() / np.arange(1, len(wins) + 1))


@given(st.lists(moves, min_size=2, max_size=20), st.data())
def test_a_missing_label_leaves_every_other_answer_its_benefit_and_penalty(answers, data):
    gone = data.draw(st.integers(0, len(answers) - 1))
    formula = RELEASED  # as printed, a later inconsistency depends on what came before
    before = trajectory(answers, formula)
    answers[gone] = replace(answers[gone], commitment=None)
    after = trajectory(answers, formula)
    assert (after[gone].bat, after[gone].pat, after[gone].nrbat) == (None, None, None)
    kept = [i for i in range(len(answers)) if i != gone]
    assert [(after[i].bat, after[i].pat) for i in kept] == [
        (before[i].bat, before[i].pat) for i in kept
    ]
    assert all(math.isfinite(after[i].nrbat) for i in kept)


def test_only_the_labels_that_an_answer_needs_must_be_there():
    bare = Move(commitment="none", inconsistent=False)
    assert (bats(bare), pats(bare)) == ([0], [0.5])
    assert (bats(Move("beneficial")), pats(Move("beneficial"))) == ([1], [None])
    assert pats(Move("none")) == [None]
    assert pats(Move("none"), formula=RELEASED) == [0.5]


def test_an_undecided_answer_counts_for_neither_side():
    said = [PLAIN, replace(PLAIN, winner=None), replace(PLAIN, winner="questioner")]
    assert [s.nra for s in trajectory(said, PRINTED)] == [1, None, 0]


def test_weights_and_threshold_are_the_users_to_choose():
    formula = formula_from({"weights": {"manner": 1, "consistency": 0}, "threshold": 2})
    assert formula.weights == Weights(manner=1.0, consistency=0.0)
    assert pats(replace(PLAIN, manner=2, inconsistent=True), formula=formula) == [0.5]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"variant": "as_written"}, "no variant 'as_written'"),
        ({"threshold": 0}, "threshold 0 is no rating"),
        ({"threshold": "3"}, "threshold '3' is no rating"),
        ({"weights": {"manor": 1}}, "no weight 'manor'"),
        ({"weights": {"manner": -1}}, "weight manner is -1"),
        ({"weights": {"manner": math.nan}}, "weight manner is nan"),
        ({"weights": {"manner": "much"}}, "'much', no number"),
        ({"weights": 4}, "no mapping"),
        ({"wieghts": {}}, "no parameter 'wieghts'"),
    ],
)
def test_a_parameter_that_is_none_is_refused_by_name(parameters, message):
    with pytest.raises(UsageError, match=message):
        formula_from(parameters)


def test_a_label_of_another_scheme_is_refused_by_name():
    with pytest.raises(UsageError, match="'helpful' is no label of 'commitment'"):
        read_move({"commitment": "helpful"})


def test_what_was_not_labelled_is_not_known():
    assert read_move({"manner": "3", "reasons": ("logic",)}) == Move(
        manner=3, reasons=frozenset({"logic"})
    )
