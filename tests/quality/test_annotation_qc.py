import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.agreement.annotations import Answer, RawAnswer, Timing
from quality.annotation_qc.findings import QcSettings
from quality.annotation_qc.qc import (
    annotation_qc,
    disagreements,
    modified_z_scores,
    self_contradictions,
    straight_lining,
    timing_findings,
    unlike_others,
)
from quality.annotation_qc.schema import check_schema
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from tests.quality.stats_tables import LABELS, dimension

CEI = load_scheme("cei")
DEFAULTS = QcSettings()
FULL = {"emotion": "joy", "valence": 1, "arousal": 0, "dominance": "neutral", "confidence": 1}


def sheet(item="1", annotator="ann", **changes):
    return [RawAnswer(item, d, annotator, v) for d, v in {**FULL, **changes}.items()]


def codes(findings):
    return [(f.code, f.dimension) for f in findings]


def emotions(*rows):
    return [
        Answer(str(i), "emotion", f"p{j}", value)
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
    ]


def test_a_filled_sheet_passes_the_schema():
    checked = check_schema(CEI, sheet())
    assert checked.findings == ()
    assert {a.dimension: a.value for a in checked.answers} == {
        **FULL,
        "valence": 1.0,
        "arousal": 0.0,
        "dominance": 0.0,
        "confidence": 1.0,
    }


def test_each_fault_of_a_sheet_is_reported_once_and_the_rest_is_kept():
    raw = [
        *sheet(emotion="relief", valence=7, arousal=" ", dominance=None),
        RawAnswer("1", "confidence", "ann", -1),
        RawAnswer("1", "emotoin", "ann", "joy"),
    ]
    checked = check_schema(CEI, raw)
    assert codes(checked.findings) == [
        ("harmonised", "emotion"),
        ("unknown_value", "valence"),
        ("duplicate", "confidence"),
        ("unknown_dimension", "emotoin"),
        ("missing", "arousal"),
        ("missing", "dominance"),
    ]
    assert {(a.dimension, a.value) for a in checked.answers} == {
        ("emotion", "joy"),
        ("confidence", 1.0),
    }
    by_code = {f.code: f for f in checked.findings}
    assert by_code["harmonised"].value == "relief"
    assert "joy" in by_code["harmonised"].reason
    assert "-1 to 1, one of 7 points" in by_code["unknown_value"].reason
    assert "did you mean 'emotion'" in by_code["unknown_dimension"].reason
    assert {(f.annotator, f.item, f.level) for f in checked.findings} == {("ann", "1", 1)}


def test_what_is_required_can_be_said():
    raw = [RawAnswer("1", "emotion", "ann", "joy")]
    assert check_schema(CEI, raw, required=["emotion"]).findings == ()
    assert codes(check_schema(CEI, raw, required=["subtype"]).findings) == [("missing", "subtype")]


@given(st.lists(st.tuples(st.sampled_from([*FULL, "x"]), st.none() | st.text() | st.floats())))
def test_no_answer_is_dropped_in_silence(rows):
    raw = [RawAnswer("1", d, "ann", value) for d, value in rows]
    checked = check_schema(CEI, raw)
    told = {"unknown_dimension", "unknown_value", "duplicate"}
    blank = sum(v is None or (isinstance(v, str) and not v.strip()) for d, v in rows if d != "x")
    assert len(raw) == (
        len(checked.answers) + sum(f.code in told for f in checked.findings) + blank
    )


def test_more_than_four_fifths_of_one_label_is_straight_lining():
    def given_joy(n, of):
        return emotions(*[["joy"]] * n, *[["fear"]] * (of - n))

    assert straight_lining(CEI, given_joy(8, 10), DEFAULTS) == []
    assert straight_lining(CEI, given_joy(9, 9), DEFAULTS) == []
    (found,) = straight_lining(CEI, given_joy(9, 10), DEFAULTS)
    assert (found.annotator, found.value, found.threshold) == ("p0", 0.9, 0.8)
    assert "'joy' to 9 of 10" in found.reason


