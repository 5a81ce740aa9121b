"""Small dialogues for the gates to look at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quality.gates.protocol import GatedDialogue
from tests.factories import make_case, make_dialogue, make_scenario, make_scheme, make_tactic

CAR = make_scenario()
HIPO = make_scheme()
OPENING = (CAR.opening.by_goal[0].question, "I have looked after it since I bought it.")
TND = "truthful non-disclosure"
FACT = CAR.fact("guardrail").text


class Stage:
    """Makes subjects: an opening about a used car, then questions and answers in turn."""

    scheme = HIPO
    scenario = CAR
    fact = FACT
    tnd = TND

    def case(self, *, goal="deception", language="en", repetition=0, scheme="hipo"):
        return make_case(
            scheme=scheme, fact="guardrail", goal=goal, language=language, repetition=repetition
        )

    def play(self, *said, scheme=HIPO, scenario=CAR, arm="a", opening=True, labels=(), **case):
        """Alternate question and answer; ``labels`` are given to the answers in turn."""
        dialogue = make_dialogue(
            *said,
            case=self.case(scheme=scheme.id, **case),
            arm=arm,
            tactics=labels or ((),),
            opening=OPENING if opening else (),
        )
        return GatedDialogue(dialogue, scenario, scheme)

    def answer(self, text, **options):
        """Return a subject whose only answer is ``text``."""
        return self.play("Could you tell me more about the wing?", text, **options)

    def with_fact(self, text):
        """Return the scenario with another text for the fact that dialogues are about."""
        facts = [
            one.model_copy(update={"text": text}) if one.id == "guardrail" else one
            for one in self.scenario.facts
        ]
        return self.scenario.model_copy(update={"facts": tuple(facts)})

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
    return make_tactic
