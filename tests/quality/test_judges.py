"""Judges: what they are asked, what they are believed, and what becomes of nonsense."""

from __future__ import annotations

import pytest

from pipeline.providers.errors import RateLimited
from quality.judges.comparison import agrees, tolerance_of
from quality.verification.flags import (
    ballots,
    judge_codes,
    judgement_flags,
)
from scenarios.schemes.model import Dimension, Scheme
from scenarios.verdicts import Judgement
from tests.quality.scripted import (
    ARM,
    CAR,
    HIPO,
    Asker,
    Oracle,
    dialogue,
    external_judge,
    self_judge,
    verifying_judge,
)

pytestmark = pytest.mark.anyio


async def judged(judge, played=None, epoch=0):
    return await judge.judge(played or dialogue(), CAR, epoch)


def found(judgements):
    return {(j.turn, j.dimension): (j.value, j.carried) for j in judgements}


def vote(judge, carried, *, turn=3, dimension="veracity", source="external", reason="r"):
    return Judgement("c", ARM, turn, source, judge, dimension, None, carried, reason)


async def test_the_self_judge_labels_every_improvised_answer_and_the_goal_once():
    oracle = Oracle(labels={"veracity": "Manner"})
    asker = Asker(oracle)
    judgements = await judged(self_judge(asker), dialogue(turns=2))
    assert found(judgements) == {
        (3, "intention"): ("Convince", True),
        (3, "veracity"): ("Manner", False),
        (3, "illocutionary"): ("Representatives", True),
        (5, "intention"): ("Convince", True),
        (5, "veracity"): ("Manner", False),
        (5, "illocutionary"): ("Representatives", True),
        (None, "goal"): ("deception", True),
    }
    assert [(c.purpose, c.turn, c.role) for c in asker.contexts] == [
        ("self-turn", 3, "self test/own"),
        ("self-turn", 5, "self test/own"),
        ("self-dialogue", 6, "self test/own"),
    ]
    assert all(j.source == "self" and j.judge == "test/own" for j in judgements)
    # The second answer is judged in the light of the first, and not of itself.
    conversation = oracle.asked[1][1][1].split("# Conversation so far")[1].split("# Utterance")[0]
    assert "number 0 0." in conversation
    assert "number 0 1." not in conversation


async def test_an_external_judge_commits_to_labels_and_agreement_is_computed():
    oracle = Oracle(labels={"veracity": "Manner", "veracity_second": "Quality"})
    judgements = await judged(external_judge(Asker(oracle)))
    assert found(judgements) == {
        (3, "intention"): ("Convince", True),
        (3, "veracity"): ("Manner", False),
        (3, "illocutionary"): ("Representatives", True),
        (3, "coherence"): ("coherent", True),
        (None, "goal"): ("deception", True),
        (None, "misled"): ("misled", True),
    }
    assert {j.dimension: j.second for j in judgements}["veracity"] == "Quality"
    assert {j.dimension: j.second for j in judgements}["coherence"] is None
    # Nothing that was declared is in what it is shown.
    said = "".join(text for messages in oracle.asked for _, text in messages[1:])
    assert "Declared" not in said
    assert not [label for label in ("Quality", "Convince", "Representatives") if label in said]


async def test_a_runner_up_that_is_missing_or_the_label_again_costs_nothing():
    for second in ("Quality", "no such label"):
        oracle = Oracle(labels={"veracity_second": second})
        judgements = await judged(external_judge(Asker(oracle)))
        (veracity,) = [j for j in judgements if j.dimension == "veracity"]
        assert (veracity.value, veracity.second, veracity.carried) == ("Quality", None, True)


async def test_a_judge_that_is_shown_the_labels_says_carried_and_labels_the_rest_blind():
    asker = Asker(Oracle(verdicts={"veracity_carried": False}, labels={"coherence": "incoherent"}))
    judgements = await judged(verifying_judge(asker))
    assert found(judgements) == {
        (3, "intention"): (None, True),
        (3, "veracity"): (None, False),
        (3, "illocutionary"): (None, True),
        (3, "coherence"): ("incoherent", False),
        (None, "goal"): ("deception", True),
        (None, "misled"): ("misled", True),
    }
    assert {j.reason for j in judgements if j.dimension == "veracity"} == {"why veracity_reason"}


