"""The initiator says again and again that its questions are not answered."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, cast

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension, quoted
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.yaml_source import read_yaml

PHRASES = Path(__file__).parent / "data" / "dodge_remarks.yaml"


class DodgeSettings(Strict):
    """How often the initiator may remark on dodging."""

    most_dodge_remarks: Annotated[int, Field(ge=0, le=50)] = 1
    """Such lines label the answer before them for whoever reads along; one a dialogue is human."""


@dataclass(frozen=True, slots=True)
class DodgeRemarks:
    """Counts the initiator's lines that say that a question was dodged."""

    its: DodgeSettings = field(default_factory=DodgeSettings)
    code: ClassVar[str] = "dodge_remarks"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every such line after those that are let pass; the severity is its number."""
        found = []
        count = 0
        for turn in subject.improvised:
            if turn.role != "initiator":
                continue
            match = _pattern().search(turn.text.replace("\u2019", "'"))
            if match is None:
                continue
            count += 1
            if count > self.its.most_dodge_remarks:
                reason = f"remark {count} on dodging: {quoted(match[0])}"
                found.append(subject.flag(self.code, reason, turn, float(count)))
        return found


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    patterns = [pattern for listed in _phrases().values() for pattern in listed]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


@cache
def _phrases() -> dict[str, list[str]]:
    """Return the patterns by the language they are in."""
    return cast("dict[str, list[str]]", read_yaml(PHRASES).data)


GATE = GateExtension(
    DodgeRemarks.code,
    DodgeSettings,
    DodgeRemarks,
    reads=lambda code: code in _phrases(),
)
