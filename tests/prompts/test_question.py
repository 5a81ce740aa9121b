"""A question keeps the format its prompt describes, whatever is done with it."""

from __future__ import annotations

import re

import pytest

from prompts.environment import Templates
from prompts.judges import JudgePrompts, judge_view
from prompts.responses import Unreadable
from prompts.role_views import initiator_view
from prompts.tasks.items import TaskItem, fact_view, scene_view
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task, shipped_tasks
from scenarios.dialogue import TacticLabel

SAID = "Nobody has painted it."


@pytest.fixture
def questions(prompts, hipo, used_car, case_of, view, history, draft, critiques):
    """One question of every kind, by name."""
    judges = JudgePrompts(Templates(), hipo)
    judging = judge_view(used_car, case_of())
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
        **of_tasks(hipo, used_car, history),
    }


def of_tasks(hipo, used_car, history):
    """Return every question of every task in every mode, by the names of these."""
    turns = (*history, ("responder", SAID))
    scene, fact = scene_view(used_car, "en"), fact_view(used_car, "guardrail")
    asked = {}
    for name in shipped_tasks(hipo):
        task = load_task(name)
        at = len(history) if task.subject == "utterance" else None
        item = TaskItem("item", scene, turns, at, None if at is None else at - 1, fact)
        for mode in task.modes:
            prompts = TaskPrompts(Templates(), hipo, task, mode=mode)
            explain = prompts.explain(item)
            found = [*explain, *prompts.questions(item, explained=["So."] * len(explain))]
            for number, one in enumerate(found):
                asked[f"{name} {mode} {number}"] = one.question
    return asked


def test_the_prompt_shows_the_very_format_that_reads_its_answer(questions):
    for name, question in questions.items():
        system, user = (message.content for message in question.messages)
        # Tasks list the labels at the end of the question, in an order by item.
        shown = user if "# Answer format" in user else system
        keys = re.findall(r'^  "(\w+)": ', shown, re.MULTILINE)
        assert tuple(keys) == question.answer.keys, name
        if shown is system:
            assert question.answer.skeleton in system, name


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
