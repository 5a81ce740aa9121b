from __future__ import annotations

import re

from prompts.cue_points import CueFile, CuePoints, cue_points
from prompts.refusals import CUES

FILE = CueFile.model_validate(
    {
        "needed": 3,
        "words": {
            "weather": {"points": 2, "telling": True, "words": "rain* sun"},
            "much": {"points": 1, "words": "very so"},
        },
        "phrases": {
            "often": {"points": 1, "patterns": [r"\b(?:always|never) there\b"]},
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


def test_no_single_word_is_enough_and_no_pattern_fits_nothing():
    file = cue_points(CUES).file
    assert all(family.points < file.needed for family in file.words.values())
    assert any(family.telling for family in file.words.values())
    patterns = [pattern for family in file.phrases.values() for pattern in family.patterns]
    assert len(patterns) == len(set(patterns))
    assert not any(re.compile(pattern).search("") for pattern in patterns)
