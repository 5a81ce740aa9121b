"""Small dialogues for the gates to look at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quality.gates.protocol import GatedDialogue
from scenarios.case import make_case
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.registry import load_scheme

CAR = Catalogue.load().scenarios["used_car"]
HIPO = load_scheme("hipo")
TND = "truthful non-disclosure"
FACT = CAR.fact("guardrail").text


def tactic(**labels):
    return tuple(TacticLabel(dimension, value) for dimension, value in labels.items())


class Stage:
    """Makes subjects: an opening about a used car, then questions and answers in turn."""

    scheme = HIPO
    scenario = CAR
    fact = FACT
    tnd = TND

    def case(self, *, goal="deception", language="en", repetition=0, scheme="hipo"):
        return make_case(
            scheme=scheme, scenario=CAR.id, scenario_fingerprint="f", fact="guardrail", goal=goal,
            turns=1, language=language, variation={}, repetition=repetition, seed=7,
        )  # fmt: skip

    def play(self, *said, scheme=HIPO, scenario=CAR, arm="a", opening=True, labels=(), **case):
        """Alternate question and answer; ``labels`` are given to the answers in turn."""
        case = self.case(scheme=scheme.id, **case)
        turns = []
        if opening:
            turns = [
                Turn(0, "initiator", CAR.opening.question[0], "opening"),
                Turn(1, "responder", "I have looked after it since I bought it.", "opening"),
            ]
        given = iter(labels)
        for text in said:
            index = len(turns)
            if index % 2:
                turn = Turn(index, "responder", text, "improvised", declared_goal=case.goal,
                            tactic=next(given, ()))  # fmt: skip
            else:
                turn = Turn(index, "initiator", text, "improvised")
            turns.append(turn)
        return GatedDialogue(Dialogue(case, arm, tuple(turns)), scenario, scheme)

    def answer(self, text, **options):
        """Return a subject whose only answer is ``text``."""
        return self.play("Could you tell me more about the wing?", text, **options)

    def change(self, subject, turn, **changes):
        """Return the subject with one turn changed."""
        turns = tuple(
            replace(t, **changes) if t.index == turn else t for t in subject.dialogue.turns
        )
        return replace(subject, dialogue=replace(subject.dialogue, turns=turns))


@pytest.fixture(scope="session")
def stage():
    return Stage()


@pytest.fixture(scope="session")
def labelled():
    return tactic
