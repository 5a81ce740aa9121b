"""Turn situations that come with imported dialogues into scenarios."""

from __future__ import annotations

from pipeline.importing.rows import ImportRow
from scenarios.fingerprint import content_id
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

FACT = "given"
"""The id of the one fact such a scenario has."""
UNKNOWN_DATE = "0001"


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


def _role(name: str, description: str, aim: str) -> dict[str, str]:
    return {"name": name, "description": description, "aim": aim}
