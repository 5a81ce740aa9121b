"""What the offline judge knows of lines of scenarios with a flow, and its mistakes."""

from __future__ import annotations

import pytest

from pipeline.offline_judge.flow_memory import MISTAKES, remembered_label
from scenarios.lines.library import flow_lines, is_of_flow, scenarios_with
from scenarios.schemes.registry import load_scheme

CEI = load_scheme("cei")
EMOTIONS = CEI.dimension("emotion").values
LINE = "Ah, the cake. Just in time for his next birthday."


def lines():
    for name in scenarios_with("stage"):
        if is_of_flow(name) and "remark" in flow_lines(name).flow:
            yield from (x for m in flow_lines(name).moments("remark", "speaker") for x in m)


def test_numbers_and_the_goal_of_a_known_line_are_remembered():
    assert remembered_label(LINE, "valence", ()) == -0.67
    assert remembered_label(f"  {LINE.upper()}", "arousal", ()) == 0.33
    assert remembered_label(LINE, "subtype", CEI.goals) is not None


def test_about_as_many_labels_as_said_are_mistaken_and_all_are_on_offer():
    found = [(remembered_label(x.text, "emotion", EMOTIONS), x.labels["emotion"]) for x in lines()]
    assert all(label in EMOTIONS for label, _ in found)
    wrong = sum(label != right for label, right in found)
    assert wrong / len(found) == pytest.approx(MISTAKES, abs=0.1)
    assert wrong > 0


@pytest.mark.parametrize(
    ("text", "dimension", "options"),
    [
        ("Nobody has written this line.", "emotion", EMOTIONS),
        (LINE, "emotion", ("hope", "envy")),
        (LINE, "veracity", ("None", "Quality")),
        (LINE, "confidence", ()),
        (LINE, "emotion", ()),
    ],
)
def test_of_other_lines_labels_and_dimensions_nothing_is_known(text, dimension, options):
    assert remembered_label(text, dimension, options) is None
