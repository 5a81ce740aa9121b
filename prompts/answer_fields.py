"""The fields an answer is made of: how each is described to a model, enforced, and read back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from prompts.plain_text import one_line, shortened, spoken, whole
from prompts.tolerant_json import Answer, squash
from scenarios.schemes.model import Dimension
from scenarios.schemes.vocabulary import resolve_label
from scenarios.terms import LabelValue

Kind = Literal["unparseable", "unknown_label", "invalid"]

LONGEST_UTTERANCE = 2_000
"""Characters; far beyond two sentences, so that only runaway answers are refused."""
UTTERANCE_BOUND = 450
"""Characters of an utterance as schemas bound it: half as much again as 45 words of a language with
long ones. Nothing that is within its length is cut off."""
WORD_BOUND = 10
"""The same of each word, where a scenario wants more of them."""
SENTENCE_BOUND = 220
"""Characters of a reason or a plan that is to be one short sentence."""
REASON_BOUND = 600
"""Characters of a reason that is to be one to three sentences."""
THOUGHTS_BOUND = 1_900
"""Characters of thoughts of any length. Below 2,000, from which on llama.cpp takes no bound, and
within ``LONGEST_UTTERANCE``, so that what is cut off here is read all the same."""
_TRUE = frozenset({"true", "yes", "carried", "1"})
_NULL = frozenset({"", "null", "none", "na", "notapplicable"})
_FALSE = frozenset({"false", "no", "notcarried", "0"})


class _Absent:
    """Stands for a key that an answer does not have."""


ABSENT: Final = _Absent()


@dataclass(slots=True)
class Findings:
    """What is wrong with one answer, collected so that all of it can be mended at once."""

    kind: Kind = "unknown_label"
    reasons: list[str] = field(default_factory=list)

    def missing(self, key: str, expected: str) -> None:
        """Note that a key is not there."""
        self.kind = "invalid"
        self.reasons.append(f"{key}: missing, expected {expected}")

    def wrong(self, key: str, found: object, expected: str) -> None:
        """Note a value that no field of this type can have."""
        self.kind = "invalid"
        self.reasons.append(f"{key}: found {quoted(found)}, expected {expected}")

    def unknown(self, key: str, found: object, expected: str) -> None:
        """Note a label that the scheme does not have."""
        self.reasons.append(f"{key}: found {quoted(found)}, expected {expected}")


def quoted(value: object) -> str:
    """Return a value as short JSON on one line."""
    return shortened(_json(value))


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # Lone surrogates or numbers beyond 64 bits; what is nested too deeply has no short form.
        return repr(value) if isinstance(value, (str, int, float)) else f"<{type(value).__name__}>"


def value_of(answer: Answer, key: str) -> object:
    """Return the value of a key in any spelling, or ``ABSENT``."""
    if key in answer:
        return answer[key]
    wanted = squash(key)
    for other, value in answer.items():
        if squash(str(other)) == wanted:
            return value
    return ABSENT


@dataclass(frozen=True, slots=True)
class TextField:
    """A text the model writes freely; read leniently, since nothing depends on its wording."""

    key: str
    about: str
    bound: int = REASON_BOUND
    """Characters it may have where an endpoint takes bounds; see :attr:`ResponseFormat.bounds`."""

    @property
    def schema(self) -> dict[str, object]:
        """The JSON schema of the value."""
        return {"type": "string", "description": self.about}

    @property
    def placeholder(self) -> str:
        """What stands for the value in the skeleton."""
        return '"<text>"'

    def read(self, answer: Answer) -> str:
        """Return the text on one line, empty where there is none."""
        value = value_of(answer, self.key)
        if value is ABSENT or value is None:
            return ""
        return one_line(value if isinstance(value, str) else _json(value))


@dataclass(frozen=True, slots=True)
class UtteranceField:
    """The utterance itself: it must be there and be something a person can say."""

    key: str = "utterance"
    words: int = 0
    """So many are wanted at most; 0: one or two sentences."""

    @property
    def _expected(self) -> str:
        length = f"at most {self.words} words or so" if self.words else "one or two sentences"
        return f"what is said, {length}"

    @property
    def bound(self) -> int:
        """Characters it may have where an endpoint takes bounds."""
        return max(UTTERANCE_BOUND, WORD_BOUND * self.words)

    @property
    def schema(self) -> dict[str, object]:
        """The JSON schema of the value."""
        return {"type": "string", "description": self._expected}

    @property
    def placeholder(self) -> str:
        """What stands for the value in the skeleton."""
        return '"<text>"'

    def read(self, answer: Answer, findings: Findings) -> str:
        """Return the utterance without speaker tag and enclosing quotes."""
        value = value_of(answer, self.key)
        expected = self._expected
        if value is ABSENT or value is None:
            findings.missing(self.key, expected)
            return ""
        if not isinstance(value, str):
            findings.wrong(self.key, value, expected)
            return ""
        text = spoken(value)
        if not any(map(str.isalnum, text)) or text == "<text>":
            findings.wrong(self.key, value, expected)
        elif len(text) > max(LONGEST_UTTERANCE, self.bound):
            findings.wrong(self.key, f"{len(text):,} characters", expected)
        return text


@dataclass(frozen=True, slots=True)
class FlagField:
    """A yes or no."""

    key: str
    about: str

    @property
    def schema(self) -> dict[str, object]:
        """The JSON schema of the value."""
        return {"type": "boolean", "description": self.about}

    @property
    def placeholder(self) -> str:
        """What stands for the value in the skeleton."""
        return "<true or false>"

    def read(self, answer: Answer, findings: Findings) -> bool:
        """Return the flag; the words yes and no, and 1 and 0, are understood too."""
        value = value_of(answer, self.key)
        if value is True or value is False:
            return value is True
        if value is ABSENT or value is None:
            findings.missing(self.key, "true or false")
            return False
        word = squash(str(value))
        if word not in _TRUE | _FALSE:
            findings.wrong(self.key, value, "true or false")
        return word in _TRUE


class LabelField:
    """The label of one dimension."""

    def __init__(
        self, dimension: Dimension, key: str | None = None, *, optional: bool = False
    ) -> None:
        """Describe the dimension once.

        Args:
            dimension: what is asked.
            key: defaults to its id.
            optional: whether an answer may be null, because the dimension is not always asked.
        """
        self.key = key or dimension.id
        self.dimension = dimension
        self.optional = optional
        self.conditional = any(label.applies for label in dimension.labels)
        """Whether some label can be chosen only beside certain other ones."""
        self._exact = (
            frozenset(dimension.values)
            if dimension.measurement in ("nominal", "ordinal")
            else frozenset()
        )

    @property
    def schema(self) -> dict[str, object]:
        """The JSON schema of the value.

        The range of an interval stands in the description: strict modes of some endpoints refuse
        ``minimum`` and ``maximum``.
        """
        labels = list(self.dimension.values)
        if self.dimension.measurement == "interval":
            return {"type": self._type("number"), "description": self.expected}
        if self.dimension.measurement == "multi":
            return {"type": self._type("array"), "items": {"type": "string", "enum": labels}}
        return {"type": self._type("string"), "enum": [*labels, None] if self.optional else labels}

    def _type(self, name: str) -> object:
        return [name, "null"] if self.optional else name

    @property
    def placeholder(self) -> str:
        """What stands for the value in the skeleton."""
        return self.listing(self.dimension.values)

    @property
    def expected(self) -> str:
        """What the value may be, e.g. ``one of: A | B`` or ``number from 1 to 7``."""
        return self._expected(self.dimension.values)

    def listing(self, options: Sequence[str]) -> str:
        """Return what stands for the value in a skeleton that lists the labels as given."""
        expected = f"<{self._expected(options)}>"
        if self.dimension.measurement == "interval":
            return expected
        quoted_options = _json(expected)
        return f"[{quoted_options}]" if self.dimension.measurement == "multi" else quoted_options

    def _expected(self, options: Sequence[str]) -> str:
        if self.dimension.range is not None and self.dimension.measurement == "interval":
            low, high = self.dimension.range
            return f"number from {low:g} to {high:g}{', or null' if self.optional else ''}"
        listed = " | ".join(map(one_line, options))
        kind = "any of" if self.dimension.measurement == "multi" else "one of"
        return f"{kind}: {listed}{', or null' if self.optional else ''}"

    def is_null(self, answer: Answer) -> bool:
        """Whether nothing, null or a word for it stands in its place."""
        value = value_of(answer, self.key)
        if value is ABSENT or value is None:
            return True
        return isinstance(value, str) and squash(value) in _NULL - {squash(x) for x in self._names}

    @property
    def _names(self) -> tuple[str, ...]:
        labels = self.dimension.labels
        return tuple(name for label in labels for name in (label.id, *label.aliases))

    def written(self, answer: Answer) -> str:
        """Return what the model wrote in its place, on one line; empty where there is nothing."""
        value = value_of(answer, self.key)
        if value is ABSENT:
            return ""
        return one_line(value if isinstance(value, str) else _json(value))

    def read(self, answer: Answer, findings: Findings) -> tuple[LabelValue, str | None]:
        """Return the label and, where it was spelled otherwise, what the model wrote.

        A label that cannot be resolved is noted in ``findings`` and returned as an empty string.
        """
        raw = value_of(answer, self.key)
        if isinstance(raw, str) and raw in self._exact:
            return raw, None
        if raw is ABSENT:
            findings.missing(self.key, self.expected)
            return "", None
        return self._resolve(raw, findings)

    def _resolve(self, raw: object, findings: Findings) -> tuple[LabelValue, str | None]:
        asked = raw
        if isinstance(raw, float) and not math.isfinite(raw):
            asked = None
        elif raw is None:
            # A model that means a label called "None" may well write null.
            asked = "None"
        elif isinstance(raw, list) and len(raw) == 1 and self.dimension.measurement != "multi":
            asked = raw[0]
        if isinstance(asked, (str, int, float, list)):
            resolved = resolve_label(self.dimension, asked)
            if resolved is not None:
                value, normalised = resolved
                changed = normalised or asked is not raw
                written = whole(raw) if isinstance(raw, str) else _json(raw)
                return value, written if changed else None
        if raw is None:
            findings.missing(self.key, self.expected)
        else:
            findings.unknown(self.key, raw, self.expected)
        return "", None


AnswerField = TextField | UtteranceField | FlagField | LabelField


def object_schema(fields: Sequence[AnswerField]) -> dict[str, object]:
    """Return the JSON schema of an object with exactly these fields, in this order."""
    return {
        "type": "object",
        "properties": {f.key: f.schema for f in fields},
        "required": [f.key for f in fields],
        "additionalProperties": False,
    }


def text_bounds(fields: Sequence[AnswerField]) -> dict[str, int]:
    """Return how many characters each text may have, by key; none where servers take no such bound."""
    texts = [f for f in fields if isinstance(f, TextField | UtteranceField)]
    return {f.key: f.bound for f in texts if f.bound <= THOUGHTS_BOUND}


def list_bounds(fields: Sequence[AnswerField]) -> dict[str, int]:
    """Return how many values each list may have, by key: every label once."""
    multiple = [
        f for f in fields if isinstance(f, LabelField) and f.dimension.measurement == "multi"
    ]
    return {f.key: len(f.dimension.labels) for f in multiple if f.dimension.labels}


def is_list(schema: Mapping[str, Any], key: str) -> bool:
    """Return whether a list stands under a key of an object, or of one of those it lists."""
    values = schema.get("properties", {})
    if key in values:
        return "array" in values[key].get("type", "")
    items = [value["items"] for value in values.values() if "items" in value]
    return any(is_list(one, key) for item in items for one in item.get("anyOf", [item]))


def usual_size(schema: Mapping[str, Any], bounds: Mapping[str, int]) -> int:
    """Return how many bytes an object usually has, as JSON on several lines.

    Texts are taken to be half as long as they may be, and labels to be the longest that there are.

    Args:
        schema: of the object, as :func:`object_schema` makes it.
        bounds: characters that texts may have, by key.
    """
    of_keys = sum(len(_json(key)) + len("    : ,\n") for key in schema["properties"])
    return of_keys + sum(
        _usual_value(value, bounds.get(key, REASON_BOUND))
        for key, value in schema["properties"].items()
    )


def _usual_value(schema: Mapping[str, Any], bound: int) -> int:
    labels = schema.get("enum", schema.get("items", {}).get("enum"))
    if labels is not None:
        sizes = [len(_json(label)) for label in labels]
        return max(sizes) if "enum" in schema else sum(sizes)
    is_text = schema["type"] == "string" or "string" in schema["type"]
    return bound // 2 if is_text else len("false")


def skeleton(fields: Sequence[AnswerField]) -> str:
    """Return the object as a model is shown it: one key per line, a placeholder for each value."""
    lines = ",\n".join(f'  "{f.key}": {f.placeholder}' for f in fields)
    return f"{{\n{lines}\n}}"
