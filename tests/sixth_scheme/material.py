"""The scheme and the scenario of a stranger, and a mediation that was held."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario
from tests.factories import ARM, make_case, make_tactic

FOLDER = Path(__file__).parent
SCHEME_FILE = FOLDER / "mediation.yaml"
SCENARIO_FILE = FOLDER / "scenarios" / "pear_tree.yaml"
SAID: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("mediator", "Thank you both for coming. Mr Bode, you wrote to us: please begin.", {}),
    ("tenant", "You pay for the three slabs, they cost me the whole terrace.",
     {"move": "demand", "ground": "a loss"}),
    ("owner", "No.", {"move": "refuse", "ground": "nothing"}),
    ("tenant", "The first slab stood up in October.", {"move": "tell"}),
    ("owner", "I could have somebody look at the roots.", {"move": "offer"}),
    ("mediator", "Let us hear what each of you proposes.", {"move": "direct"}),
    ("owner", "I will pay for half of the slabs.", {"move": "offer"}),
    ("tenant", "Then I would lay them myself.", {"move": "offer"}),
)  # fmt: skip


@cache
def mediation() -> Scheme:
    """Return the scheme."""
    return load_scheme(str(SCHEME_FILE))


@cache
def pear_tree() -> Scenario:
    """Return the scenario."""
    return Scenario.model_validate(yaml.safe_load(SCENARIO_FILE.read_text())).named()


def shared_secret() -> Scenario:
    """Return the scenario, with a fact that the mediator knows, too."""
    tree = pear_tree()
    roots, flat = tree.facts
    known = roots.model_copy(update={"also_known_by": ("mediator",)})
    return tree.model_copy(update={"facts": (known, flat)})


def mediation_case(**changes: object) -> Case:
    """Return a case without a goal, and without one private fact of its own."""
    fields = {"scheme": "mediation", "fact": "", "goal": "", "turns": 3}
    return make_case(pear_tree(), **(fields | changes))


def held(*, arm: str = ARM, repetition: int = 0) -> Dialogue:
    """Return what was said, with the labels that speakers declare."""
    turns = [
        Turn(
            index,
            role,
            text if index < 7 or not repetition else f"{text} That is number {repetition}.",
            "improvised" if labels else "opening",
            tactic=make_tactic("so it is", **labels),
            labelled=True,
        )
        for index, (role, text, labels) in enumerate(SAID)
    ]
    return Dialogue(mediation_case(repetition=repetition), arm, tuple(turns))
