"""The scenario: a situation, two roles, and private facts that only one role knows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

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
Gain = Literal["self", "protects", "surprise"]
"""What a lie is for: the liar's own gain, to shield somebody, or to keep a happy surprise."""


class Role(Strict):
    """One of the two people who talk."""

    name: Text
    """A short noun phrase without article, e.g. ``buyer`` or ``press officer of {carmaker}``."""
    description: Text
    """One or two sentences in the third person; nothing in them is private."""
    aim: Text
    """A verb phrase that follows "to", e.g. ``find out whether the car was ever repaired``."""
    voice: Text | None = None
    """How this person talks, in a line: ``short and dry, says "mate", never raises it``."""


class Claim(Strict):
    """Something the responder holds out as true, by saying it in an opening statement or later."""

    id: Identifier
    """How statements and facts refer to it."""
    text: Text
    """One sentence that is either true or false."""


class Statement(Strict):
    """What the responder says to an opening question under one goal, and the claims it makes."""

    text: Text
    """One or two sentences, as the responder says them."""
    claims: tuple[Identifier, ...] = ()
    """Ids of the claims that whoever says this makes."""


class EasyExchange(Strict):
    """A public question and its answer: true, complete, the same under every goal."""

    question: Text
    """What the initiator asks first; nobody has a reason to lie about it."""
    answer: Text
    """The whole truth about that question, by what the scene and the roles say."""
    claims: tuple[Identifier, ...] = ()
    """Ids of the claims the answer makes; none that a fact makes false or misleading."""


class SharedOpening(Strict):
    """An opening that is the same under every goal, so that it cannot give the goal away."""

    exchanges: Annotated[tuple[EasyExchange, ...], Field(min_length=1, max_length=12)]
    """The first of them is the default; a dialogue starts with one."""
    hard_question: Wordings
    """The initiator's fixed first line after that: the question this is all about."""


class GoalOpening(Strict):
    """An opening question with one statement for each goal that answers this very question."""

    question: Text
    """What the initiator asks."""
    statements: Annotated[dict[str, Statement], Field(min_length=1)]
    """By goal label; the key ``any`` serves every goal that has no statement of its own."""

    def statement_for(self, goal: str) -> Statement:
        """Return the statement that fits ``goal``.

        Raises:
            KeyError: neither the goal nor ``any`` has a statement.
        """
        return self.statements[goal] if goal in self.statements else self.statements["any"]


class Opening(Strict):
    """The fixed lines every dialogue starts with: shared by all goals, or one for each.

    Source of the openings by goal: HIPO, section 4.2 and appendix C.
    """

    shared: SharedOpening | None = None
    """What runs with ``--openings shared`` start with."""
    by_goal: tuple[GoalOpening, ...] = ()
    """What runs with ``--openings by-goal`` start with, the default first."""

    @model_validator(mode="before")
    @classmethod
    def _from_version_1(cls, data: object) -> object:
        """Read the form in which hipo 0.1 stored openings: wordings of a question and statements."""
        if not isinstance(data, Mapping) or not {"question", "statements"} <= set(data):
            return data
        questions = _listed(data["question"])
        statements = data["statements"]
        if not isinstance(statements, Mapping):
            return data
        wordings = {goal: _listed(_field(said, "text")) for goal, said in statements.items()}
        length = math.lcm(*map(len, (questions, *wordings.values())))  # every question with each
        return {
            "by_goal": [
                {
                    "question": questions[i % len(questions)],
                    "statements": {
                        goal: {
                            "text": texts[i % len(texts)],
                            "claims": _field(statements[goal], "claims") or (),
                        }
                        for goal, texts in wordings.items()
                    },
                }
                for i in range(length)
            ]
        }

    @model_validator(mode="after")
    def _opens(self) -> Self:
        if self.shared is None and not self.by_goal:
            raise ValueError("an opening has shared, by_goal, or both")
        return self

    @property
    def statements(self) -> Iterator[tuple[str, Statement]]:
        """Yield every statement by goal with its goal."""
        for opening in self.by_goal:
            yield from opening.statements.items()


class Cover(Strict):
    """What a deceiver wants believed instead of a fact."""

    claim: Identifier
    """The id of a claim that the fact makes false."""
    gain: Gain = "self"
    """Who gains if it is believed; only ``self`` meets the definition of deception."""


class Fact(Strict):
    """Private knowledge: what one role alone knows. A dialogue uses exactly one fact.

    Every claim of the scenario that a fixed line makes, and every cover of the fact, stands in one
    of the four lists: what the fact does to it, for a speaker who knows the scene and this fact
    and nothing else.
    """

    id: Identifier
    """Its name in selections, cases and exports."""
    about: Text
    """What it concerns, as a short noun phrase that gives nothing away: ``the repair history``."""
    text: Text
    """One or two full sentences in the third person, true in the simulation."""
    owner: RoleKey = "responder"
    """Who knows it; dialogues are generated for facts of the responder only."""
    documented: bool = False
    """Whether a public record states it; only such facts ever stand beside real names."""
    angle: Text | None = None
    """A question an outsider could ask without knowing the fact, which puts it in play."""
    cover: Annotated[tuple[Cover, ...], Field(max_length=4)] = ()
    """What a deceiver would have believed instead, the likeliest first."""
    makes_false: tuple[Identifier, ...] = ()
    """Ids of the claims that are false if the fact is true."""
    misleads: tuple[Identifier, ...] = ()
    """Ids of the claims that are not false, but leave a false belief as an answer to the question."""
    makes_true: tuple[Identifier, ...] = ()
    """Ids of the claims that are true, by the scene or by the fact, and leave no false belief."""
    leaves_open: tuple[Identifier, ...] = ()
    """Ids of the claims that scene and fact say nothing about."""

    @model_validator(mode="before")
    @classmethod
    def _from_version_1(cls, data: object) -> object:
        """Read the form in which hipo 0.1 stored facts: ``bearing`` and ``contradicts``."""
        if not isinstance(data, Mapping) or "bearing" not in data:
            return data
        kept = {k: v for k, v in data.items() if k not in ("bearing", "contradicts")}
        return {**kept, "makes_false": data.get("contradicts", ())}


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
    """The fixed lines a dialogue starts with."""
    claims: tuple[Claim, ...] = ()
    """What the responder holds out as true, in fixed lines or as the cover of a fact."""
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
        return type(self).model_validate(
            with_names(self.model_dump(exclude={"placeholders"}), names)
        )

    @field_validator("roles")
    @classmethod
    def _has_both_roles(cls, roles: dict[RoleKey, Role]) -> dict[RoleKey, Role]:
        missing = {"initiator", "responder"} - set(roles)
        if missing:
            raise ValueError(f"the {missing.pop()} is missing")
        return roles


def _listed(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def with_names(value: object, names: Mapping[str, str]) -> object:
    """Replace ``{key}`` by its name in every string of a nested value, keys of dicts excepted."""
    if isinstance(value, str):
        for key, name in names.items():
            value = value.replace("{" + key + "}", name)
        return value
    if isinstance(value, dict):
        return {key: with_names(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(with_names(item, names) for item in value)
    return value
