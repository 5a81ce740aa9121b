"""What a row of an exported data set says: lines of the conversation, an answer, its labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from outputs.contamination.comparable import Row, nested_texts
from outputs.dataset.columns import PROVENANCE
from prompts.chat_lines import BEGIN, GO_ON
from scenarios.terms import RESPONDER

_SAID = re.compile(r"^([A-Z][A-Z0-9_ -]{1,40}): (.*)$", re.MULTILINE)
_TO_LABEL = re.compile(r"^Utterance: (.*)$", re.MULTILINE)
_PROVENANCE = frozenset(column.name for column in PROVENANCE)
_LABEL = "label_"
UTTERANCE = "utterance"

Said = tuple[tuple[str, str], ...]
"""(role, text) of the lines from the first on, as far as the row shows them."""


@dataclass(frozen=True, slots=True)
class RowText:
    """What one row holds of a dialogue."""

    said: Said
    """Lines from the first on; empty where the row shows none."""
    utterance: str
    """What is to be labelled, or said; empty where it is the conversation, or cannot be told."""
    labels: Mapping[str, str]
    """By dimension; empty where the row is about the conversation."""
    role: str = RESPONDER
    """Who says it."""


def label_dimensions(row: Row) -> list[str]:
    """Return the dimensions that a row has a column for."""
    return [name.removeprefix(_LABEL) for name in row if name.startswith(_LABEL)]


def row_text(row: Row) -> RowText:
    """Read the row of a benchmark set, or of a training set in any format that hipo writes.

    Prompts of training rows are read by the forms of the prompts that ship; of others, only what
    stands in columns is known.
    """
    labels = {
        name.removeprefix(_LABEL): value
        for name, value in row.items()
        if name.startswith(_LABEL) and isinstance(value, str)
    }
    role = row.get("role")
    role = role if isinstance(role, str) and role else RESPONDER
    context = row.get("context")
    if isinstance(context, Sequence) and not isinstance(context, str):
        said = [(str(t["role"]), str(t["content"])) for t in context if isinstance(t, Mapping)]
        utterance = row.get(UTTERANCE)
        return RowText(tuple(said), utterance if isinstance(utterance, str) else "", labels, role)
    own = {k: v for k, v in row.items() if k not in _PROVENANCE and not k.startswith(_LABEL)}
    texts = [text for value in own.values() for text in nested_texts(value)]
    found = [(role.lower(), text) for whole in texts for role, text in _SAID.findall(whole)]
    asked = [text for whole in texts for text in _TO_LABEL.findall(whole)]
    if not found and not asked:
        found = list(_chat_lines(own.values(), answers=bool(labels)))
    utterance = asked[-1] if asked else answer_of(texts[-1])[0] if texts else ""
    return RowText(tuple(found), utterance, labels, role)


def _chat_lines(columns: Iterable[object], *, answers: bool) -> Iterator[tuple[str, str]]:
    """Yield what comes before the last line of a chat, in which whoever is learnt from assists.

    Args:
        columns: of a row, in order.
        answers: whether that is the responder, whose lines have labels.
    """
    whole = [m for column in columns if isinstance(column, list) for m in column]
    said = [_message(message) for message in whole if isinstance(message, Mapping)]
    for who, text in [pair for pair in said if pair[0] != "system"][:-1]:
        if text not in (BEGIN, GO_ON):
            own = who in ("assistant", "gpt")
            yield ("responder" if own == answers else "initiator"), text


def _message(message: Mapping[str, object]) -> tuple[str, str]:
    who = message.get("role", message.get("from"))
    return str(who), str(message.get("content", message.get("value")))


def answer_of(text: str) -> tuple[str, Mapping[str, object]]:
    """Return the utterance of an answer as actors give it, and everything else in it.

    An answer that is no JSON is the utterance; one without an utterance has none.
    """
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text, {}
    if not isinstance(found, dict):
        return text, {}
    utterance = found.get(UTTERANCE)
    return (utterance if isinstance(utterance, str) else ""), found
