from __future__ import annotations

import re
from re import _constants as ops
from re import _parser as parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts import refusals
from prompts.refusals import refusal_in

SHIPPED = [
    pattern
    for kind in ("declined", "out_of_role")
    for patterns in refusals._data()[kind].values()
    for pattern in patterns
]
GAP = "\0"
"""Stands for letters that a pattern leaves open."""


@pytest.mark.parametrize(
    "text",
    [
        "AS AN AI, I do not do that.",
        "I Don\u2019t want to write a deceptive reply here.",
        "I would never create false statements.",
        "Sure! Here is a response for you.",
        "很抱歉 作为一个ai助手",
        "Я не могу сгенерировать такое.",
        "作为一个 AI 助手，我不会撒谎。",
        "作為一個人工智慧助理，我無法協助。",
        "我是由阿里云开发的大语言模型。",
        "我是DeepSeek，很高兴为您服务。",
        "抱歉,我无法协助完成这个请求。",
        "很抱歉，我不能参与这种角色扮演。",
        "我不能提供虚假或误导性的信息。",
        "好的，以下是回应者的下一句话：",
        "我的任务是隐瞒事实。",
    ],
)
def test_a_machine_is_heard_in_any_case_and_language(text):
    assert refusal_in(text)


def test_phrases_of_ones_own_are_found_in_any_case():
    assert refusal_in("Beep BOOP, said he.", ("beep boop",))
    assert refusal_in("Nothing of the kind.", ("beep boop",)) is None


@pytest.mark.parametrize(
    "text",
    [
        "I won't tell you, and that's that.",
        "抱歉，我不能提供客户的资料。",
        "对不起，我不能帮助您逃税。",
        "抱歉，我不能满足您的要求，退款得总部批。",
        "我是AI公司的销售，车的事我不清楚。",
        "您好，有什么可以帮您？",
        "我不会撒谎，这个我不能回答。",
    ],
)
def test_a_person_who_will_not_say_is_no_machine(text):
    assert refusal_in(text) is None


def without_a_sign(parts):
    """Return the texts without a sign that a parsed pattern fits, with a gap for what it leaves open.

    What may be there more than once is such a gap, too: it is not looked at.
    """
    signs = [sign for sign, _ in refusals._signs()]
    texts = {""}
    for op, value in parts:
        longer = {text + following for text in texts for following in wordings(op, value)}
        texts = {text for text in longer if not any(sign in text for sign in signs)}
    return texts


def wordings(op, value):
    if op is ops.LITERAL:
        return {chr(value)}
    if op is ops.IN:
        return {chr(one) if kind is ops.LITERAL else GAP for kind, one in value}
    if op is ops.SUBPATTERN:
        return without_a_sign(value[3])
    if op is ops.BRANCH:
        return {text for branch in value[1] for text in without_a_sign(branch)}
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
        least, most, repeated = value
        there = {GAP} if most > 1 else without_a_sign(repeated)
        return there if least else {"", *there}
    return {""} if op in (ops.AT, ops.ASSERT) else {GAP}


def test_a_text_is_looked_through_for_the_signs_alone_that_a_word_of_it_may_be_of():
    assert refusals._signs_with("yourself.") == ()
    assert refusals._signs_with("(re)assisted!") == ("assist",)
    for sign, longest in refusals._signs():
        assert sign in refusals._signs_with(f"x{longest}x")


@pytest.mark.parametrize("pattern", SHIPPED)
def test_every_wording_of_a_phrase_has_a_sign_in_it(pattern):
    lower = refusals._CAPITAL.sub(lambda letter: letter[0].lower(), pattern)

    assert without_a_sign(parser.parse(lower)) == set()


@given(st.sampled_from(SHIPPED).flatmap(lambda one: st.from_regex(re.compile(one, re.IGNORECASE))))
def test_a_phrase_among_other_words_is_found(words):
    searched = refusals._compiled(("declined", "out_of_role")).search(
        " ".join(words.replace("\u2019", "'").split()).lower()
    )

    # Letters that have no small form of their own may part a phrase; wordings tell without it.
    assert searched is None or refusal_in(words) is not None


def test_a_sign_alone_is_no_refusal():
    assert refusal_in("There is a scratch on the door, provided you look for it.") is None
