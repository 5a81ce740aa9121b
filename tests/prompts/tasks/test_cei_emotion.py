"""The task ``cei-emotion``: it reads naturally of one who speaks and one who listens."""

from __future__ import annotations

import pytest

from prompts.environment import Templates
from prompts.tasks.items import TaskItem, scene_view
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.catalogue import Catalogue
from scenarios.pack import FAMILIES
from scenarios.schemes.registry import load_scheme

CEI = load_scheme("cei")
UTTERANCE = "Ah, the cake. Just in time for his next birthday."


def asked(mode):
    scenario = Catalogue.load([FAMILIES], environment={}).scenarios["cake_at_nine"]
    turns = (("speaker", UTTERANCE),)
    item = TaskItem("x", scene_view(scenario, "en"), turns, 0, scenario=scenario.id)
    prompts = TaskPrompts(Templates(), CEI, load_task("cei-emotion", CEI), mode=mode)
    (question,) = prompts.questions(item)
    return "\n".join(message.content for message in question.question.messages)


@pytest.mark.parametrize("mode", ["zero-shot", "cot", "icl"])
def test_it_shows_situation_people_and_utterance_and_speaks_of_nobody_who_asks(mode):
    text = asked(mode)
    for shown in ("SPEAKER: host of the party", "LISTENER: friend with the cake", UTTERANCE):
        assert shown in text
    assert "in Tbilisi" in text
    for word in ("INITIATOR", "RESPONDER", "private fact", "sarcasm"):
        assert word not in text, word
    assert all(label in text for label in CEI.dimension("emotion").values)


def test_three_worked_examples_of_different_emotions_come_from_other_scenes():
    text = asked("icl")
    assert text.count("Right answer:") == 3
    assert text.count("; to: ") == 3
    assert "Right answer:" not in asked("cot")


def test_step_by_step_it_goes_from_words_to_what_is_felt():
    assert "what the words say literally" in asked("cot")
    assert "what the words say literally" not in asked("zero-shot")
