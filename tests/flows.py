"""A scenario with a flow and a scheme that assigns nothing, for tests of what is played."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from scenarios.case import Case
from scenarios.flow import improvised_turns
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from tests import factories

_HEARING: dict[str, Any] = {
    "id": "hearing",
    "scheme": "watched",
    "title": "A hearing",
    "category": "courts",
    "summary": "A neighbour is heard about a fence.",
    "background": "A fence between two gardens fell over in June. A neighbour is heard about it.",
    "roles": {
        "clerk": {"name": "clerk", "description": "Keeps the record.", "aim": "keep it in order"},
        "counsel": {
            "name": "lawyer", "description": "Asks for the other side.", "aim": "find out who did it",
            "labelled": True,
        },
        "first_witness": {
            "name": "neighbour", "description": "Lives next door.", "aim": "get home soon",
            "voice": "Dry and short.", "labelled": True,
        },
        "public": {
            "name": "listener", "description": "Sits at the back.", "aim": "listen", "speaks": False,
        },
    },
    "flow": [
        {"id": "oath", "who": "clerk", "text": ["Please state your name.", "Your name, please."]},
        {
            "id": "examination", "who": ["counsel", "first_witness"], "rounds": [2, 3],
            "brief": "The lawyer asks about the night in June.",
            "strategies": {"counsel": ["ask for a time", "read from a letter"]},
        },
        {"id": "close", "who": "clerk", "brief": "The clerk thanks everybody."},
    ],
    "facts": [
        {"id": "saw", "owner": "first_witness", "about": "the night", "text": "A van backed into it."},
        {"id": "tired", "owner": "first_witness", "about": "the sleep", "text": "Pills made it deep."},
        {"id": "photo", "owner": "counsel", "about": "a picture", "text": "A camera caught the plate."},
    ],
    "outcome": {"text": "The fence was mended.", "as_of": "2020"},
    "sources": "fictional",
}  # fmt: skip
_WATCHED: dict[str, Any] = {
    "id": "watched",
    "title": "Watched talk",
    "dimensions": [
        {
            "id": "move", "level": "utterance", "question": "What is done?",
            "labels": [
                {"id": "ask", "definition": "Something is asked.", "for": {"role": "counsel"}},
                {"id": "press", "definition": "An answer is pressed for.", "for": {"role": "counsel"}},
                {"id": "tell", "definition": "Something is told.", "for": {"role": "first_witness"}},
                {"id": "dodge", "definition": "Nothing is told.", "for": {"role": "first_witness"}},
            ],
        },
        {
            "id": "way", "level": "utterance", "question": "In which way?", "when": {"move": "dodge"},
            "of": "first_witness",
            "labels": [
                {"id": "forgets", "definition": "It is said to be forgotten."},
                {"id": "jokes", "definition": "It is laughed off."},
            ],
        },
        {
            "id": "ease", "level": "utterance", "measurement": "interval", "range": [1, 7],
            "question": "How much at ease?", "of": ["counsel", "first_witness"],
        },
    ],
}  # fmt: skip


def make_hearing(**changes: Any) -> Scenario:
    """Return a hearing: a clerk with fixed words, and two labelled roles with facts of their own."""
    return Scenario.model_validate(deepcopy(_HEARING) | changes)


def make_watched(**changes: Any) -> Scheme:
    """Return a scheme that assigns nothing: labels by role, and one that depends on another."""
    return Scheme.model_validate(deepcopy(_WATCHED) | changes)


def make_flow_case(scenario: Scenario | None = None, **changes: Any) -> Case:
    """Return a case of a scenario with a flow: the hearing unless it says otherwise."""
    scenario = scenario or make_hearing()
    fields = {
        "scheme": scenario.scheme,
        "fact": "",
        "goal": "",
        "repetition": 0,
        "seed": 7,
    } | changes
    if "turns" not in fields:
        drawn = improvised_turns(scenario, repetition=fields["repetition"], seed=fields["seed"])
        fields["turns"] = drawn.labelled
    return factories.make_case(scenario, **fields)
