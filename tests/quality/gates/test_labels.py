"""Labels against the rules of their scheme, and against what was wanted; any scheme will do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quality.gates.label_contradiction import LabelContradiction
from quality.gates.unmet_requirement import UnmetRequirement
from quality.gates.wanted_tactic import WantedTactic
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme

TONES = Scheme.model_validate(
    {
        "id": "tones",
        "title": "Tones of voice",
        "assigned": "mood",
        "dimensions": [
            {"id": "mood", "level": "dialogue", "question": "Which?",
             "labels": [{"id": "calm", "definition": "x"}, {"id": "cross", "definition": "y"}]},
            {"id": "signs", "level": "utterance", "measurement": "multi", "question": "Which?",
             "labels": [{"id": "shout", "definition": "x"}, {"id": "smile", "definition": "y"}]},
            {"id": "volume", "level": "utterance", "measurement": "interval", "question": "?",
             "range": [0, 1]},
        ],
        "contradictions": [
            {"labels": {"mood": ["calm"], "signs": ["shout"]}, "reason": "The calm do not shout."},
            {"labels": {"signs": ["smile"], "mood": ["cross"]}, "reason": "The cross do not smile."},
        ],
        "requirements": [
            {"when": {"mood": ["cross"]}, "some_turn": {"signs": ["shout"]}, "reason": "They shout."}
        ],
    }
)  # fmt: skip


def test_truthful_non_disclosure_with_something_false_is_a_contradiction(stage, labelled):
    false = (labelled(veracity="Quality"),)
    [flag] = LabelContradiction().check(stage.answer("Never hit.", goal=stage.tnd, labels=false))
    assert flag.turn == 3
    assert "truthful non-disclosure with Quality" in flag.reason
    assert LabelContradiction().check(stage.answer("Never hit.", labels=false)) == []


def test_labels_that_go_together_pass(stage, labelled):
    part = (labelled(veracity="Quantity"),)
    assert LabelContradiction().check(stage.answer("Well.", goal=stage.tnd, labels=part)) == []


def test_an_act_that_nobody_has_the_standing_for_is_a_contradiction(stage, labelled):
    labels = (labelled(illocutionary="Declarations"),)
    subject = stage.answer("It is hereby sold.", labels=labels)
    sellers = stage.scenario.model_copy(update={"felicitous": ("Representatives", "Directives")})
    anybody = stage.scenario.model_copy(update={"felicitous": ()})
    [flag] = LabelContradiction().check(replace(subject, scenario=sellers))
    assert (flag.turn, flag.reason.partition(":")[0]) == (3, "Declarations")
    assert "standing" in flag.reason
    assert LabelContradiction().check(replace(subject, scenario=anybody)) == []
    assert LabelContradiction().check(replace(subject, scenario=None)) == []
    stated = stage.answer("It runs.", labels=(labelled(illocutionary="Representatives"),))
    assert LabelContradiction().check(replace(stated, scenario=sellers)) == []


def test_a_rule_holds_for_several_labels_at_once_in_any_scheme(stage, labelled):
    both = (labelled(signs=("shout", "smile"), volume=0.5),)
    calm = stage.answer("Hey!", scheme=TONES, goal="calm", labels=both)
    cross = stage.answer("Hey!", scheme=TONES, goal="cross", labels=both)
    [first], [second] = LabelContradiction().check(calm), LabelContradiction().check(cross)
    assert "calm do not shout" in first.reason
    assert "cross do not smile" in second.reason


def test_a_scheme_without_rules_raises_no_flag(stage, labelled):
    subject = stage.answer(
        "Lovely.", scheme=load_scheme("cei"), goal="sarcasm", labels=(labelled(emotion="joy"),)
    )
    assert LabelContradiction().check(subject) == []
    assert UnmetRequirement().check(subject) == []


def test_a_deception_in_which_nothing_false_is_said_is_flagged_as_a_whole(stage, labelled):
    said = ("Why?", "So.", "And then?", "So it was.")
    vague = labelled(veracity="Manner")
    [flag] = UnmetRequirement().check(stage.play(*said, labels=(vague, vague)))
    assert flag.turn is None
    assert "deceived only by something false" in flag.reason
    some = stage.play(*said, labels=(vague, labelled(veracity="Quality")))
    assert UnmetRequirement().check(some) == []


def test_a_fixed_line_that_the_fact_makes_false_is_the_lie_of_a_deception(stage, labelled):
    vague = (labelled(veracity="Manner"),)
    [opening] = stage.scenario.opening.by_goal[:1]
    lie = opening.statement_for("deception")
    subject = stage.answer("So it goes.", labels=vague)
    assert UnmetRequirement().check(subject)
    assert UnmetRequirement().check(stage.change(subject, 1, text=lie.text)) == []
    of_the_paper = stage.answer("So.", scheme=load_scheme("hipo@1"), labels=vague)
    assert UnmetRequirement().check(of_the_paper) == []


def test_the_requirement_of_another_goal_does_not_count(stage, labelled):
    honest = (labelled(veracity="None"),)
    assert UnmetRequirement().check(stage.answer("So.", goal=stage.tnd, labels=honest)) == []


def test_a_dialogue_without_labels_is_not_blamed_for_missing_some(stage):
    assert UnmetRequirement().check(stage.answer("So.")) == []


def test_several_labels_meet_a_requirement_if_one_does(stage, labelled):
    both = (labelled(signs=("smile", "shout")),)
    assert (
        UnmetRequirement().check(stage.answer("H!", scheme=TONES, goal="cross", labels=both)) == []
    )
    none = (labelled(signs=("smile",)),)
    assert UnmetRequirement().check(stage.answer("H!", scheme=TONES, goal="cross", labels=none))


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (("veracity", "Manner"), "veracity: wanted Manner, declared Quality"),
        (("intention", "Affect"), "intention: wanted Affect, declared nothing"),
    ],
)
def test_another_label_than_the_wanted_one_is_flagged(stage, labelled, wanted, reason):
    subject = stage.answer("Never hit.", labels=(labelled(veracity="Quality"),))
    [flag] = WantedTactic().check(stage.change(subject, 3, wanted=(wanted,)))
    assert (flag.turn, flag.reason) == (3, reason)


@pytest.mark.parametrize(
    ("value", "wanted"), [("Quality", "Quality"), (("a", "b"), "b | a"), (0.5, "0.50")]
)
def test_what_was_wanted_and_obtained_passes(stage, labelled, value, wanted):
    subject = stage.answer("Never hit.", labels=(labelled(veracity=value),))
    assert WantedTactic().check(stage.change(subject, 3, wanted=(("veracity", wanted),))) == []