async def test_a_scheme_without_dimensions_for_readers_is_asked_about_none(small):
    oracle = Oracle(labels={"stance": "a", "warmth": 1.0, "pace": 7, "means": ["a"]})
    played = dialogue(goal="a", scheme="small")
    judgements = await judged(external_judge(Asker(oracle), small), played)
    assert {j.dimension for j in judgements} == {"warmth", "pace", "means", "stance"}
    assert not [m for m in oracle.asked if "misled" in m[0][1] or "coheren" in m[0][1]]


async def test_what_is_not_declared_is_labelled_but_agrees_with_nothing():
    bare = dialogue()
    turns = (*bare.turns[:3], type(bare.turns[3])(3, "responder", "No.", "improvised"))
    played = type(bare)(bare.case, bare.arm, turns)
    own = found(await judged(self_judge(Asker(Oracle())), played))
    assert own[3, "veracity"] == ("Quality", None)
    other = found(await judged(verifying_judge(Asker(Oracle())), played))
    assert set(other) == {(3, "coherence"), (None, "goal"), (None, "misled")}
    assert judgement_flags(HIPO, played, await judged(self_judge(Asker(Oracle())), played)) == []


async def test_an_unreadable_answer_is_one_flag_and_leaves_the_others():
    played = dialogue(turns=2)
    oracle = Oracle(garbled="number 0 1.")
    judgements = await judged(external_judge(Asker(oracle)), played)
    assert [j.dimension for j in judgements if not j.readable] == [
        "intention", "veracity", "illocutionary", "coherence", "goal", "misled",
    ]  # fmt: skip
    flags = judgement_flags(HIPO, played, judgements)
    assert [(f.code, f.turn) for f in flags] == [
        ("judge_unreadable", 5),
        ("judge_unreadable", None),
    ]
    assert flags[0].reason.startswith("external test/other: ")


def test_an_unreadable_judge_is_named_once():
    reason = "external test/other, external-turn: answer: found nothing"
    unread = Judgement("case", "arm", 3, "external", "test/other", "goal", None, None, reason)
    [flag] = judgement_flags(HIPO, dialogue(), [unread])
    assert flag.reason == "external test/other: external-turn: answer: found nothing"


async def test_a_provider_that_does_not_answer_is_no_judgement():
    asker = Asker(Oracle())
    asker.raising = RateLimited("slow down")
    with pytest.raises(RateLimited):
        await judged(self_judge(asker))


async def test_the_goal_is_compared_with_the_one_assigned():
    played = dialogue(goal="truthful non-disclosure")
    judgements = await judged(self_judge(Asker(Oracle())), played)
    assert found(judgements)[None, "goal"] == ("deception", False)
    codes = {f.code: f for f in judgement_flags(HIPO, played, judgements)}
    assert set(codes) == {"goal_self"}
    assert "assigned truthful non-disclosure, read as deception" in codes["goal_self"].reason


@pytest.mark.parametrize(
    ("goal", "misled", "flagged"),
    [
        ("deception", "misled", False),
        ("deception", "not misled", True),
        ("truthful non-disclosure", "not misled", False),
        ("truthful non-disclosure", "misled", True),
    ],
)
async def test_a_goal_and_its_effect_on_the_hearer_have_to_fit(goal, misled, flagged):
    played = dialogue(goal=goal)
    judge = external_judge(Asker(Oracle(labels={"misled": misled, "goal": goal})))
    codes = [f.code for f in judgement_flags(HIPO, played, await judged(judge, played))]
    assert codes == (["misled_external"] if flagged else [])


async def test_the_retry_epoch_reaches_the_call():
    asker = Asker(Oracle())
    await judged(self_judge(asker), epoch=2)
    assert {c.epoch for c in asker.contexts} == {2}


