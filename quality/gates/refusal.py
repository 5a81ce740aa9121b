"""The actor falls out of its role: it refuses to play, or speaks as a machine that serves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, cast

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension, quoted
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.yaml_source import read_yaml

PHRASES = Path(__file__).parent / "data" / "refusals.yaml"


class RefusalSettings(Strict):
    """What only a machine would say."""

    refusal_phrases: tuple[Annotated[str, Field(min_length=3)], ...] = ()
    """Further phrases that only a machine would say, beside those that ship."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Looks for what assistants say and people in a conversation do not."""

    more: Sequence[str] = ()
    """Further phrases, taken literally, whatever their case."""
    code: ClassVar[str] = "refusal"
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Put the phrases together."""
        own = [re.escape(" ".join(phrase.split())) for phrase in self.more]
        object.__setattr__(self, "_pattern", _compiled((*_shipped(), *own)))

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every improvised turn that holds such a phrase."""
        found = []
        for turn in subject.improvised:
            text = " ".join(turn.text.replace("\u2019", "'").split())
            if match := self._pattern.search(text):
                reason = f"speaks as a machine: {quoted(match[0])}"
                found.append(subject.flag(self.code, reason, turn))
        return found


@lru_cache(maxsize=1)
def _shipped() -> tuple[str, ...]:
    """Return the patterns that ship, of all languages: a machine may fall back into English."""
    data = cast("dict[str, list[str]]", read_yaml(PHRASES).data)
    return tuple(pattern for patterns in data.values() for pattern in patterns)


@lru_cache(maxsize=16)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


GATE = GateExtension(Refusal.code, RefusalSettings, lambda its: Refusal(its.refusal_phrases))
