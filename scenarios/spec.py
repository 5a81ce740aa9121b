"""The scenario: a situation, two roles, and private facts that only one role knows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator

from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Identifier
from scenarios.strict import Strict

RoleKey = Literal["initiator", "responder"]
Text = Annotated[str, Field(min_length=1)]


def _as_tuple(value: object) -> object:
    """Let one text stand where a list of wordings is allowed."""
    return (value,) if isinstance(value, str) else value


_Texts = Annotated[tuple[Text, ...], Field(min_length=1, max_length=12)]
Wordings = Annotated[_Texts, BeforeValidator(_as_tuple, json_schema_input_type=Text | _Texts)]
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
    """How statements and facts refer to it."""
    text: Text
    """One sentence that is either true or false."""


class Statement(Strict):
    """The responder's opening statement: its wordings and the claims it makes."""

    text: Wordings
    """One or two sentences, as the responder says them; or a list of wordings, the default first."""
    claims: tuple[Identifier, ...] = ()
    """Ids of the claims that whoever says this makes."""


class Opening(Strict):
    """The fixed exchange every dialogue starts with.

    Source: HIPO, section 4.2 and appendix C.
    """

    question: Wordings
    """The initiator's first question; or a list of wordings, the default first."""
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
    """Its name in selections, cases and exports."""
    about: Text
    """What it concerns, as a short noun phrase that gives nothing away: ``the repair history``."""
    text: Text
    """One or two full sentences in the third person, true in the simulation."""
    owner: RoleKey = "responder"
    """Who knows it; dialogues are generated for facts of the responder only."""
    bearing: Literal["contradicts", "embarrasses", "explains"]
    """How it bears on the opening statement."""
    contradicts: tuple[Identifier, ...] = ()
    """Ids of the claims that cannot be true if the fact is."""


class Evidence(Strict):
    """Something in the world that would bring facts to light."""

    id: Identifier
    """Its name."""
    label: Text
    """A short noun phrase, e.g. ``body shop invoice``."""
    reveals: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    """Ids of the facts it would bring to light."""


class Placeholder(Strict):
    """A named person or organisation: its fictional alias and, where the record allows, its real name."""

    alias: Text
    """The fictional name that dialogues use."""
    real: Text | None = None
    """The name on the public record, used only where real names are asked for."""


class Source(Strict):
    """A public record that the situation rests on."""

    document: Text
    """What kind of document or ruling, by its title."""
    body: Text
    """Who issued it."""
    date: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]
    """When: YYYY, YYYY-MM or YYYY-MM-DD, in quotes."""


class PublicOutcome(Strict):
    """How the matter ended, as publicly known on a date."""

    text: Text
    """One or two sentences; neither role is told."""
    as_of: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]
    """Until when that is known: YYYY, YYYY-MM or YYYY-MM-DD, in quotes."""


class Scenario(Strict):
    """A situation that dialogues are generated from.

    Texts may hold ``{name}`` where ``name`` is a key of ``placeholders``; :meth:`named` fills them.

    Source: HIPO, section 4.2.
    """

    id: Identifier
    """Its name: lower-case letters, digits and _; the file is called the same, with .yaml."""
    scheme: Identifier = "hipo"
    """The label scheme whose goals, acts, category and tags it uses."""
    title: Text
    """A headline for lists; gives no fact away."""
    category: Text
    """One of the scheme's categories."""
    summary: Text
    """One sentence that says what it is about; gives no fact away."""
    tags: tuple[str, ...] = ()
    """Tags of the scheme, to select scenarios by."""
    languages: tuple[str, ...] = ("en",)
    """Languages the texts are written in (BCP 47)."""
    background: Text
    """Three to six sentences both roles know."""
    roles: dict[RoleKey, Role]
    """The initiator, who asks, and the responder, who knows more than it says."""
    opening: Opening
    """The first question, and what the responder says to it."""
    claims: tuple[Claim, ...] = ()
    """What the responder holds out as true."""
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    """What the responder knows and the initiator does not: three to nine that differ."""
    evidence: tuple[Evidence, ...] = ()
    """What in the world would bring facts to light."""
    felicitous: tuple[str, ...] = ()
    """Labels of the scheme's felicity dimension the responder has the standing for; empty: all."""
    outcome: PublicOutcome
    """How it ended."""
    sources: Literal["fictional"] | Annotated[tuple[Source, ...], Field(min_length=1)]
    """The public records it rests on, or the word fictional."""
    placeholders: dict[Identifier, Placeholder] = Field(default_factory=dict)
    """Names that texts hold as ``{name}``: of people and organisations that exist, above all."""

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

    @field_validator("roles")
    @classmethod
    def _has_both_roles(cls, roles: dict[RoleKey, Role]) -> dict[RoleKey, Role]:
        missing = {"initiator", "responder"} - set(roles)
        if missing:
            raise ValueError(f"the {missing.pop()} is missing")
        return roles


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