def test_the_codes_that_judges_can_raise_are_known_in_advance():
    assert judge_codes(HIPO) == [
        "self_intention", "self_veracity", "self_illocutionary", "goal_self",
        "external_intention", "external_veracity", "external_illocutionary",
        "external_coherence", "goal_external", "misled_external", "judge_unreadable",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("votes", "severity"),
    [
        ([True], None),
        ([False], 1.0),
        ([True, True, False], None),
        ([True, False, False], 2 / 3),
        ([True, False], 0.5),
        ([None, True], None),
        ([None, False], 1.0),
        ([None], None),
    ],
)
def test_a_panel_objects_by_majority_and_a_tie_objects(votes, severity):
    cast = [vote(f"m/{i}", carried) for i, carried in enumerate(votes)]
    (ballot,) = ballots(cast)
    assert ballot.objection == severity
    assert ballot.votes == tuple(cast)
    flags = [f for f in judgement_flags(HIPO, dialogue(), cast) if f.code == "external_veracity"]
    assert [f.severity for f in flags] == ([] if severity is None else [severity])


def test_a_panels_flag_names_who_objected_and_why():
    cast = [vote("m/a", False, reason="it is vague"), vote("m/b", True), vote("m/c", False)]
    (flag,) = judgement_flags(HIPO, dialogue(), cast)
    assert flag.reason == ("declared Quality (m/a: not carried: it is vague; m/c: not carried: r)")


def test_votes_on_different_questions_are_counted_apart():
    cast = [vote("m/a", False), vote("m/a", True, turn=5), vote("m/b", True, turn=5)]
    assert [(b.turn, len(b.votes), b.objection) for b in ballots(cast)] == [
        (3, 1, 1.0),
        (5, 2, None),
    ]


@pytest.fixture
def small() -> Scheme:
    labels = [{"id": "a", "definition": "A."}, {"id": "b", "definition": "B."}]
    return Scheme.model_validate(
        {
            "id": "small", "title": "Small", "assigned": "stance",
            "dimensions": [
                {"id": "stance", "level": "dialogue", "question": "?", "labels": labels},
                {"id": "warmth", "level": "utterance", "measurement": "interval", "question": "?",
                 "range": [-1, 1], "points": 5},
                {"id": "pace", "level": "utterance", "measurement": "interval", "question": "?",
                 "range": [0, 10]},
                {"id": "means", "level": "utterance", "measurement": "multi", "question": "?",
                 "labels": labels},
            ],
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "one", "other", "same"),
    [
        ("warmth", 0.5, 0.0, True),  # one step between points
        ("warmth", 0.5, -0.5, False),
        ("pace", 3.0, 4.0, True),  # a tenth of the range
        ("pace", 3.0, 4.01, False),
        ("means", ("a", "b"), ("b", "a"), True),
        ("means", ("a",), ("a", "b"), False),
        ("stance", "a", "a", True),
        ("stance", "a", "b", False),
    ],
)
def test_labels_agree_within_what_their_measurement_allows(small, name, one, other, same):
    assert agrees(small.dimension(name), one, other) is same


async def test_judges_of_a_scheme_with_numbers_work_from_the_scheme_alone(small):
    labels = {"warmth": 0.5, "pace": 3.0, "means": ("a",)}
    bare = dialogue(goal="a", scheme="small")
    from_scheme = type(bare.turns[3].tactic[0])
    tactic = tuple(from_scheme(name, value) for name, value in labels.items())
    answer = type(bare.turns[3])(3, "responder", "No.", "improvised", (), "a", tactic)
    played = type(bare)(bare.case, bare.arm, (*bare.turns[:3], answer))
    oracle = Oracle(labels={"stance": "a", "warmth": 1.0, "pace": 7, "means": ["a"]})
    judgements = await judged(self_judge(Asker(oracle), small), played)
    assert found(judgements) == {
        (3, "warmth"): (1.0, True),
        (3, "pace"): (7.0, False),
        (3, "means"): (("a",), True),
        (None, "stance"): ("a", True),
    }
    own = verifying_judge(
        Asker(Oracle(labels={"stance": "a"}, verdicts={"pace_carried": False})), small
    )
    others = await judged(own, played)
    codes = [f.code for f in judgement_flags(small, played, [*judgements, *others])]
    assert codes == ["self_pace", "external_pace"]


def test_tolerance_needs_a_range():
    dimension = Dimension.model_validate(
        {"id": "x", "level": "utterance", "question": "?",
         "labels": [{"id": "a", "definition": "A."}, {"id": "b", "definition": "B."}]}
    )  # fmt: skip
    assert tolerance_of(dimension) == 0.0
