"""Questions are checked against the rules they are drawn by, other people's and our own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.tasks.items import SceneView, TaskItem
from prompts.tasks.option_order import chosen_options
from prompts.tasks.registry import load_task
from quality.persuasion.question_check import OptionQuestion, broken, rules_of
from scenarios.schemes.registry import load_scheme

SCHEME = load_scheme("face_acts")
INTENTION = SCHEME.dimension("intention")
OPTIONS = load_task("face-acts-intention", SCHEME).options["intention"]
SCENE = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
GOOD = OptionQuestion(
    "q",
    "persuadee",
    ("No", "Yes", "A question", "Sorry"),
    ("refuses_flatly", "is_willing", "praises_persuader", "apologises_for_little"),
    right=0,
    label="refuses_flatly",
    face_act="sneg+",
)


def rules(question):
    return [found.rule for found in broken(INTENTION, OPTIONS, [question])]


def with_option(place, label, text="Other"):
    labels, options = list(GOOD.labels), list(GOOD.options)
    labels[place], options[place] = label, text
    return replace(GOOD, labels=tuple(labels), options=tuple(options))


def test_a_question_that_keeps_all_rules_has_no_finding():
    assert rules(GOOD) == []


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        (with_option(1, "makes_request"), "same role"),
        (with_option(1, "hesitates"), "other face_act"),
        (with_option(1, "doubts_them"), "group"),
        (with_option(1, "praises_persuader"), "duplicate"),
        (with_option(1, None, "a  QUESTION"), "duplicate"),
        (with_option(1, None), "unknown option"),
        (replace(GOOD, label="hesitates"), "right option"),
        (replace(GOOD, face_act="hpos+"), "right label"),
        (replace(GOOD, role="persuader"), "right label"),
    ],
)
def test_each_broken_rule_is_found(question, rule):
    assert rule in rules(question)
    assert rule in rules_of(OPTIONS)


@given(st.sampled_from(INTENTION.labels), st.text(max_size=8))
def test_what_is_drawn_keeps_every_rule_and_the_right_label_is_there(label, item_id):
    right = label.id
    listed = chosen_options(
        INTENTION, OPTIONS, TaskItem(item_id, SCENE, (), right={"intention": right})
    )
    (role,), (face_act,) = label.applies["role"], label.applies["face_act"]
    question = OptionQuestion(item_id, role, listed, listed, listed.index(right), right, face_act)
    assert len(listed) == 4
    assert rules(question) == []
