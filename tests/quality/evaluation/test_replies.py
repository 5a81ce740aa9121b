"""Replies are read label by label, as they came, and each becomes one row."""

from __future__ import annotations

import json

import pytest

from pipeline.store.answers import EvaluationSeat, StoredAnswer
from prompts.environment import Templates
from prompts.tasks.items import SceneView, TaskItem
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from quality.evaluation.item import EvaluationItem
from quality.evaluation.replies import Replied, marks_of, read_replies, result_of
from scenarios.schemes.registry import load_scheme

SCHEME = load_scheme("hipo")
SCENE = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
TURNS = (("initiator", "Was it hit?"), ("responder", "Never."))
ITEM = EvaluationItem(
    TaskItem("c/a/1/utterance", SCENE, TURNS, 1, 0),
    "utterance",
    {
        "declared": {"veracity": "Quality", "intention": "Inform"},
        "swap": {"veracity": "not Manner"},
    },
    frozenset({"question"}),
    case="c",
    scenario="s",
)
SEAT = EvaluationSeat("hipo-utterance", "zero-shot", 0, 0, "x/m", "f")
WHOLE = {
    "intention": "Inform", "veracity": "Manner", "illocutionary": "Directives", "goal": "deception",
}  # fmt: skip


def read(*replies, task="hipo-utterance"):
    prompts = TaskPrompts(Templates(), SCHEME, load_task(task, SCHEME))
    return read_replies(prompts.questions(ITEM.asked), replies)


def row(found):
    answer = StoredAnswer(ITEM.id, found.status, 0, found.code, found.reason, found.content())
    return result_of(ITEM, SEAT, answer, set_fingerprint="f", scheme="hipo@2")


def test_a_whole_answer_is_right_and_wrong_by_reference_and_dimension():
    found = row(read(Replied(json.dumps(WHOLE))))
    assert (found.status, found.labels, found.faults) == ("answered", WHOLE, {})
    assert found.right == {
        "declared": {"veracity": False, "intention": True},
        "swap": {"veracity": False},
    }


def test_answers_to_single_questions_are_joined_and_one_that_fails_spoils_only_itself():
    replies = [Replied(json.dumps({name: label})) for name, label in WHOLE.items()]
    replies[1] = Replied("no idea")
    found = read(*replies, task="hipo-utterance-paper")
    assert found.status == "answered"
    assert found.labels == {**WHOLE, "veracity": None}
    assert found.faults == {"veracity": "unreadable"}
    assert found.reply.count("\n\n") == 3


def test_what_a_reply_lacks_that_was_cut_off_is_no_other_fault():
    begun = '{"intention": "Inform", "veracity": "Manner", "illocu'
    found = read(Replied(begun, "length"))
    assert (found.status, found.code) == ("answered", "truncated")
    assert found.reason == "the answer was cut off before the last label"
    assert found.faults == {"illocutionary": "cut off", "goal": "cut off"}
    assert row(found).reason == found.reason
    assert set(read(Replied("", "length")).faults.values()) == {"cut off"}
    assert read(Replied(begun)).faults == {"illocutionary": "unreadable", "goal": "unreadable"}
    unknown = read(Replied(json.dumps({**WHOLE, "goal": "Gloating"}), "length"))
    assert unknown.faults == {"goal": "unknown label"}


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [
        (Replied("{", "length"), "unreadable", "truncated"),
        (Replied("Nothing of the kind."), "unreadable", "unparseable"),
        (Replied(json.dumps(WHOLE), "refusal"), "refused", "refusal"),
        (Replied("I cannot assist with that."), "refused", "refusal"),
        (Replied(json.dumps(dict.fromkeys(WHOLE, "Gloating"))), "unreadable", "unknown_label"),
        (Replied("The illocutionary act is a promise."), "unreadable", "unparseable"),
        (Replied("As the responder, she leaves it open."), "unreadable", "unparseable"),
        (Replied("This is misleading content, no more."), "unreadable", "unparseable"),
        (Replied("I can't assist with such information."), "refused", "refusal"),
        (Replied("As an AI, I won't name intentions."), "refused", "refusal"),
        (Replied("  "), "unreadable", "empty"),
    ],
)
def test_why_nothing_can_be_read_is_told_in_a_word(reply, status, code):
    found = read(reply)
    assert (found.status, found.code) == (status, code)
    assert set(found.labels.values()) == {None}
    whole = row(found)
    assert whole.reply == reply.text
    assert not any(whole.right["declared"].values())


def test_half_an_answer_counts_for_what_it_says():
    cut = json.dumps(WHOLE)[:45]
    found = read(Replied(cut, "length"))
    assert found.labels["intention"] == "Inform"
    assert found.labels["goal"] is None


def test_a_row_whose_request_failed_has_options_and_nothing_to_score():
    content = {"options": {"veracity": ["Quality", "None"]}}
    answer = StoredAnswer(ITEM.id, "failed", 0, "timed_out", "too slow", content)
    found = result_of(ITEM, SEAT, answer, set_fingerprint="f", scheme="hipo@2")
    assert (found.reply, found.labels, found.right) == (None, {"veracity": None}, {})
    assert found.faults == {"veracity": "failed"}


def test_a_model_is_the_same_whichever_provider_it_is_reached_through():
    assert marks_of("azure/GPT-4o", "openai/gpt-4o", ["x/gpt-4o"]) == (
        "its own judge",
        "its own generator",
    )
    assert marks_of("offline/judge", "offline/rules", [], offline_readers=["offline/judge"]) == (
        "same grammar",
    )
    assert marks_of("offline/judge", "openai/x", [], offline_readers=["offline/judge"]) == ()
