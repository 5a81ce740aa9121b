"""One line of an imported file of dialogues."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from scenarios.case import SOURCE
from scenarios.dialogue import TurnKind
from scenarios.fingerprint import content_id
from scenarios.language_code import LanguageCode
from scenarios.nested_texts import spaced
from scenarios.schemes.model import Identifier
from scenarios.spec import MOST_ROLES
from scenarios.strict import BrokenRule, refuse_broken
from scenarios.terms import INITIATOR, RESPONDER, RoleKey

LONGEST_TEXT = 20_000
"""Characters of one utterance."""
MOST_TURNS = 1_000
LONGEST_NAME = 200
"""Characters of what a dialogue or a speaker is called."""

_ROLES = {
    "user": "initiator", "human": "initiator", "initiator": "initiator", "asker": "initiator",
    "assistant": "responder", "gpt": "responder", "responder": "responder", "model": "responder",
}  # fmt: skip


_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_LONGEST_KEY = 60


def role_key(role: str) -> RoleKey:
    """Return the name of a role as scenarios call roles: ``Judge Smith`` is ``judge_smith``.

    Accents are left out. Of a name with letters that have no other spelling in ASCII a hash tells it
    apart from others.
    """
    plain = unicodedata.normalize("NFKD", role.strip().casefold())
    kept = _NO_LETTER.sub("_", "".join(c for c in plain if not unicodedata.combining(c))).strip("_")
    lost = any(c.isalnum() and not c.isascii() for c in plain)
    kept = kept[: _LONGEST_KEY - 9] + f"_{content_id(plain)[:8]}" if lost else kept[:_LONGEST_KEY]
    return kept if kept[:1].isalpha() else f"role_{kept.strip('_')}".rstrip("_")


def told_apart(keys: Mapping[str, RoleKey]) -> dict[str, RoleKey]:
    """Return the roles of the people of one dialogue, by name, with no two people in one role.

    Names that differ in more than capitals, spaces, ``_`` and ``-`` between words are two people. Where they have one id
    (``Jose`` and ``José``, ``A+`` and ``A-``), a hash is added to it for all but the name that it spells.
    """
    same: dict[RoleKey, set[str]] = {}
    for name, key in keys.items():
        same.setdefault(key, set()).add(_spelling(name, key))
    return {
        name: f"{key[: _LONGEST_KEY - 9]}_{content_id(spelling)[:8]}"
        if len(same[key]) > 1 and (spelling := _spelling(name, key)) != key
        else key
        for name, key in keys.items()
    }


def _spelling(name: str, key: RoleKey) -> str:
    """Return a name without capitals and what stands between words; of another word for a role, that role."""
    plain = _HYPHEN.sub(" ", unicodedata.normalize("NFKC", name).casefold().replace("_", " "))
    plain = "_".join(plain.split())
    return key if _ROLES.get(plain) == key else plain


def _role_called(name: str) -> RoleKey:
    """Understand the names that roles have elsewhere, and make an id of any other name."""
    return _ROLES.get(name.strip().casefold()) or role_key(name)


def name_of(role: RoleKey, called: str) -> str:
    """Return a name as it is written, or of an id and of a word that many have for a role that role."""
    is_role = called == role or _ROLES.get(called.casefold()) == role
    return role.replace("_", " ") if is_role else called


def _role(value: object) -> object:
    """Return the id of a role; what is no name is left to be refused."""
    return _role_called(value) if isinstance(value, str) and value.strip() else value


def _id(value: object) -> object:
    """Take a number for the text that it is."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _given(labels: object) -> object:
    """Leave out what is null: a column that every turn of a set has, and this one has not."""
    if not isinstance(labels, Mapping):
        return labels
    return {name: label for name, label in labels.items() if label is not None}


