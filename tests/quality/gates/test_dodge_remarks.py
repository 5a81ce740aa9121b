"""The initiator says that its questions are not answered."""

from __future__ import annotations

import pytest

from quality.gates.dodge_remarks import DodgeRemarks, DodgeSettings

NONE = DodgeSettings(most_dodge_remarks=0)
REMARKS = [
    "That's not what I asked, is it?",
    "You didn't answer my question.",
    "You still haven't answered me.",
    "That is no answer, and you know it.",
    "I notice that you left my question where it was.",
    "You're dodging the question again.",
    "Why do you keep changing the subject?",
    "Das ist keine Antwort auf meine Frage.",
    "您还没回答我的问题呢。",
    "您又岔开话题了，到底是谁？",
    "您這是答非所問。",
    "别绕弯子了，您去过湖边吗？",
]
QUESTIONS = [
    "Who did the paint on that wing, then?",
    "What would a garage answer if I asked them?",
    "Is there anybody who can confirm that?",
    "Did you avoid the motorway that winter?",
    "I don't follow, when was that?",
    "您是怎么回答客户的？",
    "换个话题吧，孩子好吗？",
]


@pytest.mark.parametrize("remark", REMARKS)
def test_the_second_remark_of_a_dialogue_is_flagged(stage, remark):
    once = stage.play(remark, "It was sunny that day.")
    assert DodgeRemarks().check(once) == []
    [flag] = DodgeRemarks().check(stage.play(REMARKS[0], "It was sunny.", remark, "Yes, sunny."))
    assert (flag.turn, flag.severity, flag.code) == (4, 2.0, "dodge_remarks")
    assert len(DodgeRemarks(NONE).check(once)) == 1


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_about_the_matter_is_no_remark(stage, question):
    assert DodgeRemarks(NONE).check(stage.play(question, "It was sunny that day.")) == []


def test_the_responder_may_say_so(stage):
    said = stage.play("Who did it?", REMARKS[1], "When was that?", REMARKS[1])
    assert DodgeRemarks(NONE).check(said) == []
