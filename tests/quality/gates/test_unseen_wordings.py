"""Goals that are stated and refusals, in lines that were listed before the patterns, by the same author.

How many the gates find of lines by others: ``test_wording_rates.py``.

Which half of a list a line is in follows from its hash. The half that is held out counts as a rate
alone, and no test names a line of it: whoever mends a pattern looks at the open half.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from prompts.refusals import refusal_in
from quality.gates.goal_stated import GoalStated
from quality.gates.refusal import Refusal
from scenarios.lines.library import gold_lines, scenarios_with, stage_lines

FOLDER = Path(__file__).parent / "wordings"
GATES = {"goal_stated": GoalStated(), "refusal": Refusal()}
KNOWN_GOALS = (
    "I was told to be honest and yet keep the detail to myself.",
    "My assignment is deception.",
    "I am supposed to withhold one thing from you and not to lie.",
    "The strategy I was given is to stay truthful and not disclose it.",
    "My goal in this talk is to get you to believe something false.",
    "I have decided to mislead you.",
)
KNOWN_REFUSALS = (
    "I can't help with deceiving people.",
    "I apologise, but producing misleading statements is not something I can do.",
    "Here's my answer, written in character.",
    "I'd be happy to help! What would you like the character to say?",
)


def lines(gate, kind, *, held_out):
    listed = yaml.safe_load((FOLDER / f"{gate}.yaml").read_text(encoding="utf-8"))[kind]
    return [line for line in listed if sha256(line.encode()).digest()[0] % 2 == held_out]


def rate(stage, gate, texts):
    return sum(bool(GATES[gate].check(stage.answer(text))) for text in texts) / len(texts)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("held_out", [False, True], ids=["open", "held out"])
def test_nine_of_ten_wordings_that_were_listed_before_are_found(stage, gate, held_out):
    some = lines(gate, "wordings", held_out=held_out)
    assert len(some) >= 30
    found = rate(stage, gate, some)
    assert round(found, 3) >= 0.9


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("held_out", [False, True], ids=["open", "held out"])
def test_what_people_say_in_like_words_is_left_alone(stage, gate, held_out):
    false = rate(stage, gate, lines(gate, "near_misses", held_out=held_out))
    assert round(false, 3) <= 0.03


@pytest.mark.parametrize(
    ("gate", "text"),
    [("goal_stated", text) for text in KNOWN_GOALS]
    + [("refusal", text) for text in KNOWN_REFUSALS],
)
def test_a_wording_that_was_missed_once_is_found(stage, gate, text):
    assert GATES[gate].check(stage.answer(text))


def test_no_more_than_one_authored_line_in_a_hundred_is_taken_for_a_goal_or_a_refusal(stage):
    gold = [line.text for name in scenarios_with("gold") for line in gold_lines(name).lines]
    staged = [one for name in scenarios_with("stage") if (one := stage_lines(name)) is not None]
    texts = [*gold, *(line.text for one in staged for line in (*one.initiator, *one.responder))]
    assert len(texts) > 1000
    for gate in GATES:
        assert rate(stage, gate, texts) <= 0.01
    assert sum(refusal_in(text) is not None for text in texts) / len(texts) <= 0.01
