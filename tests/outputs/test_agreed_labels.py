"""A label is agreed where its speaker and every judge who had not seen it say the same."""

from __future__ import annotations

import pytest

from outputs.rows.agreed_labels import AgreedLabels, blind_judges
from scenarios.schemes.registry import load_scheme
from scenarios.verdicts import Judgement
from tests.outputs.corpora import exportable_run, exported, rows_in

SCHEME = load_scheme("hipo")
LABELS = {"intention": "Inform", "veracity": "Quality", "goal": "deception"}


def said(judge, dimension, value, *, turn=3, source="external", carried=None):
    return Judgement("c", "a", turn, source, judge, dimension, value, carried)


def agreed(*judgements, turn=3, labels=LABELS):
    return AgreedLabels(SCHEME, judgements).of(turn, labels)


def test_every_blind_judge_has_to_give_the_label():
    both = [said(j, "intention", "Inform") for j in ("x", "y")]
    assert agreed(*both, said("x", "veracity", "Quality"), said("y", "veracity", "Manner")) == [
        "intention"
    ]


def test_a_judge_whose_answer_could_not_be_read_does_not_agree():
    unread = said("y", "intention", None)
    both = [said(judge, "veracity", "Quality") for judge in ("x", "y")]
    assert agreed(said("x", "intention", "Inform"), unread, *both) == ["veracity"]


def test_a_judge_has_no_say_on_what_it_does_not_judge():
    beside = said("rule", "coherence", "coherent")
    named = [said("x", "intention", "Inform"), said("x", "veracity", "Manner")]
    assert agreed(*named, beside) == ["intention"]
    assert agreed(beside) == []


def test_a_judge_that_left_out_one_utterance_does_not_agree_there():
    elsewhere = said("y", "intention", "Inform", turn=5)
    assert agreed(said("x", "intention", "Inform"), elsewhere) == []


def test_the_goal_is_that_of_the_dialogue():
    whole = said("x", "goal", "deception", turn=None)
    assert agreed(whole) == ["goal"]
    assert agreed(whole, turn=None, labels={"goal": "deception"}) == ["goal"]


def test_nobody_judged_blind_is_told_from_nothing_agreed():
    shown = said("x", "intention", None, carried=True)
    own = said("x", "intention", "Inform", source="self")
    assert agreed(shown, own) is None
    assert agreed(said("x", "intention", "Affect")) == []


def test_judges_of_a_run_are_told_from_generators_that_read_themselves():
    assert blind_judges({"external b/y": 2, "self c/z": 2, "external a/x": 1}) == ("a/x", "b/y")


@pytest.mark.parametrize("aspect", ["utterance", "conversation"])
def test_items_hold_the_fact_for_oracles_and_say_that_nobody_judged(tmp_path, aspect):
    run = exportable_run(tmp_path / "run", scenarios=1, facts=1, turns=1)
    done = exported(tmp_path / "out", run, "benchmark", fractions=(0, 0, 1), parquet=False)
    rows = [row for row in rows_in(done.folder) if row["aspect"] == aspect]
    assert rows
    assert all(row["agreed"] is None for row in rows)
    assert all(row["fact_about"] and row["fact_text"] for row in rows)
