from __future__ import annotations

import re

import pytest

from prompts.cue_points import CueFile, CuePoints, cue_points
from prompts.refusals import CUES
from quality.gates.goal_cues import CUES as GOAL_CUES
from quality.gates.goal_cues import shows_goal

FILE = CueFile.model_validate(
    {
        "needed": 3,
        "words": {
            "weather": {"points": 2, "telling": True, "words": "rain* sun"},
            "much": {"points": 1, "words": "very so"},
        },
        "parts": {"ever": "(?:always|never)"},
        "phrases": {
            "often": {"points": 1, "patterns": [r"\b<ever> there\b"]},
            "denied": {"points": -2, "patterns": [r"\bno rain\b"]},
        },
    }
)


def test_cues_of_several_families_add_up_and_are_told_in_the_order_of_the_text():
    assert CuePoints(FILE).found("It is SO  raining") == "so \u2026 raining"
    assert CuePoints(FILE).found("It\u2019s always there, the sun.") == "always there \u2026 sun"


def test_a_family_counts_once_however_often_it_is_said():
    assert CuePoints(FILE).found("Rain, rainy, sun.") is None


def test_without_a_telling_word_there_is_nothing_to_find():
    assert CuePoints(FILE).found("It is so always there.") is None


def test_what_speaks_against_the_others_takes_points_away():
    assert CuePoints(FILE).found("So no rain, always there.") is None


@pytest.mark.parametrize("path", [CUES, GOAL_CUES], ids=lambda path: path.stem)
def test_no_single_word_is_enough_and_every_part_is_used(path):
    file = cue_points(path).file
    assert all(family.points < file.needed for family in file.words.values())
    assert any(family.telling for family in file.words.values())
    patterns = [pattern for family in file.phrases.values() for pattern in family.patterns]
    assert all(any(f"<{name}>" in pattern for pattern in patterns) for name in file.parts)
    assert len(patterns) == len(set(patterns))
    assert not any(re.compile(pattern).search("") for pattern in patterns if "<" not in pattern)


def test_a_clause_that_asks_states_no_goal():
    assert shows_goal(("My task is to keep you in the dark.",)) is not None
    assert shows_goal(("Is my task to keep you in the dark?",)) is None
    assert shows_goal(("My task is to keep you in the dark; is that a robin?",)) is not None
