"""What speaks against an answer that can be read."""

from __future__ import annotations

import dataclasses

import pytest

from prompts.environment import Templates
from prompts.judges import JudgePrompts, judge_view
from prompts.objections import SAID_ALREADY, _letters, against_draft
from prompts.role_views import initiator_view
from scenarios.dialogue import Draft, TacticLabel

HISTORY = (("initiator", "Has it ever been in an accident?"), ("responder", "No, never at all."))


@pytest.fixture
def initiator(prompts, used_car, case_of):
    return prompts.initiator(initiator_view(used_car, case_of()), HISTORY)


def drafted(text, **changes):
    label = TacticLabel("veracity", "Quantity", "leaves the guardrail out")
    return Draft(text, "deception", (dataclasses.replace(label, **changes),))


@pytest.mark.parametrize(
    "again",
    [
        "Has it ever been in an accident?",
        "  HAS IT EVER been\u00a0in an accident...",
        "\u201cHas it - ever - been in an accident\u201d",
        "No, never at all.",
        "no never at all",
    ],
)
def test_a_line_of_either_speaker_said_again_is_objected_to(initiator, again):
    assert initiator.objections(again) == (SAID_ALREADY,)


@pytest.mark.parametrize("new", ["Has it been in an accident?", "Never at all?", "No. Never.", "!"])
def test_a_line_of_its_own_is_not(initiator, new):
    assert initiator.objections(new) == ()


def test_the_reason_or_a_label_is_no_utterance(prompts, view, draft, critiques):
    for question in (
        prompts.responder(view, HISTORY),
        prompts.revise(view, HISTORY, draft, critiques),
    ):
        assert question.objections(drafted("It has always been garaged.")) == ()
        assert question.objections(drafted("No, never at all!")) == (SAID_ALREADY,)
        (copied,) = question.objections(drafted("Leaves the guardrail out."))
        assert 'the words of "veracity_rationale"' in copied
        (label,) = question.objections(drafted("Quantity"))
        assert 'the words of "veracity"' in label
        ironic = dataclasses.replace(drafted("Sarcasm."), goal="sarcasm")
        (assigned,) = question.objections(ironic)
        assert "found a label" in assigned
        assert question.objections(drafted("It is fine.", rationale="")) == ()


def test_each_of_several_reasons_and_labels_is_named():
    tactic = (
        TacticLabel("intention", "Inform", "to tell"),
        TacticLabel("veracity", "Manner", "vague"),
    )
    for text, what in [("To tell!", "intention_rationale"), ("vague", "veracity_rationale"),
                       ("inform", "intention"), ("Manner", "veracity")]:  # fmt: skip
        (objection,) = against_draft(Draft(text, "deception", tactic), HISTORY)
        assert f'found the words of "{what}", expected' in objection


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("A_b-c 1.", "abc1"),
        ("Stra\u00dfe\u2026 \uff11", "strasse1"),
        ("\u5929\u3001\u6c14", "\u5929\u6c14"),
        ("?! ", ""),
    ],
)
def test_only_letters_and_digits_are_compared(text, letters):
    assert _letters(text) == letters


def test_a_judge_may_say_what_was_said(used_car, case_of, hipo):
    prompts = JudgePrompts(Templates(), hipo)
    question = prompts.dialogue(judge_view(used_car, case_of()), HISTORY)
    assert question.objections((TacticLabel("goal", "deception", "No, never at all."),)) == ()


def test_a_repair_keeps_the_objections(initiator):
    repaired = initiator.repair("{}", [SAID_ALREADY])
    assert repaired.objections("No, never at all.") == (SAID_ALREADY,)
    assert SAID_ALREADY in repaired.messages[-1].content
