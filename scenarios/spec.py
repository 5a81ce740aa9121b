"""What a scenario is: a situation, two roles, and private facts that only one role knows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Identifier, Strict

RoleKey = Literal["initiator", "responder"]
Text = Annotated[str, Field(min_length=1)]


def _as_tuple(value: object) -> object:
    """Let one text stand where a list of wordings is allowed."""
    return (value,) if isinstance(value, str) else value


Wordings = Annotated[
    tuple[Text, ...], BeforeValidator(_as_tuple), Field(min_length=1, max_length=12)
]
"""The default wording first, then paraphrases of it (drawn by the variation axis ``opening``)."""


class Role(Strict):
    """One of the two people who talk."""

    name: Text
    """A short noun phrase without article, e.g. ``buyer`` or ``press officer of {carmaker}``."""
    description: Text
    """One or two sentences in the third person; nothing in them is private."""
    aim: Text
    """A verb phrase that follows "to", e.g. ``find out whether the car was ever repaired``."""


class Claim(Strict):
    """Something the responder holds out as true, by saying it in an opening statement or later."""

    id: Identifier
    text: Text


class Statement(Strict):
    """The responder's opening statement: its wordings and the claims it makes."""

    text: Wordings
    claims: tuple[Identifier, ...] = ()


class Opening(Strict):
    """The fixed exchange every dialogue starts with.

    Source: HIPO, section 4.2 and appendix C.
    """

    question: Wordings
    statements: Annotated[dict[str, Statement], Field(min_length=1)]
    """By goal label; the key ``any`` serves every goal that has no statement of its own."""

    def statement_for(self, goal: str) -> Statement:
        """Return the statement that fits ``goal``.

        Raises:
            KeyError: neither the goal nor ``any`` has a statement.
        """
        return self.statements[goal] if goal in self.statements else self.statements["any"]


class Fact(Strict):
    """Private knowledge: what one role alone knows. A dialogue uses exactly one fact."""

    id: Identifier
    about: Text
    """What it concerns, as a short noun phrase that gives nothing away: ``the repair history``."""
    text: Text
    """One or two full sentences in the third person, true in the simulation."""
    owner: RoleKey = "responder"
    bearing: Literal["contradicts", "embarrasses", "explains"]
    """How it bears on the opening statement."""
    contradicts: tuple[Identifier, ...] = ()
    """Ids of the claims that cannot be true if the fact is."""


class Evidence(Strict):
    """Something in the world that would bring facts to light."""

    id: Identifier
    label: Text
    """A short noun phrase, e.g. ``body shop invoice``."""
    reveals: Annotated[tuple[Identifier, ...], Field(min_length=1)]


class Placeholder(Strict):
    """A named person or organisation: its fictional alias and, where the record allows, its real name."""

    alias: Text
    real: Text | None = None


class Source(Strict):
    """A public record that the situation rests on."""

    document: Text
    """What kind of document or ruling, by its title."""
    body: Text
    """Who issued it."""
    date: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]


class Outcome(Strict):
    """How the matter ended, as publicly known on a date."""

    text: Text
    as_of: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]


class Scenario(Strict):
    """A situation that dialogues are generated from.

    Texts may hold ``{name}`` where ``name`` is a key of ``placeholders``; :meth:`named` fills them.

    Source: HIPO, section 4.2.
    """

    id: Identifier
    scheme: Identifier = "hipo"
    title: Text
    category: Text
    summary: Text
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    """Languages the texts are written in (BCP 47)."""
    background: Text
    """Three to six sentences both roles know."""
    roles: dict[RoleKey, Role]
    opening: Opening
    claims: tuple[Claim, ...] = ()
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    evidence: tuple[Evidence, ...] = ()
    felicitous: tuple[str, ...] = ()
    """Labels of the scheme's felicity dimension the responder has the standing for; empty: all."""
    outcome: Outcome
    sources: Literal["fictional"] | Annotated[tuple[Source, ...], Field(min_length=1)]
    placeholders: dict[Identifier, Placeholder] = Field(default_factory=dict)

    def fact(self, fact_id: str) -> Fact:
        """Return one fact.

        Raises:
            KeyError: the scenario has no such fact.
        """
        for fact in self.facts:
            if fact.id == fact_id:
                return fact
        raise KeyError(fact_id)

    @property
    def fingerprint(self) -> str:
        """The content hash of everything in the scenario."""
        return fingerprint(self.model_dump(mode="json"))

    def named(self, *, real: bool = False) -> Self:
        """Return the scenario with every placeholder filled by its alias, or its real name."""
        names = {
            key: (p.real if real and p.real else p.alias) for key, p in self.placeholders.items()
        }
        return type(self).model_validate(_fill(self.model_dump(exclude={"placeholders"}), names))

    @model_validator(mode="after")
    def _has_both_roles(self) -> Self:
        missing = {"initiator", "responder"} - set(self.roles)
        if missing:
            raise ValueError(f"roles: {missing.pop()} is missing")
        return self


def _fill(value: object, names: dict[str, str]) -> object:
    """Replace ``{key}`` by its name in every string of a nested value, keys of dicts excepted."""
    if isinstance(value, str):
        for key, name in names.items():
            value = value.replace("{" + key + "}", name)
        return value
    if isinstance(value, dict):
        return {key: _fill(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fill(item, names) for item in value)
    return value
