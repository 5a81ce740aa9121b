"""What the offline judge knows of lines of scenarios with a flow, and its mistakes."""

from __future__ import annotations

import pytest

from pipeline.offline_judge.flow_memory import MISTAKES, has_no_label, remembered_label
from scenarios.lines.library import flow_lines, scenarios_with
from scenarios.schemes.registry import load_scheme

CEI = load_scheme("cei")
EMOTIONS = CEI.dimension("emotion").values
LINE = "Ah, the cake. Just in time for his next birthday."


def lines():
    for name in scenarios_with("stage"):
        written = flow_lines(name)
        if written is not None and "remark" in written.flow:
            yield from (x for m in written.moments("remark", "speaker") for x in m)


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


def test_where_one_label_decides_what_another_can_be_mistakes_keep_the_two_together():
    scheme = load_scheme("face_acts")
    acts, intentions = scheme.dimension("face_act"), scheme.dimension("intention")
    fit = {label.id: label.applies.get("face_act", ()) for label in intentions.labels}
    wrong = read = 0
    for name in scenarios_with("stage"):
        written = flow_lines(name)
        if written is None or "greeting" not in written.flow:
            continue
        for roles in written.flow.values():
            for line in (x for moments in roles.values() for m in moments for x in m):
                act = remembered_label(line.text, "face_act", acts.values)
                aim = remembered_label(line.text, "intention", intentions.values)
                assert (aim is None) == has_no_label(line.text, "intention")
                assert aim is None or act in fit[aim]
                wrong, read = wrong + (act != line.labels["face_act"]), read + 1
    assert read > 250
    assert 0.05 < wrong / read < MISTAKES + 0.05


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
