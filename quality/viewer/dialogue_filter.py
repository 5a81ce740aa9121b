"""Which dialogues a reader wants to see, as it stands in the address of a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

FIELDS = ("scenario", "fact", "goal", "verdict", "strategy", "model", "language")
"""What a dialogue has one value of."""
_LABEL = "label."
LONGEST = 300
"""Characters of one value; more is nobody's wish."""


@dataclass(frozen=True, slots=True)
class DialogueFilter:
    """Everything that a dialogue has to fulfil."""

    text: str = ""
    """Words that are said in it."""
    fields: tuple[tuple[str, str], ...] = ()
    """(field, value) pairs, see ``FIELDS``."""
    labels: tuple[tuple[str, str], ...] = ()
    """(dimension, label) pairs that one and the same utterance declares."""
    flag: str = ""

    @classmethod
    def of(cls, parameters: Iterable[tuple[str, str]]) -> DialogueFilter:
        """Read the parameters of an address; what is no wish is left out."""
        wishes = {name: value.strip()[:LONGEST] for name, value in parameters if value.strip()}
        return cls(
            text=wishes.get("text", ""),
            fields=tuple((name, wishes[name]) for name in FIELDS if name in wishes),
            labels=tuple(
                (name.removeprefix(_LABEL), value)
                for name, value in sorted(wishes.items())
                if name.startswith(_LABEL)
            ),
            flag=wishes.get("flag", ""),
        )

    def field(self, name: str) -> str:
        """Return the value a field has to have; "" for any."""
        return dict(self.fields).get(name, "")

    def label(self, dimension: str) -> str:
        """Return the label a dimension has to have; "" for any."""
        return dict(self.labels).get(dimension, "")

    def with_field(self, name: str, value: str) -> DialogueFilter:
        """Return the filter with another value of a field; "" for any."""
        rest = tuple(pair for pair in self.fields if pair[0] != name)
        return replace(self, fields=(*rest, (name, value)) if value else rest)

    def with_label(self, dimension: str, value: str) -> DialogueFilter:
        """Return the filter with another label of a dimension; "" for any."""
        rest = tuple(pair for pair in self.labels if pair[0] != dimension)
        return replace(self, labels=(*rest, (dimension, value)) if value else rest)

    def with_flag(self, flag: str) -> DialogueFilter:
        """Return the filter with another flag; "" for any."""
        return replace(self, flag=flag)

    @property
    def wishes(self) -> tuple[tuple[str, str], ...]:
        """(name, value) of everything asked for, as parameters of an address."""
        return (
            *((("text", self.text),) if self.text else ()),
            *self.fields,
            *((_LABEL + dimension, value) for dimension, value in self.labels),
            *((("flag", self.flag),) if self.flag else ()),
        )

    @property
    def query(self) -> str:
        """The parameters as part of an address, without the question mark."""
        return urlencode(self.wishes)
