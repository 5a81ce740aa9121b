"""A rationale has to be a reason: copies of labels, lines and scenes are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quality.gates.rationale_copied import RationaleCopied
from tests.quality.gates.conftest import CAR, FACT, OPENING

TEXT = "A garage did. You will find the bill in the glovebox."
ASKED = "Who painted the wing?"


def flags(stage, labelled, why, *, scenario=CAR):
    tactic = labelled(why, intention="Inform", veracity="Quantity")
    return RationaleCopied().check(stage.play(ASKED, TEXT, labels=(tactic,), scenario=scenario))


@pytest.mark.parametrize(
    ("why", "source"),
    [
        ("Quantity.", "a label of veracity"),
        ("CONVINCE", "a label of intention"),
        ("deception", "a label of goal"),
        (TEXT, "the utterance itself"),
        ("a GARAGE did - you will find the bill in the glovebox!", "the utterance itself"),
        (ASKED, "what was said in turn 2"),
        (OPENING[1], "what was said in turn 1"),
        (CAR.background.split(". ")[0], "a line of the situation"),
        (CAR.roles["initiator"].description, "the description of a role"),
        (CAR.roles["responder"].aim, "the aim of a role"),
        (FACT, "a private fact"),
    ],
)
def test_a_copy_is_told_with_where_it_is_from(stage, labelled, why, source):
    [flag] = flags(stage, labelled, why)
    assert (flag.code, flag.turn, flag.severity) == ("rationale_copied", 3, None)
    assert flag.reason.startswith(f"the rationale of intention is {source}: ")


@pytest.mark.parametrize(
    "why",
    [
        "",
        "?!",
        "It names the bill, which answers half of the question: Quantity.",
        'The words "a garage did" leave out which one.',
        "A garage did.",
    ],
)
def test_a_reason_of_its_own_is_none(stage, labelled, why):
    assert flags(stage, labelled, why) == []


def test_what_is_said_later_is_no_source(stage, labelled):
    subject = stage.play(
        ASKED,
        TEXT,
        "Which garage?",
        "Hill's.",
        labels=tuple(labelled(why, veracity="None") for why in ("Which garage?", "It is short.")),
    )
    assert RationaleCopied().check(subject) == []


def test_imported_dialogues_have_no_scene_to_copy_from(stage, labelled):
    assert flags(stage, labelled, FACT, scenario=None) == []
    [flag] = flags(stage, labelled, TEXT, scenario=None)
    assert "the utterance itself" in flag.reason


def test_an_answer_is_flagged_once_whatever_else_is_copied(stage, labelled):
    tactic = tuple(
        replace(label, rationale=TEXT)
        for label in labelled("", intention="Inform", veracity="Quantity")
    )
    [flag] = RationaleCopied().check(stage.play(ASKED, TEXT, labels=(tactic,)))
    assert "of intention" in flag.reason
