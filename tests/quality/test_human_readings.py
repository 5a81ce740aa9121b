"""Whose readings count, and how many lines and dialogues each person has read."""

from __future__ import annotations

from quality.agreement.annotations import Answer
from quality.human_readings import WhoRead, human_readings
from scenarios.schemes.registry import load_scheme


def test_labels_of_whole_dialogues_are_not_counted_as_lines() -> None:
    answers = [
        answer
        for who in ("A01", "A02")
        for number in range(4)
        for answer in (
            Answer(f"d{number}#3", "veracity", who, "Quality", f"d{number}"),
            Answer(f"d{number}", "goal", who, "deception", f"d{number}"),
        )
    ]
    more = Answer("d9#3", "veracity", "A02", "None", "d9")
    found = human_readings(load_scheme("hipo"), [*answers, more])
    assert found.readers == (
        WhoRead("A01", lines=4, dialogues=4),
        WhoRead("A02", lines=5, dialogues=4),
    )
