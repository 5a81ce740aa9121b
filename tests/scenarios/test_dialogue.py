from __future__ import annotations

from scenarios.case import make_case
from scenarios.dialogue import Dialogue, Turn

CASE = make_case(
    scheme="hipo", scenario="s", scenario_fingerprint="f", fact="x", goal="deception", turns=2,
    language="en", variation={}, repetition=0, seed=1,
)  # fmt: skip
TURNS = (
    Turn(0, "initiator", "Is it sound?", "opening"),
    Turn(1, "responder", "It is.", "opening"),
    Turn(2, "initiator", "Sure?", "improvised"),
    Turn(3, "responder", "Quite.", "improvised"),
    Turn(4, "initiator", "Ever hit?", "improvised"),
    Turn(5, "responder", "Not that I know.", "improvised"),
)


def test_answers_are_what_the_responder_improvised():
    assert [turn.index for turn in Dialogue(CASE, "arm", TURNS).answers()] == [3, 5]
    assert Dialogue(CASE, "arm", TURNS[:2]).answers() == ()


def test_the_history_of_a_turn_is_everything_before_it():
    dialogue = Dialogue(CASE, "arm", TURNS)
    assert dialogue.history(2) == (("initiator", "Is it sound?"), ("responder", "It is."))
    assert dialogue.history(0) == ()
    assert dialogue.history() == tuple((turn.role, turn.text) for turn in TURNS)