class _Lenient(BaseModel):
    """Frozen; fields of other people's that we do not know are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)


Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(max_length=LONGEST_NAME)]


class RowLabel(_Lenient):
    """A label in the long form, as ``hipo show --format json`` writes it."""

    dimension: str
    value: Any
    rationale: str = ""
    raw: str | None = None


class RowTurn(_Lenient):
    """One utterance."""

    role: Annotated[Identifier, BeforeValidator(_role)] = Field(
        validation_alias=AliasChoices("role", "from", "speaker")
    )
    called: Annotated[Name, AfterValidator(spaced)] = Field(
        "", validation_alias=AliasChoices("role", "from", "speaker")
    )
    """The role as it is written."""
    text: Text = Field(validation_alias=AliasChoices("content", "text", "value"))
    kind: TurnKind | None = None
    labels: Annotated[dict[str, Any], BeforeValidator(_given)] = Field(default_factory=dict)
    """Label by dimension."""
    rationales: Annotated[dict[str, str], BeforeValidator(_given)] = Field(default_factory=dict)
    """The speaker's reasons for these labels, by dimension."""
    tactic: tuple[RowLabel, ...] = ()
    """The same in the long form."""
    declared_goal: Any = None
    labelled: bool | None = None
    """Whether its role is one whose words are labelled; said once of a role, it holds for all."""


def _in_roles_of_their_own(turns: tuple[RowTurn, ...]) -> tuple[RowTurn, ...]:
    """Return turns of which no two people share a role.

    Raises:
        ValueError: more people speak than a scenario has roles.
    """
    roles = told_apart({turn.called: turn.role for turn in turns})
    if (people := len(set(roles.values()))) > MOST_ROLES:
        raise ValueError(f"{people} people speak, of whom a dialogue has at most {MOST_ROLES}")
    return tuple(turn.model_copy(update={"role": roles[turn.called]}) for turn in turns)


