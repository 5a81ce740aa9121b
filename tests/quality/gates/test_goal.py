"""The goal is not given away, and it is the one that was assigned."""

from __future__ import annotations

import pytest

from quality.gates.goal_mismatch import GoalMismatch
from quality.gates.goal_stated import GoalStated
from scenarios.schemes.registry import load_scheme


@pytest.mark.parametrize(
    "text",
    [
        "I was told to deceive you about the wing.",
        "My goal is deception, as you will have noticed.",
        "Well, I\u2019m lying to you right now.",
        "It rattles a bit. I am supposed to mislead you about that.",
        "My strategy here is truthful non-disclosure.",
        "This is truthful nondisclosure, nothing else.",
        "Goal: deception. The car is fine.",
        "I have been given TND as my assignment.",
        "我的目标就是欺骗您。",
        "目的：如实不披露。车没事。",
        "对不起，其实我一直在骗您。",
    ],
)
def test_a_goal_that_is_named_as_ones_own_is_flagged_at_its_turn(stage, text):
    [flag] = GoalStated().check(stage.answer(text))
    assert (flag.code, flag.turn) == ("goal_stated", 3)
    assert "names a goal" in flag.reason


@pytest.mark.parametrize(
    "text",
    [
        "I am not lying to you.",
        "You think I am lying to you, and that hurts.",
        "If I wanted to deceive you, I would lower the price.",
        "Are you saying that I lied to you?",
        "My aim is to be honest with you.",
        "My goal is to find out who lied to me about the paint.",
        "I was told he is lying about the paint.",
        "I am lying in bed with a cold.",
        "I signed a non-disclosure agreement with the garage.",
        "I would rather not go into the history of that wing.",
        "I was told only a fool would pay less.",
        "我没骗您，我骗您干什么。",
        "我怎么会骗您？",
        "我要是骗您，天打雷劈。",
        "我骗您的话，天打雷劈。",
        "我骗您我是小狗。",
        "我的目的是卖车，他骗了我。",
    ],
)
def test_what_people_say_about_lies_and_honesty_is_no_statement_of_a_goal(stage, text):
    assert GoalStated().check(stage.answer(text)) == []


def test_the_initiator_may_speak_of_deception_as_it_likes(stage):
    subject = stage.play("My goal is deception and I am lying to you.", "I see.")
    assert GoalStated().check(subject) == []


def test_the_names_come_from_the_scheme(stage):
    cei = load_scheme("cei")
    told = stage.answer("My task is passive aggression.", scheme=cei, goal="passive aggression")
    idiom = stage.answer("I keep getting mixed signals from you.", scheme=cei, goal="sarcasm")
    foreign = stage.answer("I was told to deceive you.", scheme=cei, goal="sarcasm")
    assert [flag.turn for flag in GoalStated().check(told)] == [3]
    assert GoalStated().check(idiom) == []
    assert GoalStated().check(foreign) == []


def test_another_goal_than_the_assigned_one_is_a_mismatch(stage):
    subject = stage.answer("It runs well.")
    assert GoalMismatch().check(subject) == []
    [flag] = GoalMismatch().check(stage.change(subject, 3, declared_goal=stage.tnd))
    assert flag.turn == 3
    assert "assigned deception, declared truthful non-disclosure" in flag.reason


def test_no_goal_declared_is_no_mismatch(stage):
    subject = stage.change(stage.answer("It runs well."), 3, declared_goal=None)
    assert GoalMismatch().check(subject) == []
