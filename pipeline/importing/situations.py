"""Turn situations that come with imported dialogues into scenarios."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.importing.rows import ImportRow
from scenarios.fingerprint import content_id
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

FACT = "given"
"""The id of the one fact such a scenario has."""
UNKNOWN_DATE = "0001"
MOST_ROUNDS = 200


def situation(row: ImportRow, scheme: Scheme) -> Scenario:
    """Return the scenario that a row with a background and a fact of its own describes.

    Rows that say the same about the situation, the people and the fact share one.

    Raises:
        ValueError: the row has no background or no fact.
    """
    if row.background is None or row.fact is None:
        raise ValueError("a situation needs a background and a fact")
    initiator, responder = row.initiator or "initiator", row.responder or "responder"
    about = row.about or "the matter"
    told = [scheme.id, row.background, initiator, responder, about, row.fact]
    return Scenario.model_validate(
        {
            "id": f"imported_{content_id(told)}",
            "scheme": scheme.id,
            "title": "An imported situation",
            "category": "imported",
            "summary": "A situation that came with imported dialogues.",
            "languages": [row.language or "en"],
            "background": row.background,
            "roles": {
                "initiator": _role(initiator, "Asks.", "find out about it"),
                "responder": _role(responder, "Answers.", "answer"),
            },
            "opening": {
                "by_goal": [
                    {
                        "question": "(as in the dialogue)",
                        "statements": {"any": {"text": "(as in the dialogue)"}},
                    }
                ],
            },
            "facts": [{"id": FACT, "about": about, "text": row.fact}],
            "outcome": {"text": "Not told.", "as_of": UNKNOWN_DATE},
            "sources": "fictional",
        }
    )


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of an imported dialogue of any roles."""

    background: str
    names: Mapping[str, str]
    """By role, what people are called; who is not in ``speaking`` only listens."""
    speaking: tuple[str, ...]
    """The roles that say something, in the order in which they begin."""
    labelled: tuple[str, ...]


def flowing_situation(scheme: Scheme, told: Situation) -> Scenario:
    """Return the scenario of an imported dialogue in which any roles speak in any order.

    Dialogues of which the same is known share one.
    """
    keys = {role: _identifier(role) for role in told.names}
    content = [scheme.id, told.background, dict(told.names), told.speaking, told.labelled]
    return Scenario.model_validate(
        {
            "id": f"imported_{content_id(content)}",
            "scheme": scheme.id,
            "title": "An imported situation",
            "category": "imported",
            "summary": "A situation that came with imported dialogues.",
            "background": told.background or "Nothing else is known of the situation.",
            "roles": {
                keys[role]: {
                    **_role(name, "Takes part in the dialogue.", "say what is said"),
                    "labelled": role in told.labelled,
                    "speaks": role in told.speaking,
                }
                for role, name in told.names.items()
            },
            "flow": [
                {
                    "id": "as_it_was",
                    "who": [keys[role] for role in told.speaking],
                    "rounds": [1, MOST_ROUNDS],
                }
            ],
            "outcome": {"text": "Not told.", "as_of": UNKNOWN_DATE},
            "sources": "fictional",
        }
    )


def _identifier(role: str) -> str:
    """Return the name of a role as scenarios call roles."""
    kept = re.sub(r"[^a-z0-9]+", "_", role.casefold()).strip("_")[:60]
    return kept if kept[:1].isalpha() else f"role_{kept}".rstrip("_")


def _role(name: str, description: str, aim: str) -> dict[str, str]:
    return {"name": name, "description": description, "aim": aim}