class RowCase(_Lenient):
    """The case of a dialogue, as ``hipo show --format json`` writes it."""

    id: Any = None
    scenario: str | None = None
    fact: str | None = None
    goal: str | None = None
    language: LanguageCode | None = None
    variation: dict[str, str] = Field(default_factory=dict)
    repetition: Annotated[int, Field(ge=0)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0


def _long_form(value: object) -> object:
    """Take what stands in place of a case for its id: a word, a number or nothing."""
    return {"id": value} if value is None or isinstance(value, str | int) else value


class ImportRow(_Lenient):
    """A dialogue: what was said, about which scenario or in which situation."""

    turns: Annotated[
        tuple[RowTurn, ...],
        Field(min_length=1, max_length=MOST_TURNS),
        AfterValidator(_in_roles_of_their_own),
    ] = Field(validation_alias=AliasChoices("messages", "turns", "conversations"))
    id: Annotated[Name | None, BeforeValidator(_id)] = Field(
        None, validation_alias=AliasChoices("id", "dialogue_id", "conversation_id")
    )
    """What it is called where it comes from."""
    case: Annotated[RowCase, BeforeValidator(_long_form)] = RowCase()
    """The case in the long form; a mere id, as rows of a set have, says nothing but whose row it is."""
    arm: Any = None
    """As rows of a set and ``hipo show --format json`` have it."""
    scenario: str | None = None
    """Id of a scenario of the library or of ``--scenario-dir``."""
    fact: str | None = None
    """Id of a fact of that scenario; without a scenario, the fact itself in a sentence."""
    background: Text | None = None
    """The situation, where no scenario is named; a leading system message will do, too."""
    about: Text | None = None
    """What the fact concerns, in a phrase that gives nothing away."""
    initiator: Text | None = None
    """The role of who asks, in a word or two."""
    responder: Text | None = None
    labelled: tuple[str, ...] = ()
    """The roles whose words are labelled, where there are others than initiator and responder: as they
    are written in the turns, or their ids; here the ids."""
    of_scheme: tuple[str, ...] = ()
    """The roles that the scheme is of; whoever reads the line says them, whatever it says itself."""
    goal: str | None = None
    """A goal label; without one, the dialogue is judged but for its goal."""
    language: LanguageCode | None = None
    opening: Annotated[int, Field(ge=0, le=100)] = 0
    """How many exchanges at the start were given, and are not to be judged."""

    @model_validator(mode="before")
    @classmethod
    def _system_is_background(cls, data: Any) -> Any:
        """Take a leading system message for the situation, where none is given."""
        if not isinstance(data, Mapping):
            return data
        for key in ("messages", "turns", "conversations"):
            turns = data.get(key)
            if isinstance(turns, list) and turns and isinstance(turns[0], Mapping):
                first = turns[0]
                if str(first.get("role", first.get("from"))).casefold() == "system":
                    text = first.get("content", first.get("text", first.get("value")))
                    given = {name: data.get(name) for name in ("background", "scenario", "case")}
                    background = text if not any(given.values()) else data.get("background")
                    return {**data, key: turns[1:], "background": background}
                break
        return data

    @field_validator("labelled", mode="after")
    @classmethod
    def _ids_of_roles(cls, labelled: tuple[str, ...], info: ValidationInfo) -> tuple[RoleKey, ...]:
        """Take a name as the turns write it, or the id of a role, for that role."""
        if "turns" not in info.data:  # they have a problem of their own
            return ()
        turns: tuple[RowTurn, ...] = info.data["turns"]
        roles = {turn.role: turn.role for turn in turns} | {
            _spelling(turn.called, ""): turn.role for turn in turns
        }
        names = ", ".join(dict.fromkeys(turn.called for turn in turns))
        found = []
        for place, name in enumerate(labelled):
            role = roles.get(_spelling(name, "")) or roles.get(_role_called(name))
            if role is None:
                refuse_broken([BrokenRule((place,), f"{name!r} says nothing; {names} speak")])
            else:
                found.append(role)
        return tuple(dict.fromkeys(found))

    @model_validator(mode="after")
    def _has_turns(self) -> Self:
        if not self.exchanges_of(self.labelled_roles):
            if all(kind == "opening" for kind in self.kinds):
                raise ValueError("every turn belongs to the opening; there is nothing to judge")
            if self.leaves_roles_to_scenario:
                return self
            who = ", ".join(self.names.values())
            broken = BrokenRule(
                ("labelled",),
                f"those who speak: {who}",
                "the names of those whose words are labelled",
            )
            refuse_broken([broken])
        return self

    @property
    def speakers(self) -> tuple[RoleKey, ...]:
        """The roles that say something, in the order in which they first do."""
        return tuple(dict.fromkeys(turn.role for turn in self.turns))

    @property
    def names(self) -> Mapping[RoleKey, str]:
        """What its speakers are called where they first speak."""
        first = {turn.role: turn.called for turn in reversed(self.turns)}
        return {role: name_of(role, first[role]) for role in self.speakers}

    @property
    def is_pair(self) -> bool:
        """Whether it is question and answer: two roles in turn, the initiator first."""
        pair = (INITIATOR, RESPONDER)
        alternates = all(turn.role == pair[i % 2] for i, turn in enumerate(self.turns))
        return alternates and len(self.turns) % 2 == 0 and not self.labelled

    @property
    def labelled_roles(self) -> tuple[RoleKey, ...]:
        """The roles whose words are labelled: that are named, else whose turns have labels, else of the scheme."""
        if self.is_pair:
            return (RESPONDER,)
        flagged = [turn.role for turn in self.turns if turn.labelled]
        with_labels = [turn.role for turn in self.turns if turn.labels or turn.tactic]
        named = self.labelled or tuple(dict.fromkeys(flagged or with_labels))
        of_scheme = tuple(role for role in self.speakers if role in self.of_scheme)
        return named or of_scheme or tuple(role for role in self.speakers if role == RESPONDER)

    @property
    def kinds(self) -> tuple[TurnKind, ...]:
        """The kind of every turn: its own, or by ``opening``."""
        return tuple(
            turn.kind or ("opening" if place < 2 * self.opening else "improvised")
            for place, turn in enumerate(self.turns)
        )

    @property
    def named_scenario(self) -> str | None:
        """The id of the scenario that it says it is about."""
        return self.scenario or self.case.scenario

    @property
    def variation(self) -> Mapping[str, str]:
        """What is to be told apart: the name of its source, and axes that a run of hipo drew."""
        told = self.case.variation
        arm = self.arm.get("id") if isinstance(self.arm, Mapping) else self.arm
        by_hipo = bool(arm) and f"{self.id}/".startswith(f"{self.case.id}/{arm}/")
        return told if by_hipo or not self.id else {**told, SOURCE: self.id}

    @property
    def leaves_roles_to_scenario(self) -> bool:
        """Whether a scenario with roles of its own says whose words are labelled."""
        return self.named_scenario is not None and not {*self.speakers} <= {INITIATOR, RESPONDER}

    def exchanges_of(self, roles: Collection[RoleKey]) -> int:
        """Count the turns that are to be judged: improvised ones of roles whose words are labelled."""
        return sum(
            turn.role in roles and kind == "improvised"
            for turn, kind in zip(self.turns, self.kinds, strict=True)
        )
