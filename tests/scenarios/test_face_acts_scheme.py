"""The scheme ``face_acts``: which intentions there are, for whom, and what excludes what."""

from __future__ import annotations

from collections import Counter

import pytest

from scenarios.schemes.dimension import Label
from scenarios.schemes.registry import load_scheme

SCHEME = load_scheme("face_acts")
INTENTION = SCHEME.dimension("intention")
BY_PLACE = {
    ("persuader", "spos+"): 8, ("persuader", "hpos+"): 6, ("persuader", "hpos-"): 1,
    ("persuader", "hneg+"): 3, ("persuader", "hneg-"): 4, ("persuadee", "spos+"): 5,
    ("persuadee", "spos-"): 1, ("persuadee", "hpos+"): 6, ("persuadee", "hpos-"): 2,
    ("persuadee", "sneg+"): 3, ("persuadee", "hneg-"): 3,
}  # fmt: skip


def test_there_are_42_intentions_each_of_one_speaker_and_one_face_act():
    places = Counter(
        (*label.applies["role"], *label.applies["face_act"]) for label in INTENTION.labels
    )
    assert len(INTENTION.labels) == 42
    assert places == BY_PLACE


def test_a_question_after_an_answer_asks_and_leaves_no_question_without_one():
    told = [text for text in SCHEME.conventions if "answers first" in text]
    assert len(told) == 1
    face_act = SCHEME.dimension("face_act")
    asking = {line.text: line.label for line in face_act.contrast if line.text.count("?") == 2}
    assert set(asking.values()) == {"hneg-"}
    (asks,) = (label for label in face_act.labels if label.id == "hneg-")
    assert "answer" in asks.definition


def test_the_choices_of_a_turn_are_those_of_its_speaker_and_face_act():
    chosen = INTENTION.choices("persuadee", {"face_act": "sneg+"})
    assert [label.id for label in chosen] == ["hesitates", "refuses_flatly", "gives_reason_against"]
    assert INTENTION.choices("persuader", {"face_act": "sneg+"}) == ()


@pytest.mark.parametrize(
    ("role", "face_act", "asked"),
    [
        ("persuader", "spos+", True), ("persuader", "spos-", False), ("persuader", "sneg+", False),
        ("persuader", "other", False), ("persuadee", "spos-", True), ("persuadee", "sneg+", True),
        ("persuadee", "hneg+", False),
    ],
)  # fmt: skip
def test_the_intention_is_asked_only_where_the_speaker_can_have_one(role, face_act, asked):
    limited = INTENTION.limited_to(role)
    assert limited.is_asked({"face_act": face_act}) is asked
    assert (face_act in limited.when["face_act"]) is asked
    assert INTENTION.is_asked({"face_act": face_act, "role": role}) is asked


def test_five_groups_exclude_each_other_and_some_intentions_are_in_two():
    groups = Counter(group for label in INTENTION.labels for group in label.group)
    assert groups == {
        "urging": 6, "declining": 8, "favouring": 2, "returning": 2, "unfamiliar": 2,
    }  # fmt: skip
    twice = {label.id for label in INTENTION.labels if len(label.group) == 2}
    assert twice == {"persuadee_names_favourite", "is_willing", "asks_about_organisation"}


def test_every_option_names_its_speaker_and_no_two_read_alike():
    names = {"organisation": "the Lake Rescue", "request": "lend the boat"}
    texts = [label.worded(names) for label in INTENTION.labels]
    for label, text in zip(INTENTION.labels, texts, strict=True):
        assert text.startswith(f"The {label.applies['role'][0]} ")
        assert "{" not in text
    assert len(set(texts)) == 42


@pytest.mark.parametrize(
    ("option", "names", "text"),
    [
        ("Asks to {request}.", {"request": "pay"}, "Asks to pay."),
        ("Asks to {request}.", {}, "It asks."),
        ("", {"request": "pay"}, "It asks."),
    ],
)
def test_an_option_with_a_name_that_is_not_known_reads_as_its_definition(option, names, text):
    assert Label(id="asks", definition="It asks.", option=option).worded(names) == text
