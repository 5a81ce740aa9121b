"""Runs of turns: merged on equal intentions of one speaker, and what annotators agree on."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from quality.persuasion.runs_of_turns import SpokenTurn, agreed, runs_of_turns

LABELLED = st.tuples(
    st.sampled_from(["persuader", "persuadee"]),
    st.sampled_from([None, "makes_request", "is_willing", "refuses_flatly"]),
)


def turns_of(*said: tuple[str, str | None]) -> list[SpokenTurn]:
    return [SpokenTurn(i, role, f"t{i}", label) for i, (role, label) in enumerate(said)]


def test_turns_in_a_row_of_one_speaker_with_one_intention_are_one_run():
    turns = turns_of(
        ("a", "asks"), ("a", "asks"), ("b", "asks"), ("b", None), ("b", "asks"), ("a", "asks"),
        ("a", "thanks"),
    )  # fmt: skip
    found = [(run.first, run.last, run.role, run.text) for run in runs_of_turns(turns)]
    assert found == [
        (0, 1, "a", "t0 t1"), (2, 2, "b", "t2"), (4, 4, "b", "t4"), (5, 5, "a", "t5"),
        (6, 6, "a", "t6"),
    ]  # fmt: skip


@given(st.lists(LABELLED, max_size=30))
def test_every_labelled_turn_is_in_one_run_and_no_two_runs_could_be_merged(said):
    turns = turns_of(*said)
    runs = runs_of_turns(turns)
    covered = [place for run in runs for place in range(run.first, run.last + 1)]
    assert covered == [turn.index for turn in turns if turn.intention is not None]
    for run in runs:
        own = {(turns[i].role, turns[i].intention) for i in range(run.first, run.last + 1)}
        assert own == {(run.role, run.intention)}
    for one, following in pairwise(runs):
        same = (one.role, one.intention) == (following.role, following.intention)
        assert not same or one.last + 1 < following.first


def test_two_of_three_annotators_decide_and_one_alone_does_not():
    assert agreed(["asks", "thanks", "asks"]) == "asks"
    assert agreed(["asks", "thanks", "doubts"]) is None
    assert agreed(["asks"]) is None
    assert agreed(["asks", "asks", "thanks", "thanks"]) is None
    assert agreed([]) is None
