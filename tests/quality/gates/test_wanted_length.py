"""How long a turn may be where a scenario with a flow says so itself, part by part."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from prompts.script_view import script_view
from prompts.speaker_view import speaker_view
from quality.gates.protocol import GatedDialogue
from quality.gates.sentence_count import SentenceCount
from quality.gates.word_count import WordCount
from scenarios.conversation import Length
from scenarios.dialogue import Dialogue, Turn
from scenarios.flow import planned_turns
from tests.flows import make_flow_case, make_hearing, make_watched

CLOSE = {
    "id": "close", "who": "clerk", "brief": "The clerk sums up.",
    "length": {"sentences": [4, 6], "words": [20, 60]},
}  # fmt: skip
PLAIN = make_hearing()
SUMMED_UP = make_hearing(
    flow=[*(phase.model_dump(mode="json") for phase in PLAIN.flow[:-1]), CLOSE]
)
LONG = "It was late. It was dark. Nobody saw the van. The fence fell on the roses and lay there."


def flagged(scenario, said, *, case=None):
    """Play ``said`` at every turn that is improvised, and return (code, turn) of what is flagged."""
    case = case or make_flow_case(scenario)
    turns = tuple(
        Turn(n, turn.role, said, "improvised") if turn.text is None
        else Turn(n, turn.role, turn.text, "opening")
        for n, turn in enumerate(planned_turns(scenario, case))
    )  # fmt: skip
    subject = GatedDialogue(Dialogue(case, "arm", turns), scenario, make_watched())
    gates = (SentenceCount(), WordCount())
    found = {(flag.code, flag.turn) for gate in gates for flag in gate.check(subject)}
    return found, len(turns) - 1


def test_people_who_follow_a_flow_may_answer_in_a_word_and_in_three_sentences():
    for said in ("No.", "It was late. It was dark. Nobody saw."):
        found, _ = flagged(PLAIN, said)
        assert not found


def test_a_part_that_wants_more_is_held_to_it_and_the_others_are_not():
    found, last = flagged(SUMMED_UP, LONG)
    assert {turn for code, turn in found if code == "too_many_sentences"} == set(range(1, last))
    assert "word_count" not in {code for code, _ in found}
    found, last = flagged(SUMMED_UP, "Thank you all.")
    assert found == {("word_count", last)}


def test_a_dialogue_that_did_not_go_through_the_flow_is_held_to_the_settings():
    subject = GatedDialogue(
        Dialogue(make_flow_case(), "arm", (Turn(0, "counsel", LONG, "improvised"),)),
        None,
        make_watched(),
    )
    assert [flag.code for flag in SentenceCount().check(subject)] == ["too_many_sentences"]


def test_actors_and_writers_are_told_the_length_of_the_parts_that_name_one():
    case, scheme = make_flow_case(SUMMED_UP), make_watched()
    planned = planned_turns(SUMMED_UP, case)
    told = [speaker_view(SUMMED_UP, scheme, case, turn).length for turn in planned]
    assert told[-1] == "4 to 6 sentences, about 20 to 60 words"
    assert not any(told[:-1])
    script = script_view(SUMMED_UP, scheme, case, planned, manner=lambda role: ())
    assert [part.length for part in script.parts] == ["", told[-1]]


def test_a_scenario_without_lengths_keeps_its_hash_and_one_with_them_has_another():
    before = "52d86644ac4edf2c8cb4a124719fa6e8d77739e02186632f64a4456307dff206"  # made when phases had no length
    assert PLAIN.fingerprint == before != SUMMED_UP.fingerprint


@pytest.mark.parametrize("wrong", [{"words": [9, 3]}, {"sentences": 0}, {"lines": 3}])
def test_a_length_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValidationError):
        Length.model_validate(wrong)


@pytest.mark.parametrize(
    ("length", "told"),
    [
        ({"sentences": 1, "words": [4, 12]}, "1 sentence, about 4 to 12 words"),
        ({"sentences": [1, 2], "words": 1}, "1 to 2 sentences, about 1 word"),
        ({"sentences": 5, "words": 90}, "5 sentences, about 90 words"),
    ],
)
def test_a_length_is_told_in_the_number_that_it_has(length, told):
    assert Length.model_validate(length).told == told
