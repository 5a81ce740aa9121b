"""One line of an imported file of dialogues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from scenarios.spec import RoleKey

LONGEST_TEXT = 20_000
"""Characters of one utterance."""
MOST_TURNS = 1_000

_ROLES = {
    "user": "initiator", "human": "initiator", "initiator": "initiator", "asker": "initiator",
    "assistant": "responder", "gpt": "responder", "responder": "responder", "model": "responder",
}  # fmt: skip


def _role(value: object) -> object:
    """Understand the names that roles have elsewhere; ``system`` stays what it is."""
    if isinstance(value, str):
        return _ROLES.get(value.strip().casefold(), value.strip().casefold())
    return value


class _Lenient(BaseModel):
    """Frozen; fields of other people's that we do not know are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)


Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]


class RowLabel(_Lenient):
    """A label in the long form, as ``hipo show --format json`` writes it."""

    dimension: str
    value: Any
    rationale: str = ""
    raw: str | None = None


class RowTurn(_Lenient):
    """One utterance."""

    role: Annotated[Literal["initiator", "responder", "system"], BeforeValidator(_role)] = Field(
        validation_alias=AliasChoices("role", "from")
    )
    text: Text = Field(validation_alias=AliasChoices("content", "text", "value"))
    kind: Literal["opening", "improvised"] | None = None
    labels: dict[str, Any] = Field(default_factory=dict)
    """Label by dimension."""
    tactic: tuple[RowLabel, ...] = ()
    """The same in the long form."""
    declared_goal: Any = None

    @property
    def speaker(self) -> RoleKey:
        """Who says it; a system message is nobody's."""
        return "initiator" if self.role == "initiator" else "responder"


class RowCase(_Lenient):
    """The case of a dialogue, as ``hipo show --format json`` writes it."""

    scenario: str | None = None
    fact: str | None = None
    goal: str | None = None
    language: str | None = None
    variation: dict[str, str] = Field(default_factory=dict)
    repetition: Annotated[int, Field(ge=0)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0


class ImportRow(_Lenient):
    """A dialogue: what was said, about which scenario or in which situation."""

    turns: Annotated[tuple[RowTurn, ...], Field(min_length=1, max_length=MOST_TURNS)] = Field(
        validation_alias=AliasChoices("messages", "turns", "conversations")
    )
    case: RowCase = RowCase()
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
    goal: str | None = None
    """A goal label; without one, the dialogue is judged but for its goal."""
    language: str | None = None
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

    @model_validator(mode="after")
    def _alternates(self) -> Self:
        for place, turn in enumerate(self.turns):
            expected = "initiator" if place % 2 == 0 else "responder"
            if turn.role != expected:
                raise ValueError(
                    f"turn {place} is the {turn.role}'s; the initiator (user) begins, and the two "
                    "take turns"
                )
        if len(self.turns) % 2:
            raise ValueError("the last turn is the initiator's; it needs an answer")
        if not any(kind == "improvised" for kind in self.kinds):
            raise ValueError("every turn belongs to the opening; there is nothing to judge")
        return self

    @property
    def kinds(self) -> tuple[Literal["opening", "improvised"], ...]:
        """The kind of every turn: its own, or by ``opening``."""
        return tuple(
            turn.kind or ("opening" if place < 2 * self.opening else "improvised")
            for place, turn in enumerate(self.turns)
        )

    @property
    def exchanges(self) -> int:
        """Answers of the responder that are to be judged."""
        return sum(
            turn.role == "responder" and kind == "improvised"
            for turn, kind in zip(self.turns, self.kinds, strict=True)
        )
