"""A small scenario that is right in every way, for tests to break one thing at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

Data = dict[str, Any]

_BOAT: Data = {
    "id": "old_boat",
    "title": "A boat for a summer",
    "category": "products",
    "summary": "A teacher wants to hire a sailing boat and asks in what state it is.",
    "tags": ["everyday", "contract"],
    "background": (
        "A small harbour hires out sailing boats by the week. A teacher has picked one from a "
        "list and stands beside it on the jetty. The weather is fair and the list is long."
    ),
    "roles": {
        "initiator": {
            "name": "teacher",
            "description": "A teacher who sails every summer and reads contracts to the end.",
            "aim": "find out whether the boat is fit for a week at sea",
        },
        "responder": {
            "name": "harbour clerk",
            "description": "A clerk who looks after twelve boats and likes a quick handover.",
            "aim": "hire out the boat before noon",
        },
    },
    "opening": {
        "shared": {
            "exchanges": [
                {
                    "question": "How many boats do you hire out?",
                    "answer": "Twelve, and I know them all.",
                    "claims": ["twelve"],
                },
                {"question": "By the day?", "answer": "By the week.", "claims": ["weekly"]},
            ],
            "hard_question": ["Is this boat ready to sail?", "Can I take her out as she is?"],
        },
        "by_goal": [
            {
                "question": "Is this boat ready to sail?",
                "statements": {
                    "deception": {
                        "text": "She is ready, from keel to mast.",
                        "claims": ["ready"],
                    },
                    "truthful non-disclosure": {
                        "text": "You may look at whatever you like.",
                        "claims": ["may_look"],
                    },
                },
            },
        ],
    },
    "claims": [
        {"id": "ready", "text": "The boat is ready to sail."},
        {"id": "may_look", "text": "The teacher may inspect the boat."},
        {"id": "twelve", "text": "The harbour hires out twelve boats."},
        {"id": "weekly", "text": "The harbour hires boats out by the week."},
        {"id": "varnish_only", "text": "The rail was varnished for the season and nothing else."},
    ],
    "facts": [
        {
            "id": "leak",
            "about": "something under the floorboards",
            "text": "The bilge pump has run day and night since a plank split in March.",
            "angle": "When was she last out of the water?",
            "cover": [{"claim": "ready", "gain": "self"}],
            "makes_false": ["ready"],
            "makes_true": ["twelve", "weekly"],
            "leaves_open": ["may_look"],
        },
        {
            "id": "radio",
            "about": "the set on the shelf",
            "text": "The emergency transmitter was lent to a cousin and never came home.",
            "angle": "What have I got on board if I need help?",
            "cover": [{"claim": "ready", "gain": "self"}],
            "makes_false": ["ready"],
            "makes_true": ["twelve", "weekly"],
            "leaves_open": ["may_look"],
        },
        {
            "id": "paint",
            "about": "the colour of the rail",
            "text": "Green varnish hides a burn that a barbecue left in autumn.",
            "angle": "Why has the rail got another colour?",
            "cover": [
                {"claim": "varnish_only", "gain": "self"},
            ],
            "makes_false": ["varnish_only"],
            "makes_true": ["twelve", "weekly"],
            "leaves_open": ["may_look", "ready"],
        },
    ],
    "evidence": [{"id": "logbook", "label": "pump logbook", "reveals": ["leak"]}],
    "felicitous": ["Representatives", "Directives"],
    "outcome": {"text": "The teacher took another boat.", "as_of": "2026-05"},
    "sources": "fictional",
}


@pytest.fixture
def boat() -> Data:
    """The data of a scenario without a fault, safe to change."""
    return copy.deepcopy(_BOAT)


@pytest.fixture
def scenario(boat: Data) -> Scenario:
    return Scenario.model_validate(boat)


@pytest.fixture(scope="session")
def hipo() -> Scheme:
    return load_scheme("hipo")


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write data as the YAML file of a pack, named after its id."""

    def write(data: Data, folder: str = "pack", name: str | None = None) -> Path:
        directory = tmp_path / folder
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / (name or f"{data['id']}.yaml")
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return path

    return write
