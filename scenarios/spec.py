"""The scenario: a situation, its roles, and private facts that not everybody knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from scenarios.conversation import Phase, Role
from scenarios.fingerprint import fingerprint
from scenarios.fixed_lines import Opening, Text
from scenarios.schemes.model import Identifier
from scenarios.strict import Strict
from scenarios.terms import INITIATOR, RESPONDER, RoleKey

MOST_ROLES = 12
Gain = Literal["self", "protects", "surprise"]
"""What a lie is for: the liar's own gain, to shield somebody, or to keep a happy surprise."""


class Claim(Strict):
    """Something the responder holds out as true, by saying it in an opening statement or later."""

    id: Identifier
    """How statements and facts refer to it."""
    text: Text
    """One sentence that is either true or false."""


class Cover(Strict):
    """What a deceiver wants believed instead of a fact."""

    claim: Identifier
    """The id of a claim that the fact makes false."""
    gain: Gain = "self"
    """Who gains if it is believed; only ``self`` meets the definition of deception."""


class Fact(Strict):
    """Private knowledge: what not everybody knows. Without a flow a dialogue uses exactly one.

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
    owner: Identifier = RESPONDER
    """Who knows it. Without a flow dialogues are generated for facts of the responder only; with
    one, everybody knows all of their own facts in every dialogue."""
    also_known_by: tuple[Identifier, ...] = ()
    """Who else knows it, with a flow; each of them and the owner knows that the others do."""
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

    @property
    def knowers(self) -> tuple[RoleKey, ...]:
        """Everybody who knows it, the owner first."""
        return (self.owner, *self.also_known_by)

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


class WordingOrigin(Strict):
    """Which model wrote the texts of a scenario in another language."""

    model: Text
    """The model as provider and name, e.g. openai/gpt-4o."""
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    """When: YYYY-MM-DD, in quotes."""
    prompt: Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$")]
    """Hash of what it was asked."""


class Wording(Strict):
    """How the texts of a scenario came about that are translations."""

    origin: WordingOrigin | None = None
    """None: people wrote them."""
    reviewed: Text | None = None
    """Who has read all of them; None: nobody."""


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
    variant_of: Identifier | None = None
    """The id of a scenario that it tells anew, in another language or with other names, if it does:
    both stay in one split of an export."""
    background: Text
    """Three to six sentences both roles know."""
    flow: Annotated[tuple[Phase, ...], Field(max_length=40)] = ()
    """The phases of the conversation; without them it opens, and question and answer alternate."""
    roles: Annotated[dict[Identifier, Role], Field(min_length=1, max_length=MOST_ROLES)]
    """The initiator, who asks, and the responder, who knows more than it says; with a flow, any."""
    opening: Annotated[Opening, Field(validate_default=True)] = Opening()
    """The fixed lines a dialogue starts with, where there is no flow."""
    claims: tuple[Claim, ...] = ()
    """What the responder holds out as true, in fixed lines or as the cover of a fact."""
    facts: Annotated[tuple[Fact, ...], Field(validate_default=True)] = ()
    """What some know and others do not: three to nine that differ; with a flow, any number."""
    goals: tuple[str, ...] = ()
    """Labels of the scheme's assigned dimension that it is made for; empty: all."""
    data: dict[str, Any] = Field(default_factory=dict)
    """What a program needs that checks what is said, e.g. the payoffs of a game; shown to nobody."""
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
    wording: Wording | None = None
    """Of texts that were put into another language; filled where wordings are read."""

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
        """The content hash of everything in the scenario.

        Fields of later versions of hipo are left out where a scenario does not use them: it keeps
        the hash it was stored under.
        """
        plain = self.model_dump(mode="json")
        plain["roles"] = {
            key: {k: v for k, v in role.items() if v is not _ROLE_DEFAULTS.get(k)}
            for key, role in plain["roles"].items()
        }
        for phase in plain["flow"]:
            if phase["length"] is None:
                del phase["length"]
        for fact in plain["facts"]:
            if not fact["also_known_by"]:
                del fact["also_known_by"]
        return fingerprint(
            {k: v for k, v in plain.items() if k not in _DEFAULTS or v != _DEFAULTS[k]}
        )

    @property
    def labelled_roles(self) -> tuple[RoleKey, ...]:
        """The roles whose words are labelled, in order."""
        if not self.flow:
            return (RESPONDER,)
        return tuple(key for key, role in self.roles.items() if role.labelled)

    def private(self, role: RoleKey) -> tuple[Fact, ...]:
        """Return what one role knows and not everybody does, in the order of the scenario."""
        return tuple(fact for fact in self.facts if role in fact.knowers)

    def knowers_named(self, fact: Fact) -> tuple[str, ...]:
        """Return what the roles are called that know a fact, the owner first."""
        roles = self.roles
        return tuple(roles[key].name if key in roles else key for key in fact.knowers)

    def named(self, *, real: bool = False) -> Self:
        """Return the scenario with every placeholder filled by its alias, or its real name."""
        names = {
            key: (p.real if real and p.real else p.alias) for key, p in self.placeholders.items()
        }
        return type(self).model_validate(
            with_names(self.model_dump(exclude={"placeholders"}), names)
        )

    @field_validator("opening")
    @classmethod
    def _opens(cls, opening: Opening, info: ValidationInfo) -> Opening:
        if "flow" not in info.data:  # it is broken itself, which is told
            return opening
        has_flow = bool(info.data["flow"])
        if not has_flow and opening.shared is None and not opening.by_goal:
            raise ValueError("an opening has shared, by_goal, or both")
        if has_flow and opening != Opening():
            raise ValueError("a scenario with a flow has no opening: write a phase with text")
        return opening

    @field_validator("facts")
    @classmethod
    def _has_facts(cls, facts: tuple[Fact, ...], info: ValidationInfo) -> tuple[Fact, ...]:
        if not facts and info.data.get("flow") == ():
            raise ValueError("without a flow a scenario needs at least one fact")
        return facts

    @field_validator("roles")
    @classmethod
    def _are_roles(cls, roles: dict[str, Role], info: ValidationInfo) -> dict[str, Role]:
        if "flow" not in info.data:
            return roles
        flow: tuple[Phase, ...] = info.data["flow"]
        if not flow:
            _check_pair(roles)
            return roles
        improvising = {key for phase in flow if not phase.text for key in phase.who}
        if not any(role.labelled for key, role in roles.items() if key in improvising):
            raise ValueError("nobody who improvises is labelled; set labelled: true")
        return roles


_ROLE_DEFAULTS: Mapping[str, object] = {"labelled": False, "speaks": True}
_DEFAULTS: Mapping[str, object] = {
    "flow": [],
    "goals": [],
    "data": {},
    "wording": None,
    "variant_of": None,
}


def _check_pair(roles: Mapping[str, Role]) -> None:
    """Do nothing where the roles are those of question and answer."""
    strange = [key for key in roles if key not in (INITIATOR, RESPONDER)]
    for key in (INITIATOR, RESPONDER):
        if key not in roles:
            other = f", and {strange[0]!r} is there" if strange else ""
            raise ValueError(f"the {key} is missing{other}; other roles need a flow")
    if strange:
        raise ValueError(f"{strange[0]!r} never speaks; more than two roles need a flow")


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
