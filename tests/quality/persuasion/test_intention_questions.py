"""Questions out of dialogues: whose labels count, what is asked about, and with which options."""

from __future__ import annotations

import pytest

from prompts.tasks.registry import load_task
from quality.persuasion.intention_questions import intention_questions
from quality.persuasion.question_check import broken
from quality.persuasion.runs_of_turns import SpokenTurn
from quality.persuasion.settled_labels import settled_turns
from scenarios.annotations import Annotation, Subject
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.registry import load_scheme
from tests.factories import make_case

SCHEME = load_scheme("face_acts")
INTENTION = SCHEME.dimension("intention")
OPTIONS = load_task("face-acts-intention", SCHEME).options["intention"]
NAMES = {"organisation": "the Lake Rescue", "request": "lend the boat"}
TURNS = (
    SpokenTurn(0, "persuader", "We are short of a boat."),
    SpokenTurn(1, "persuader", "Lend us yours.", "makes_request"),
    SpokenTurn(2, "persuader", "Please.", "makes_request"),
    SpokenTurn(3, "persuadee", "No.", "refuses_flatly"),
)


def questions(dialogue="case/arm"):
    return list(intention_questions(dialogue, TURNS, INTENTION, OPTIONS, NAMES))


def test_a_question_is_about_a_run_and_shows_all_that_was_said_before_it():
    first, second = questions()
    assert (first.run.first, first.run.last, first.run.text) == (1, 2, "Lend us yours. Please.")
    assert first.context == (("persuader", "We are short of a boat."),)
    assert first.options[first.right] == "The persuader asks the persuadee to lend the boat."
    assert (first.face_act, second.face_act) == ("hneg-", "sneg+")
    assert len(second.context) == 3


def test_questions_keep_the_rules_that_other_peoples_are_checked_against():
    made = [question.checked for n in range(200) for question in questions(f"case{n}/arm")]
    assert list(broken(INTENTION, OPTIONS, made)) == []
    places = [question.right for question in made]
    assert all(places.count(place) > 70 for place in range(4))


def test_arms_that_say_the_same_get_the_same_options_in_the_same_order():
    first, second = (
        list(intention_questions(name, TURNS, INTENTION, OPTIONS, NAMES, drawn_by="case"))
        for name in ("case/a", "case/b")
    )
    assert [question.labels for question in first] == [question.labels for question in second]
    assert [question.id for question in first] == ["case/a/1-2", "case/a/3-3"]


def test_the_same_dialogue_gets_the_same_options_again():
    assert questions() == questions()
    assert questions() != questions("another/arm")


def said(kind, who, value, *, dimension="intention", turn=0):
    return Annotation(Subject("c", "a", turn), kind, who, dimension, value)


@pytest.mark.parametrize(
    ("given", "label", "source"),
    [
        ([], "hesitates", "declared"),
        ([("self", "m", "doubts_them")], "doubts_them", "judges"),
        ([("self", "m", "doubts_them"), ("external", "n", "is_willing")], None, None),
        ([("external", "n", None)], "hesitates", "declared"),
        ([("human", "x", "is_willing"), ("external", "n", "doubts_them")], "is_willing", "human"),
        ([("human", w, v) for w, v in zip("xyz", ("is_willing", "is_willing", "hesitates"), strict=True)],
         "is_willing", "human"),
        ([("human", w, v) for w, v in zip("xyz", ("is_willing", "doubts_them", "hesitates"), strict=True)],
         None, None),
        ([("human", "x", "is_willing"), ("adjudicated", "e", "refuses_flatly")],
         "refuses_flatly", "adjudicated"),
        ([("wanted", "design", "is_willing")], "hesitates", "declared"),
    ],
)  # fmt: skip
def test_people_count_before_judges_and_judges_before_the_speaker(given, label, source):
    tactic = (TacticLabel("face_act", "sneg+"), TacticLabel("intention", "hesitates"))
    turn = Turn(0, "persuadee", "Hm.", "improvised", tactic=tactic, labelled=True)
    dialogue = Dialogue(make_case(), "a", (turn,))
    (spoken,), sources = settled_turns(dialogue, [said(*one) for one in given])
    assert spoken.intention == label
    assert sources.get(0) == source
    assert spoken.face_act == "sneg+"
