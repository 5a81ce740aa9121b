"""The used car, and a small scheme that has every measurement the shipped one lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import scenarios
from prompts.actors import ActorPrompts, ResponderView, responder_view
from prompts.environment import Templates
from scenarios.case import Case
from scenarios.dialogue import Critique, Draft, TacticLabel
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario
from scenarios.yaml_source import read_yaml
from tests.factories import make_case


@pytest.fixture(scope="session")
def hipo() -> Scheme:
    return load_scheme("hipo")


@pytest.fixture(scope="session")
def used_car() -> Scenario:
    path = Path(scenarios.__file__).parent / "library" / "products" / "used_car.yaml"
    return Scenario.model_validate(read_yaml(path).data).named()


@pytest.fixture(scope="session")
def small_scheme() -> Scheme:
    return Scheme.model_validate(
        {
            "id": "haggle",
            "title": "Haggling",
            "assigned": "stance",
            "dimensions": [
                {
                    "id": "stance",
                    "level": "dialogue",
                    "question": "Does the speaker want a deal today?",
                    "labels": [
                        {"id": "eager", "definition": "A deal today is wanted."},
                        {"id": "patient", "definition": "Another day will do."},
                    ],
                },
                {
                    "id": "firmness",
                    "level": "utterance",
                    "measurement": "ordinal",
                    "title": "Firmness",
                    "question": "How firmly is the price held?",
                    "labels": [
                        {"id": "soft", "definition": "It is open.", "aliases": ["lenient"]},
                        {"id": "even", "definition": "It is held.", "example": "That's the price."},
                        {"id": "hard", "definition": "It is beyond discussion."},
                    ],
                },
                {
                    "id": "warmth",
                    "level": "utterance",
                    "measurement": "interval",
                    "question": "How warm is the tone?",
                    "range": [-1, 1],
                },
                {
                    "id": "devices",
                    "level": "utterance",
                    "measurement": "multi",
                    "question": "Which devices are used?",
                    "labels": [
                        {"id": "joke", "definition": "Something is meant to amuse."},
                        {"id": "story", "definition": "Something is told."},
                        {"id": "number", "definition": "A figure is given."},
                    ],
                },
            ],
            "contradictions": [
                {
                    "labels": {"stance": ["eager"], "firmness": ["even", "hard"]},
                    "reason": "Who wants a deal today gives way.",
                }
            ],
        }
    )


@pytest.fixture(scope="session")
def prompts(hipo: Scheme) -> ActorPrompts:
    return ActorPrompts(Templates(), hipo)


@pytest.fixture(scope="session")
def small_prompts(small_scheme: Scheme) -> ActorPrompts:
    return ActorPrompts(Templates(), small_scheme)


CaseOf = Callable[..., Case]


@pytest.fixture(scope="session")
def case_of(used_car: Scenario) -> CaseOf:
    """Return a case of the used car with the given fact and goal."""

    def build(fact: str = "guardrail", goal: str = "deception", language: str = "en") -> Case:
        return make_case(used_car, fact=fact, goal=goal, turns=2, language=language)

    return build


@pytest.fixture(scope="session")
def history(used_car: Scenario) -> tuple[tuple[str, str], ...]:
    opening = used_car.opening.by_goal[0]
    return (
        ("initiator", opening.question),
        ("responder", opening.statement_for("deception").text),
        ("initiator", "Then who painted the wing?"),
    )


@pytest.fixture(scope="session")
def view(used_car: Scenario, hipo: Scheme, case_of: CaseOf) -> ResponderView:
    return responder_view(used_car, hipo, case_of())


@pytest.fixture(scope="session")
def draft() -> Draft:
    return Draft(
        "Nobody has painted it, that's the light in here.",
        "deception",
        (
            TacticLabel("intention", "Convince", "wants the shade explained away"),
            TacticLabel("veracity", "Quality", "denies the new paint"),
            TacticLabel("illocutionary", "Representatives"),
        ),
    )


@pytest.fixture(scope="session")
def critiques() -> tuple[Critique, ...]:
    return (
        Critique("intention", True, "The light is offered as an explanation."),
        Critique("veracity", False, "The shade is only talked about."),
        Critique("illocutionary", True, "A plain claim."),
    )
