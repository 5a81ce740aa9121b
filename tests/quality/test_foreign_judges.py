"""What judges of plugins return: nothing is stored or counted that is no judgement."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from quality.judges.foreign import ForeignJudge
from quality.judges.protocol import JudgeIdentity
from scenarios.verdicts import Judgement
from tests.quality.scripted import ARM, CAR, HIPO, dialogue

pytestmark = pytest.mark.anyio
SEAT = JudgeIdentity("external", "mine", "config")
PLAYED = dialogue()
GOOD = Judgement(
    PLAYED.case.id, ARM, 3, "external", "mine", "veracity", "Quality", True, "r", "Manner"
)


class Judge:
    seat = None

    def __init__(self, returned):
        self.returned = returned

    async def judge(self, dialogue, scenario, epoch):
        return self.returned


async def judged(*returned):
    return await ForeignJudge(Judge(list(returned)), HIPO, SEAT).judge(PLAYED, CAR, 0)


async def test_judgements_pass_as_they_are():
    unread = replace(GOOD, turn=None, dimension="goal", value=None, carried=None, second=None)
    own = replace(GOOD, dimension="warmth", value=0.5, second=None)
    assert await judged(GOOD, unread, own) == [GOOD, unread, own]
    assert await judged() == []


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"value": "Truth"}, ValueError, "the judge mine named veracity 'Truth', which the scheme"),
        ({"second": "Truth"}, ValueError, "named veracity 'Truth'"),
        (
            {"dimension": "warmth", "value": math.nan},
            TypeError,
            "nan as value, not a valid string or a finite number or",
        ),
        ({"dimension": "warmth", "value": math.inf}, TypeError, "inf as value"),
        ({"value": object()}, TypeError, "as value"),
        ({"carried": "no"}, TypeError, "'no' as carried, not a valid boolean"),
        ({"reason": None}, TypeError, "None as reason"),
        ({"reason": "\ud800"}, ValueError, "surrogates"),
        ({"turn": -1}, ValueError, "judged turn -1, which is not there"),
        ({"turn": 99}, ValueError, "judged turn 99"),
        ({"turn": 1.5}, TypeError, "1.5 as turn"),
        ({"case": "another"}, ValueError, "judged the dialogue another/"),
        (
            {"judge": "openai/o4-mini"},
            ValueError,
            "signed as external openai/o4-mini, not external",
        ),
    ],
)
async def test_what_is_none_is_an_error_of_its_dialogue(changes, error, told):
    with pytest.raises(error, match=told):
        await judged(replace(GOOD, **changes))


async def test_a_judge_has_one_vote_on_what_it_judges():
    with pytest.raises(ValueError, match="judged veracity of turn 3 twice: it has one vote"):
        await judged(GOOD, replace(GOOD, carried=False))


@pytest.mark.parametrize("returned", [None, {"turn": 3}, "none"])
async def test_what_is_no_list_is_an_error(returned):
    with pytest.raises(TypeError, match="not a list of Judgement"):
        await ForeignJudge(Judge(returned), HIPO, SEAT).judge(PLAYED, CAR, 0)
