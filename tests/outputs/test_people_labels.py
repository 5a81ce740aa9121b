"""Labels of people: beside what speakers declared, in place of nothing, and not where they are split."""

from dataclasses import replace

from outputs.selecting.people_labels import ALONE, SPLIT, with_people_labels
from pipeline.store.queries.turns import _corrected
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.registry import load_scheme

SCHEME = load_scheme("face_acts")
SAID = Turn(0, "persuader", "Do give.", "improvised", labelled=True)
DECLARED = replace(SAID, tactic=(TacticLabel("face_act", "hneg-", "It asks."),))


def labelled(turn, **given):
    found = with_people_labels(SCHEME, Dialogue(None, "arm", (turn,)), {0: given})
    return {x.dimension: x.value for x in found.dialogue.turns[0].tactic}, found


def test_a_run_of_turns_that_nobody_declares_is_labelled_beside_what_is_declared():
    labels, found = labelled(DECLARED, intention=("asks", "asks", "begs"))
    assert labels == {"face_act": "hneg-", "intention": "asks"}
    assert found.turns == frozenset(), "its speaker still declared the rest"


def test_ties_give_no_label_and_one_person_gives_one_that_is_counted():
    labels, found = labelled(SAID, face_act=("hneg-", "spos+"), intention=("asks",))
    assert labels == {"intention": "asks"}
    assert found.turns == {0}
    assert found.remarks == {SPLIT: 1, ALONE: 1}


def test_what_an_expert_says_of_a_run_of_turns_stands_beside_declared_labels():
    decided = {"intention": "asks", "outcome": "gives"}
    corrected = _corrected(DECLARED.tactic, decided, ("intention",))
    assert [(x.dimension, x.value) for x in corrected] == [
        ("face_act", "hneg-"),
        ("intention", "asks"),
    ]
    assert corrected[0].rationale == "It asks.", "which the expert did not replace"
