"""How a model writes claims about payoffs: the answer format, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from pydantic import ValidationError

from pipeline.reasoning.claims import CLAIM_KINDS, PAYOFF_CLAIM, AboutGame, PayoffClaim
from prompts.answer_fields import ABSENT, Findings, value_of
from prompts.plain_text import one_line
from prompts.responses import ResponseFormat
from prompts.tolerant_json import Answer

MOST: Final = 60
"""Claims of one text; more are no reading of it."""
LONGEST_QUOTE: Final = 300
CLAIMS_BOUND: Final = 12
"""Claims as schemas bound them: a line of one or two sentences makes no more, and as many fit into an
answer, whereas a small model may repeat one for ever."""
QUOTE_BOUND: Final = 160
CHOICE_BOUND: Final = 40
"""Characters of a quote and of the name of a choice as schemas bound them."""
_KEY: Final = "claims"
_AMOUNT = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_AMOUNTS: Final = ("amount", "first", "second")
_CLOSED: Final = ("relation", "extreme", "whose")
_QUOTE: Final = {"type": "string", "description": "the words that make the claim"}


@dataclass(frozen=True, slots=True)
class QuotedClaim:
    """A claim, and the words that make it."""

    claim: PayoffClaim
    quote: str = ""


@dataclass(frozen=True, slots=True)
class DescribedKind:
    """A kind of claim as a prompt explains it."""

    name: str
    means: str
    fields: str
    """The keys besides ``quote`` and ``kind``, with what may stand there."""


def described_kinds() -> tuple[DescribedKind, ...]:
    """Return every kind of claim in words."""
    return tuple(
        DescribedKind(
            str(kind.model_fields["kind"].default),
            kind.means,
            ", ".join(f"{name}: {_shown(name, kind)}" for name in _fields(kind)),
        )
        for kind in CLAIM_KINDS
    )


def claims_format() -> ResponseFormat[tuple[QuotedClaim, ...]]:
    """Return the format of the claims of a text: a list of objects, each of one kind."""
    shape = '{"quote": "<text>", "kind": "<kind>", ...}'
    schema = {
        "type": "object",
        "properties": {
            _KEY: {"type": "array", "items": {"anyOf": [_schema(k) for k in CLAIM_KINDS]}}
        },
        "required": [_KEY],
        "additionalProperties": False,
    }
    shown = f'{{\n  "{_KEY}": [{shape}]\n}}'
    return ResponseFormat("claims", schema, shown, (_KEY,), _read, _bounds())


def _bounds() -> dict[str, int]:
    """Return how many claims there may be, and how long the texts in them."""
    choices = {
        name: CHOICE_BOUND
        for kind in CLAIM_KINDS
        for name in _fields(kind)
        if name not in _AMOUNTS and name not in _CLOSED
    }
    return {_KEY: CLAIMS_BOUND, "quote": QUOTE_BOUND, **choices}


def _fields(kind: type[AboutGame]) -> list[str]:
    return [name for name in kind.model_fields if name != "kind"]


def _options(name: str, kind: type[AboutGame]) -> tuple[str, ...]:
    return tuple(map(str, get_args(kind.model_fields[name].annotation)))


def _shown(name: str, kind: type[AboutGame]) -> str:
    if name in _AMOUNTS:
        return "a number"
    if name in _CLOSED:
        return " or ".join(_options(name, kind))
    return {"mine": "the speaker's choice", "theirs": "the other's choice"}.get(name, "a choice")


def _schema(kind: type[AboutGame]) -> dict[str, object]:
    properties: dict[str, object] = {
        "quote": _QUOTE,
        "kind": {"type": "string", "enum": [kind.model_fields["kind"].default]},
    }
    for name in _fields(kind):
        if name in _AMOUNTS:
            properties[name] = {"type": "number"}
        elif name in _CLOSED:
            properties[name] = {"type": "string", "enum": list(_options(name, kind))}
        else:
            properties[name] = {"type": "string"}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _read(answer: Answer, findings: Findings) -> tuple[QuotedClaim, ...]:
    listed = value_of(answer, _KEY)
    if listed is ABSENT or listed is None:
        findings.missing(_KEY, "a list of claims, empty where there are none")
        return ()
    if not isinstance(listed, list):
        findings.wrong(_KEY, listed, "a list of claims")
        return ()
    if len(listed) > MOST:
        findings.wrong(_KEY, f"{len(listed)} claims", f"at most {MOST}")
        return ()
    claims = []
    for number, item in enumerate(listed):
        claim = _claim(item)
        if claim is None:
            findings.wrong(
                f"{_KEY}[{number}]", item, "a claim of one of the kinds, all keys filled"
            )
        else:
            claims.append(claim)
    return tuple(claims)


def _claim(item: object) -> QuotedClaim | None:
    if not isinstance(item, Mapping):
        return None
    fields: dict[str, Any] = {str(key).strip().lower(): value for key, value in item.items()}
    quote = fields.pop("quote", "")
    try:
        claim = PAYOFF_CLAIM.validate_python({k: _plain(k, v) for k, v in fields.items()})
    except ValidationError:
        return None
    return QuotedClaim(claim, one_line(str(quote or ""))[:LONGEST_QUOTE])


def _plain(name: str, value: object) -> object:
    """Return a value without what models put around it: ``$5``, ``{R}``, ``Highest``."""
    if name in _AMOUNTS:
        found = _AMOUNT.search(str(value)) if isinstance(value, str) else None
        if found is not None:
            return found.group().replace(",", ".")
        return str(value) if isinstance(value, float) else value
    if not isinstance(value, str):
        return value
    text = value.strip().strip("{}'\"* ")
    return text.lower() if name in ("kind", "relation", "extreme", "whose") else text