def test_a_label_that_everybody_gives_often_is_no_straight_lining():
    common = [["joy"] * 3] * 18 + [["fear", "joy", "joy"], ["joy", "fear", "fear"]]
    assert straight_lining(CEI, emotions(*common), DEFAULTS) == []
    found = straight_lining(
        CEI, emotions(*[["fear", "joy", "joy"]] * 10, *[["joy", "fear", "joy"]] * 10), DEFAULTS
    )
    assert [one.annotator for one in found] == ["p2"]
    alone = [Answer(str(i), "emotion", "p0", "joy") for i in range(20)]
    few = [Answer(str(i), "emotion", "p1", "joy") for i in range(5)]
    assert [one.annotator for one in straight_lining(CEI, [*alone, *few], DEFAULTS)] == ["p0"]


def test_those_who_never_gave_another_label_do_not_excuse_each_other():
    def named(rows):
        return [one.annotator for one in straight_lining(CEI, emotions(*rows), DEFAULTS)]

    assert named([["joy"] * 2] * 20) == ["p0", "p1"]
    assert named([["joy", "joy", "fear"]] * 10 + [["joy", "joy", "joy"]] * 10) == ["p0", "p1"]
    usual = [["joy", "joy", "joy"]] * 19 + [["joy", "joy", "fear"]]
    assert named(usual) == []  # the third one tells that the label is common


def test_a_label_that_the_scheme_calls_common_is_no_straight_lining():
    calm = CEI.model_copy(update={"common_labels": {"emotion": ("joy",)}})
    assert straight_lining(calm, emotions(*[["joy"]] * 20), DEFAULTS) == []
    assert straight_lining(calm, emotions(*[["fear"]] * 20), DEFAULTS) != []


def test_times_too_short_too_long_and_unusual_are_reported():
    usual = [Timing(f"u{i}", "ann", 40 + i) for i in range(9)]
    odd = [Timing("fast", "ann", 2.9), Timing("slow", "ann", 601), Timing("odd", "ann", 90)]
    found = timing_findings([*usual, *odd], DEFAULTS)
    assert {(f.item, f.code) for f in found} == {
        ("fast", "too_fast"),
        ("fast", "timing_outlier"),
        ("slow", "too_slow"),
        ("slow", "timing_outlier"),
        ("odd", "timing_outlier"),
    }
    assert {f.threshold for f in found} == {3.0, 600.0, 3.5}


def test_the_limits_of_time_themselves_are_fine():
    edges = [Timing("1", "ann", 3), Timing("2", "ann", 600)]
    assert timing_findings(edges, DEFAULTS) == []


def test_each_annotator_is_compared_with_their_own_times():
    slow = [Timing(str(i), "slow", 200 + i) for i in range(20)]
    quick = [Timing(str(i), "quick", 20 + i) for i in range(5)]
    assert timing_findings([*slow, *quick], DEFAULTS) == []


def test_honest_times_which_are_skewed_are_hardly_ever_reported():
    """5 to 6 in 100 are, on plain seconds with a limit of 2.5."""
    times = np.exp(np.random.default_rng(0).normal(3.4, 0.5, (50, 60)))
    found = [
        finding
        for row in times
        for finding in timing_findings(
            [Timing(str(i), "ann", seconds) for i, seconds in enumerate(row.tolist())], DEFAULTS
        )
    ]
    assert len(found) / times.size <= 0.01


def test_time_is_told_by_the_decision():
    usual = [Timing(f"u{i}", "ann", (20 + i % 5) * n, n) for i in range(20) for n in (1, 9)]
    assert timing_findings(usual, DEFAULTS) == []
    hasty = [*usual, Timing("hasty", "ann", 8.0, 10)]
    assert {f.code for f in timing_findings(hasty, DEFAULTS)} == {"too_fast", "timing_outlier"}
    assert timing_findings([Timing("1", "ann", 8.0)], DEFAULTS) == []


def rated(rng, levels, *, dialogues=30):
    """Return two labels a dialogue by annotators who know each with the given chance."""
    truth = rng.choice(4, size=(dialogues, 2))
    answers = []
    for number, level in enumerate(levels):
        said = np.where(rng.random(truth.shape) < level, truth, rng.choice(4, size=truth.shape))
        answers += [
            Answer(f"{d}#{i}", "emotion", f"p{number}", LABELS[said[d, i]], f"{d}")
            for d in range(dialogues)
            for i in range(2)
        ]
    return answers


