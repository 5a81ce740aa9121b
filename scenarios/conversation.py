"""Who is there in a scenario, and in which order they speak."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from scenarios.fixed_lines import Text
from scenarios.plural import plural
from scenarios.schemes.model import Identifier
from scenarios.strict import Strict, as_tuple


def _as_range(value: object) -> object:
    """Let one number stand for a range that holds nothing else."""
    return (value, value) if isinstance(value, int) else value


_Rounds = Annotated[int, Field(ge=1, le=200)]
_Sentences = Annotated[int, Field(ge=1, le=50)]
_Words = Annotated[int, Field(ge=1, le=500)]


class Role(Strict):
    """One of the people who are there."""

    name: Text
    """A short noun phrase without article, e.g. ``buyer`` or ``press officer of {carmaker}``."""
    description: Text
    """One or two sentences in the third person; nothing in them is private."""
    aim: Text
    """A verb phrase that follows "to", e.g. ``find out whether the car was ever repaired``."""
    voice: Text | None = None
    """How this person talks, in a line: ``short and dry, says "mate", never raises it``."""
    labelled: bool = False
    """Whether what this person says is labelled; without a flow the responder is."""
    speaks: bool = True
    """Whether this person says anything; somebody may be there and listen."""


class Length(Strict):
    """How long a turn is wanted to be: what actors are told, and what the gates go by."""

    sentences: Annotated[tuple[_Sentences, _Sentences], BeforeValidator(_as_range)] = (1, 3)
    """Sentences: a number, or the least and the most."""
    words: Annotated[tuple[_Words, _Words], BeforeValidator(_as_range)] = (1, 40)
    """Words, about: a number, or the least and the most."""

    @model_validator(mode="after")
    def _grows(self) -> Self:
        for name, (least, most) in (("sentences", self.sentences), ("words", self.words)):
            if least > most:
                raise ValueError(f"{name}: the least is above the most")
        return self

    @property
    def told(self) -> str:
        """Say it as an actor is told."""
        return f"{_span(self.sentences, 'sentence')}, about {_span(self.words, 'word')}"


def _span(ends: tuple[int, int], noun: str) -> str:
    least, most = ends
    return plural(most, noun) if least == most else f"{least} to {plural(most, noun)}"


class Phase(Strict):
    """A part of a conversation: who speaks, in turn, and what it is about."""

    id: Identifier
    """Its name, e.g. ``greeting``."""
    who: Annotated[tuple[Identifier, ...], BeforeValidator(as_tuple), Field(min_length=1)]
    """Ids of the roles, in the order in which they speak; in each round everybody once."""
    rounds: Annotated[tuple[_Rounds, _Rounds], BeforeValidator(_as_range)] = (1, 1)
    """How many rounds there are: a number, or the least and the most, of which each case draws."""
    brief: Text | None = None
    """What happens in it, told to everybody who speaks in it; nothing private."""
    strategies: dict[Identifier, tuple[Text, ...]] = Field(default_factory=dict)
    """By role: ways to go about it, of which it may choose."""
    length: Length | None = None
    """How long its turns are, where they are not as people talk: one to three short sentences."""
    text: Annotated[tuple[Text, ...], BeforeValidator(as_tuple)] = ()
    """Words that are fixed, the default first; nobody improvises in such a phase."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.who)) < len(self.who):
            raise ValueError(
                "who: a role stands twice; in a round everybody speaks once: give more rounds, or"
                " another phase"
            )
        if self.rounds[0] > self.rounds[1]:
            raise ValueError("rounds: the least is above the most")
        if self.text and (len(self.who) != 1 or self.rounds != (1, 1)):
            raise ValueError("text: fixed words are said by one role, once")
        if stranger := next((role for role in self.strategies if role not in self.who), None):
            raise ValueError(f"strategies: {stranger!r} does not speak in this phase")
        return self
