"""Accuracy by speaker and face act, and the share of an option chosen against that of it right."""

from __future__ import annotations

import pytest

from quality.persuasion.intention_figures import (
    BOTH,
    AnsweredQuestion,
    accuracy_table,
    option_shares,
)

ANSWERS = [
    AnsweredQuestion("persuader", "hneg-", 4, 3, 3),
    AnsweredQuestion("persuader", "hneg-", 4, 0, 3),
    AnsweredQuestion("persuader", "spos+", 4, 1, None),
    AnsweredQuestion("persuadee", "hneg-", 4, 2, 2),
]


def test_each_cell_counts_its_own_questions_and_an_unread_answer_is_wrong():
    cells = {
        (cell.role, cell.face_act): (cell.right, cell.questions)
        for cell in accuracy_table(ANSWERS, ["persuader", "persuadee"], ["spos+", "hneg-", "sneg+"])
    }
    assert cells["persuader", "hneg-"] == (1, 2)
    assert cells["persuader", "spos+"] == (0, 1)
    assert cells["persuader", BOTH] == (1, 3)
    assert cells[BOTH, "hneg-"] == (2, 3)
    assert cells[BOTH, BOTH] == (2, 4)
    assert cells["persuadee", "sneg+"] == (0, 0)


def test_a_cell_without_questions_has_no_accuracy():
    (cell,) = [c for c in accuracy_table([], [], []) if c.role == c.face_act == BOTH]
    assert cell.accuracy is None


def test_an_option_that_is_preferred_is_chosen_more_often_than_it_is_right():
    shares = option_shares(ANSWERS)
    assert [share.references for share in shares] == [0.25] * 4
    assert shares[3].answers == pytest.approx(2 / 3)
    assert shares[0].answers == 0.0
    assert option_shares([]) == ()