def test_who_clicks_at_random_is_told_from_the_others_and_nobody_else_is():
    scheme = Scheme.model_validate(
        {"id": "s", "title": "S", "dimensions": [dimension("nominal", "emotion")]}
    )
    blamed = [
        {
            f.annotator
            for f in unlike_others(scheme, rated(np.random.default_rng(n), levels), DEFAULTS)
        }
        for levels in ((0.85, 0.8, 0.75), (0.85, 0.8, 0.0))
        for n in range(15)
    ]
    assert blamed[:15] == [set()] * 15
    assert blamed[15:].count({"p2"}) >= 14
    assert set().union(*blamed) == {"p2"}
    pair = rated(np.random.default_rng(0), (0.9, 0.0))
    assert unlike_others(scheme, pair, DEFAULTS) == []


def test_the_modified_z_score_is_scaled_by_the_median_absolute_deviation():
    values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3]
    scores = modified_z_scores(values)
    median, mad = 2.45, 0.15
    assert scores == pytest.approx([0.6745 * (x - median) / mad for x in values])


def test_an_outlier_shows_where_most_times_are_equal():
    assert modified_z_scores([]) == []
    assert modified_z_scores([5, 5, 5]) == [0, 0, 0]
    assert modified_z_scores([5] * 20 + [50])[-1] > 2.5


@pytest.mark.parametrize(
    ("emotion", "valence", "reported"),
    [
        ("joy", -1, True),
        ("trust", "unpleasant", True),
        ("joy", "mildly unpleasant", False),
        ("anger", "pleasant", True),
        ("anger", "mildly pleasant", False),
        ("surprise", -1, False),
        ("fear", -1, False),
        ("joy", None, False),
    ],
)
def test_an_emotion_against_a_strong_valence_is_a_self_contradiction(emotion, valence, reported):
    answers = check_schema(CEI, sheet(emotion=emotion, valence=valence)).answers
    found = self_contradictions(CEI, answers)
    assert bool(found) == reported
    for finding in found:
        assert (finding.annotator, finding.item, finding.value) == ("ann", "1", emotion)
        assert "valence" in finding.reason


def test_what_nobody_agrees_on_is_a_split_from_three_people_on():
    answers = emotions(["joy", "fear", "anger"], ["joy", "joy", "anger"], ["joy", "fear"])
    (found,) = disagreements(CEI, answers, DEFAULTS)
    assert (found.code, found.item, found.annotator, found.level) == ("split", "0", None, 3)


@pytest.mark.parametrize(("low", "high", "reported"), [(-1, 2 / 3, True), (-1, 1 / 3, False)])
def test_ratings_more_than_one_and_a_half_apart_are_a_wide_range(low, high, reported):
    answers = [Answer("1", "valence", "a", low), Answer("1", "valence", "b", high)]
    found = disagreements(CEI, answers, DEFAULTS)
    assert [(f.code, f.threshold) for f in found] == ([("wide_range", 1.5)] if reported else [])
    if found:
        assert found[0].value == pytest.approx(high - low)


def test_all_levels_come_in_order_over_the_harmonised_answers():
    raw = [
        *sheet(annotator="a", emotion="relief", valence=-1),
        *sheet(annotator="b", emotion="fear"),
        *sheet(annotator="c", emotion="anger"),
    ]
    checked = annotation_qc(CEI, raw, [Timing("1", "a", 1)])
    assert [(f.level, f.code) for f in checked.findings] == [
        (1, "harmonised"),
        (2, "too_fast"),
        (2, "self_contradiction"),
        (2, "self_contradiction"),
        (2, "self_contradiction"),
        (3, "split"),
        (3, "wide_range"),
    ]
    assert len(checked.answers) == 15


def test_labels_of_other_schemes_need_no_declarations():
    hipo = load_scheme("hipo")
    answers = [Answer("1", "intention", name, "Inform") for name in LABELS]
    assert disagreements(hipo, answers, DEFAULTS) == self_contradictions(hipo, answers) == []
