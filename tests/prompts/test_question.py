"""A question keeps the format its prompt describes, whatever is done with it."""

from __future__ import annotations

import pytest

from prompts.environment import Templates
from prompts.evaluator import EvaluatorPrompts, evaluator_view
from prompts.judges import JudgePrompts, judge_view
from prompts.responses import Unreadable
from prompts.role_views import initiator_view
from scenarios.dialogue import TacticLabel

SAID = "Nobody has painted it."


@pytest.fixture
def questions(prompts, hipo, used_car, case_of, view, history, draft, critiques):
    """One question of every kind, by name."""
    judges, evaluator = JudgePrompts(Templates(), hipo), EvaluatorPrompts(Templates(), hipo)
    judging, seen = judge_view(used_car, case_of()), evaluator_view(used_car, "en")
    declared = (TacticLabel("veracity", "Quality"),)
    return {
        "initiator": prompts.initiator(initiator_view(used_car, case_of()), history),
        "responder": prompts.responder(view, history),
        "reflect": prompts.reflect(view, history, draft),
        "revise": prompts.revise(view, history, draft, critiques),
        "judge turn": judges.turn(judging, history, SAID),
        "judge dialogue": judges.dialogue(judging, history),
        "verify turn": judges.verify_turn(judging, history, SAID, declared),
        "verify turn, nothing declared": judges.verify_turn(judging, history, SAID, ()),
        "judge dialogue, readers": judges.dialogue(judging, history, readers=True),
        "evaluated utterance": evaluator.utterance(seen, SAID),
        "evaluated in context": evaluator.cumulative(seen, history, SAID),
        "evaluated conversation": evaluator.conversation(seen, history),
    }


def test_the_prompt_shows_the_very_format_that_reads_its_answer(questions):
    for name, question in questions.items():
        assert question.answer.skeleton in question.messages[0].content, name


def test_a_repair_keeps_format_and_messages(questions):
    for name, question in questions.items():
        repaired = question.repair("hm", ["answer: found no JSON object"])
        again = repaired.repair("hm", ["answer: found no JSON object"])
        assert again.answer is repaired.answer is question.answer, name
        assert again.messages[: len(question.messages)] == question.messages, name
        assert len(again.messages) == len(question.messages) + 4, name


def test_an_answer_to_another_kind_of_question_is_unreadable(questions):
    answer = '{"utterance": "It is a fine car."}'
    assert questions["initiator"].answer.read(answer) == "It is a fine car."
    for name in questions.keys() - {"initiator"}:
        with pytest.raises(Unreadable):
            questions[name].answer.read(answer)
