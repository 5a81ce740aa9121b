"""Planning the rounds of a quota: what is asked for, how often, and when a cell is given up."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.aims import Aim, CellKey, unaimed
from pipeline.planning.plan import Plan
from pipeline.planning.shard import Shard
from pipeline.quotas.plan import (
    COUNTED,
    FIRST_TRIES,
    MOST_GROWTH,
    Lanes,
    count_cases,
    gives_up,
    needs,
    plan_round,
    turns_to_ask,
)
from pipeline.quotas.quota import CellTally, Quota, QuotaCell
from scenarios.case import Case
from tests.factories import make_scenario, make_scheme

SCHEME = make_scheme()
PLAN = Plan(SCHEME, [make_scenario()], turns=(2,))


def cell(accepted: int = 2, goal: str | None = None, **labels: str) -> QuotaCell:
    return QuotaCell(tuple(labels.items()), goal, None, accepted, SCHEME.assigned or "")


def planned(
    *tallies: CellTally, plan: Plan = PLAN, arms: int = 1, room: int | None = None
) -> tuple[list[CellKey], list[Case]]:
    """Return the cells that the cases of a round are drawn for, in order, and the cases."""
    quota = Quota(tuple(tally.cell for tally in tallies))
    cases = plan_round(quota, Lanes(plan, quota), tallies, arms=arms, room=room)
    aims = [Aim.of(case) for case in cases]
    return [aim.cell for aim in aims if aim is not None], cases


@pytest.mark.parametrize(("share", "turns"), [(0.5, 1), (0.75, 3), (0.9, 9), (0.01, 1)])
def test_what_is_hard_is_asked_for_once_in_a_dialogue(share: float, turns: int) -> None:
    assert turns_to_ask(share) == turns


def test_a_first_round_asks_for_a_cell_a_few_times_however_many_are_wanted() -> None:
    tally = CellTally(cell(1000, veracity="Manner"))
    quota = Quota((tally.cell,))
    (first,) = needs(quota, Lanes(PLAN, quota), [tally], whole=False)
    assert first.tries == FIRST_TRIES
    (all_of_it,) = needs(quota, Lanes(PLAN, quota), [tally], whole=True)
    assert all_of_it.tries == 2000  # at the half that is assumed


def test_what_waits_for_judges_or_is_still_to_be_played_is_not_asked_for_again() -> None:
    tally = CellTally(cell(1000, veracity="Manner"), unjudged=40, begun=60)
    quota = Quota((tally.cell,))
    (need,) = needs(quota, Lanes(PLAN, quota), [tally], whole=True)
    assert need.tries == 2000 - 100


@pytest.mark.parametrize("goal", [None, "deception"])
def test_the_cases_of_a_large_quota_are_counted_without_drawing_them_all(goal: str | None) -> None:
    tallies = [
        CellTally(cell(9_000_000, goal=goal, veracity="Manner")),
        CellTally(cell(3, veracity="Quantity")),
    ]
    quota = Quota(tuple(tally.cell for tally in tallies))
    lanes = Lanes(PLAN, quota)
    assert count_cases(quota, lanes, tallies, arms=1) == 18_000_006
    assert count_cases(quota, lanes, tallies, arms=1, room=COUNTED + 7) == COUNTED + 7


def test_the_cases_of_a_small_quota_are_counted_one_by_one() -> None:
    tallies = [
        CellTally(cell(3, veracity="Manner")),
        CellTally(cell(3, goal="deception", veracity="Manner")),
    ]
    quota = Quota(tuple(tally.cell for tally in tallies))
    lanes = Lanes(PLAN, quota)
    assert count_cases(quota, lanes, tallies, arms=1) == len(
        plan_round(quota, lanes, tallies, arms=1)
    )


def test_a_later_round_grows_with_what_is_known() -> None:
    tally = CellTally(cell(1000, veracity="Manner"), accepted=10, asked=20, hits=10)
    quota = Quota((tally.cell,))
    (need,) = needs(quota, Lanes(PLAN, quota), [tally], whole=False)
    assert need.tries == MOST_GROWTH * 20


def test_a_cell_in_vain_is_asked_for_up_to_its_limit_and_then_given_up() -> None:
    tally = CellTally(cell(5, veracity="Manner"), asked=50, barren=50)
    quota = Quota((tally.cell,), give_up_after=60)
    (need,) = needs(quota, Lanes(PLAN, quota), [tally], whole=False)
    assert need.tries == 10
    tally.barren = tally.asked = 60
    assert gives_up(tally, quota)
    assert needs(quota, Lanes(PLAN, quota), [tally], whole=False) == []


def test_a_filled_cell_and_one_that_rules_forbid_are_not_drawn() -> None:
    filled = CellTally(cell(2, veracity="Manner"), accepted=2)
    forbidden = CellTally(cell(2, goal="truthful non-disclosure", veracity="Quality"))
    assert planned(filled, forbidden) == ([], [])


def test_cells_take_turns_and_the_same_tallies_give_the_same_round() -> None:
    tallies = [CellTally(cell(3, veracity=label)) for label in ("Manner", "Quantity")]
    cells, cases = planned(*tallies)
    assert cells[:4] == [tallies[0].cell.key, tallies[1].cell.key] * 2
    assert planned(*tallies)[1] == cases
    assert len({case.id for case in cases}) == len(cases)


def test_arms_share_what_is_asked_for() -> None:
    alone = Counter(planned(CellTally(cell(4, veracity="Manner")))[0])
    shared = Counter(planned(CellTally(cell(4, veracity="Manner")), arms=2)[0])
    assert sum(shared.values()) * 2 == sum(alone.values())


def test_what_is_asked_for_a_narrow_cell_counts_for_the_wide_one_that_takes_it_in() -> None:
    narrow = CellTally(cell(2, goal="deception", veracity="Manner"))
    wide = CellTally(cell(2, veracity="Manner"))
    cells, _ = planned(wide, narrow)
    assert set(cells) == {narrow.cell.key}


def test_a_round_has_no_more_cases_than_there_is_room_for() -> None:
    tallies = [CellTally(cell(9, veracity=label)) for label in ("Manner", "Quantity")]
    cells, _ = planned(*tallies, room=3)
    assert len(cells) == 3
    assert set(cells) == {tally.cell.key for tally in tallies}


def test_cases_that_were_drawn_before_are_drawn_again_only_when_all_are_through() -> None:
    wanted = cell(20, veracity="Manner")
    _, first = planned(CellTally(wanted))
    drawn = {unaimed(case).id for case in first}
    _, second = planned(CellTally(wanted, drawn=set(drawn)))
    assert drawn.isdisjoint(unaimed(case).id for case in second)


def test_shards_draw_cases_of_their_own() -> None:
    tally = CellTally(cell(4, veracity="Manner"))
    parts = [
        planned(tally, plan=Plan(SCHEME, [make_scenario()], turns=(2,), shard=Shard(i, 2)))[1]
        for i in (1, 2)
    ]
    assert all(parts)
    assert {c.id for c in parts[0]}.isdisjoint(c.id for c in parts[1])
