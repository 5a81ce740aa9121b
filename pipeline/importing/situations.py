"""Turn situations that come with imported dialogues into scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.importing.rows import ImportRow, role_key, told_apart
from scenarios.fingerprint import content_id
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import INITIATOR, RESPONDER, RoleKey

IMPORTED = "imported_"
"""How the ids of such scenarios begin."""
FACT = "given"
"""The id of the one fact such a scenario has."""
UNKNOWN_DATE = "0001"
NO_BACKGROUND = "Nothing else is known of the situation."
MOST_ROUNDS = 200


def situation(row: ImportRow, scheme: Scheme) -> Scenario:
    """Return the scenario that a row without one of its own describes.

    Rows that say the same about the situation, the people and the fact share one. Question and
    answer with a fact is a scenario of that kind; anything else has a flow of one phase.
    """
    background = row.background or NO_BACKGROUND
    if row.is_pair and row.fact is not None and scheme.assigned:
        return _pair(row, scheme, background, row.fact)
    return _flow(row, scheme, background)


def _pair(row: ImportRow, scheme: Scheme, background: str, fact: str) -> Scenario:
    initiator, responder = row.initiator or "initiator", row.responder or "responder"
    about = row.about or "the matter"
    told = [scheme.id, background, initiator, responder, about, fact]
    return Scenario.model_validate(
        {
            **_common(scheme, told, background, row.language or "en"),
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
            "facts": [{"id": FACT, "about": about, "text": fact}],
        }
    )


def _flow(row: ImportRow, scheme: Scheme, background: str) -> Scenario:
    """Return a scenario whose one phase everybody speaks in; a fact is known to one of them."""
    told_names = {INITIATOR: row.initiator, RESPONDER: row.responder}
    labelled = row.labelled_roles
    told: list[object] = [scheme.id, background, *row.speakers, "", *labelled]
    told += [row.about or "", row.fact or ""]
    told += [{"names": told_names}] if any(told_names.values()) else []
    # Who knows the fact: the responder, or else the first whose words are labelled.
    owner = RESPONDER if RESPONDER in row.speakers else labelled[0]
    facts = [{"id": FACT, "owner": owner, "about": row.about or "the matter", "text": row.fact}]
    return Scenario.model_validate(
        {
            **_common(scheme, told, background, row.language or "en"),
            "roles": {
                key: {
                    **_role(told_names.get(key) or name, "Speaks.", "talk about it"),
                    "labelled": key in labelled,
                }
                for key, name in row.names.items()
            },
            "flow": [{"id": "conversation", "who": list(row.speakers)}],
            "facts": facts if row.fact else [],
        }
    )


def _common(
    scheme: Scheme, told: Sequence[object], background: str, language: str
) -> dict[str, object]:
    spoken = [{"language": language}] if language != "en" else []
    return {
        "id": f"{IMPORTED}{content_id([*told, *spoken])}",
        "scheme": scheme.id,
        "title": "An imported situation",
        "category": "imported",
        "summary": "A situation that came with imported dialogues.",
        "languages": [language],
        "background": background,
        "outcome": {"text": "Not told.", "as_of": UNKNOWN_DATE},
        "sources": "fictional",
    }


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of an imported dialogue of any roles."""

    background: str
    names: Mapping[str, str]
    """By role, what people are called; who is not in ``speaking`` only listens."""
    written: Mapping[str, str]
    """By name, how it is written where its capitals tell nobody apart."""
    speaking: tuple[str, ...]
    """The roles that say something, in the order in which they begin."""
    labelled: tuple[str, ...]
    tag: str = ""
    """Of the scenario; empty: none."""
    language: str = "en"
    """The code of the language that is spoken."""

    @property
    def keys(self) -> Mapping[str, RoleKey]:
        """What everybody is called as a role of a scenario, by role."""
        return told_apart({role: role_key(role) for role in self.names})


def flowing_situation(scheme: Scheme, told: Situation) -> Scenario:
    """Return the scenario of an imported dialogue in which any roles speak in any order.

    Dialogues of which the same is known share one, in which people are called as in the first of them.
    """
    keys = told.keys
    labelled, speaking = ({keys[role] for role in some} for some in (told.labelled, told.speaking))
    content = [scheme.id, told.background, dict(told.names), told.speaking, told.labelled]
    content += [told.tag] if told.tag else []
    return Scenario.model_validate(
        {
            **_common(scheme, content, told.background or NO_BACKGROUND, told.language),
            "tags": [told.tag] if told.tag else [],
            "roles": {
                keys[role]: {
                    **_role(called, "Takes part in the dialogue.", "say what is said"),
                    "labelled": keys[role] in labelled,
                    "speaks": keys[role] in speaking,
                }
                for role, name in told.names.items()
                for called in (told.written.get(name, name),)
            },
            "flow": [
                {
                    "id": "as_it_was",
                    "who": list(dict.fromkeys(keys[role] for role in told.speaking)),
                    "rounds": [1, MOST_ROUNDS],
                }
            ],
        }
    )


def _role(name: str, description: str, aim: str) -> dict[str, str]:
    return {"name": name, "description": description, "aim": aim}
