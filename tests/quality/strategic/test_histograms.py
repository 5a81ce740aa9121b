"""How benefit and penalty are distributed: an example that is worked out by hand."""

import pytest

from quality.strategic.histograms import histograms
from tests.quality.strategic.test_comparison import found, labels

PLAIN = {m: ["1"] * 2 for m in ("relevance", "manner", "quality")} | {"inconsistent": ["no"] * 2}


def shapes():
    crossed = labels("A", ["beneficial", "detrimental"], dialogue="cross", **PLAIN)
    direct = labels("A", ["beneficial", "neutral"], dialogue="control", **PLAIN)
    return {(one.metric, one.dialogue): one for one in histograms(found(crossed, direct))}


def test_every_value_of_benefit_and_penalty_has_its_bin():
    # Benefit 1 and 0 in the one, 1 and 0.5 in the other; penalty 0 and 1, and 0 twice.
    drawn = shapes()
    assert drawn["BaT", "cross"].bins[0] == (0.0, 0.5)
    assert drawn["BaT", "cross"].bins[-1] == (1.0, 0.5)
    assert len(drawn["BaT", "cross"].bins) == 11
    assert drawn["BaT", "control"].bins[0] == (0.5, 0.5)
    assert drawn["PaT", "control"].bins == ((0.0, 1.0),)
    assert (drawn["BaT", "cross"].mean, drawn["BaT", "cross"].sd) == (0.5, 0.5)


def test_net_benefit_is_on_one_scale_for_all_dialogues():
    drawn = shapes()
    # BaT 1, 0, 1, 0.5: mean 5/8, variance 11/64. PaT 0, 1, 0, 0: mean 1/4, variance 3/16.
    bat, pat = (11 / 64) ** 0.5, (3 / 16) ** 0.5
    best, worst = (1 - 5 / 8) / bat + (1 / 4) / pat, (0 - 5 / 8) / bat - (3 / 4) / pat
    neutral = (1 / 2 - 5 / 8) / bat + (1 / 4) / pat
    assert drawn["net benefit", "cross"].mean == pytest.approx((best + worst) / 2)
    assert drawn["net benefit", "control"].mean == pytest.approx((best + neutral) / 2)
    assert drawn["net benefit", "control"].sd < drawn["net benefit", "cross"].sd


def test_answers_whose_metrics_are_not_known_are_left_out():
    assert histograms(found(labels("A", ["beneficial"]))) == []
