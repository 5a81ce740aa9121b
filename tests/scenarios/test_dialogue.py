from __future__ import annotations

from tests.factories import make_dialogue, make_tactic

OPENING = ("Is it sound?", "It is.")
SAID = ("Sure?", "Quite.", "Ever hit?", "Not that I know.")


def test_answers_are_what_the_responder_improvised():
    assert [turn.index for turn in make_dialogue(*SAID, opening=OPENING).answers()] == [3, 5]
    assert make_dialogue(opening=OPENING).answers() == ()


def test_the_history_of_a_turn_is_everything_before_it():
    dialogue = make_dialogue(*SAID, opening=OPENING)
    assert dialogue.history(2) == (("initiator", "Is it sound?"), ("responder", "It is."))
    assert dialogue.history(0) == ()
    assert [text for _, text in dialogue.history()] == [*OPENING, *SAID]


def test_printed_a_dialogue_is_read_line_by_line_with_its_labels():
    tactic = make_tactic(intention="Convince", veracity="Quality", illocutionary="Representatives")
    dialogue = make_dialogue(
        "Sure?", "Quite.", opening=("Is it sound?", "It is."), tactics=[tactic]
    )
    assert str(dialogue).splitlines() == [
        "initiator: Is it sound?",
        "responder: It is.",
        "initiator: Sure?",
        "responder: Quite. [Convince · Quality · Representatives]",
    ]
