"""What an utterance looks like: its sentences, its end, its voice, and whether it was said before."""

from __future__ import annotations

import pytest

from quality.gates.empty_utterance import EmptyUtterance
from quality.gates.refusal import Refusal, RefusalSettings
from quality.gates.repeated_turn import RepeatedTurn
from quality.gates.sentence_count import SentenceCount, SentenceSettings
from quality.gates.truncated import Truncated, is_cut
from quality.gates.word_count import WordCount, WordSettings
from tests.cpu_limit import cpu_limit


def test_a_third_sentence_is_one_too_many_for_either_role(stage):
    three = "It runs. It stops. It even steers."
    [flag] = SentenceCount().check(stage.answer(three))
    assert (flag.turn, flag.severity) == (3, 3.0)
    assert [f.turn for f in SentenceCount().check(stage.play(three, "I see."))] == [2]
    assert SentenceCount(SentenceSettings(max_sentences=3)).check(stage.answer(three)) == []


@pytest.mark.parametrize(
    ("text", "count"), [("Not really.", 2), ("It was " + "really " * 44 + "fine.", 47)]
)
def test_a_line_far_shorter_or_longer_than_people_talk_is_flagged(stage, text, count):
    [flag] = WordCount().check(stage.answer(text))
    assert (flag.turn, flag.severity) == (3, float(count))
    assert WordCount(WordSettings(fewest_words=1, most_words=100)).check(stage.answer(text)) == []


@pytest.mark.parametrize(
    "text", ["Who painted it?", "Not by me.", "It was " + "really " * 32 + "fine."]
)
def test_a_line_of_a_length_people_talk_in_passes(stage, text):
    assert WordCount().check(stage.answer(text)) == []


def test_words_are_not_counted_where_nothing_stands_between_them(stage):
    assert WordCount().check(stage.play("真的?", "没有。", language="zh", opening=False)) == []


@pytest.mark.parametrize(
    "text",
    [
        "It runs. It stops.",
        "Mr. Hill of Acme Inc. saw it at 8.30 a.m. on Monday.",
        "车没事。真的。",
    ],
)
def test_two_sentences_pass_and_abbreviations_end_none(stage, text):
    assert SentenceCount().check(stage.answer(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "I had it repai",
        "I had it repaired because",
        "It was, and",
        "The garage said:",
        "I paid the.",
        "I had it serviced at the garage of.",
        "It has been in the family since I\u2019ve.",
        "They looked at it (the brakes too.",
        "The wing was resprayed due to.",
    ],
)
def test_what_breaks_off_is_truncated(stage, text):
    [flag] = Truncated().check(stage.answer(text))
    assert flag.turn == 3
    assert "breaks off" in flag.reason


@pytest.mark.parametrize(
    "text",
    [
        "It runs.", "Does it?", 'He said, "It runs."', "It runs (I think).", "Well\u2026", "没有。",
        "It runs! \U0001f600", "What are you thinking of?", "That is all I know of.", "I never asked where it comes from.", "यह ठीक है।",
    ],
)  # fmt: skip
def test_what_ends_as_sentences_do_is_whole(stage, text):
    assert Truncated().check(stage.answer(text)) == []


@pytest.mark.parametrize("text", ["a" * 200_000 + ".", "It runs." + "\u201d " * 800_000])
def test_whether_a_text_of_any_length_breaks_off_is_seen_at_once(text):
    with cpu_limit(10):
        assert not is_cut(text)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Er sagte \u201eJa\u201c, mehr nicht.", False),
        ("Sie fragte: \u201eIst das wahr?\u201c", False),
        ("Ona rekla: \u201eNe.\u201d", False),
        ("Er sagte \u201eJa, mehr nicht.", True),
        ("\u4ed6\uff08\u8001\u677f\u8bf4\u4e0d\u884c\u3002", True),
        ("\u300c\u306f\u3044\u300d\u3068\u8a00\u3063\u305f\u3002", False),
        ("\u300c\u306f\u3044\u3068\u8a00\u3063\u305f\u3002", True),
    ],
)
def test_quotations_end_as_each_language_ends_them(text, cut):
    assert is_cut(text, "de") is cut


def test_a_language_without_full_stops_is_not_judged_by_them(stage):
    assert Truncated().check(stage.answer("รถคันนี้ไม่เคยชน", language="th")) == []


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model, I cannot lie about cars.",
        "I\u2019m sorry, but I can\u2019t assist with that.",
        "Sure! Here is the revised utterance in the requested style.",
        "How may I assist you today?",
        "Als KI kann ich dazu nichts sagen.",
        "作为一个人工智能我不能回答。",
        "As the responder, I keep the fact to myself.",
    ],
)
def test_the_voice_of_a_machine_is_flagged(stage, text):
    [flag] = Refusal().check(stage.answer(text))
    assert flag.turn == 3
    assert "speaks as a machine" in flag.reason


@pytest.mark.parametrize(
    "text",
    [
        "I am sorry, but I cannot talk about that wing.",
        "I will not answer that, and nobody can make me.",
        "I can help you carry it to the garage.",
        "Of course, here is the key.",
        "I keep to what my mechanic told me.",
        "I am here to sell a car.",
    ],
)
def test_a_person_who_will_not_answer_is_no_machine(stage, text):
    assert Refusal().check(stage.answer(text)) == []


def test_further_phrases_are_taken_as_they_stand(stage):
    subject = stage.answer("Beep (boop) said the seller.")
    assert Refusal().check(subject) == []
    assert len(Refusal(RefusalSettings(refusal_phrases=("beep  (BOOP)",))).check(subject)) == 1


@pytest.mark.parametrize("text", ["", "   ", "...", "\u200b", "-- !?"])
def test_a_turn_without_a_word_is_empty(stage, text):
    assert [flag.turn for flag in EmptyUtterance().check(stage.answer(text))] == [3]


def test_one_word_or_number_is_not_nothing(stage):
    assert EmptyUtterance().check(stage.play("1?", "好")) == []


LONG = "The wing was resprayed last year because of a long scratch from a shopping trolley."


@pytest.mark.parametrize("again", [LONG, LONG.upper(), LONG[:-1] + " then.", "Well, " + LONG])
def test_saying_nearly_the_same_again_is_flagged(stage, again):
    [flag] = RepeatedTurn().check(stage.play("Why?", LONG, "And now?", again))
    assert flag.turn == 5
    assert flag.severity is not None
    assert flag.severity >= 0.8
    assert "turn 3" in flag.reason


def test_the_fixed_opening_may_not_be_said_again_either(stage):
    said = stage.play("Why?", "I have looked after it since I bought it.")
    assert [flag.turn for flag in RepeatedTurn().check(said)] == [3]


@pytest.mark.parametrize(
    "other", ["The wing was scratched in a car park.", "Yes.", "", "I never said so."]
)
def test_other_words_are_no_repetition(stage, other):
    assert RepeatedTurn().check(stage.play("Why?", LONG, "And now?", other)) == []


def test_short_answers_repeat_only_if_they_are_equal(stage):
    assert len(RepeatedTurn().check(stage.play("Why?", "No.", "But why?", "No!"))) == 1
    assert RepeatedTurn().check(stage.play("Why?", "No.", "But why?", "No no.")) == []
