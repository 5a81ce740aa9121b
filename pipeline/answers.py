"""One choice of a reply: what can be read from it, or why it cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pipeline.providers.protocol import Choice
from pipeline.store.calls import ChoiceRow
from prompts.responses import ResponseFormat, Unreadable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReadChoice(Generic[T]):
    """A choice and what could be read from it."""

    choice: ChoiceRow
    value: T | None
    reasons: tuple[str, ...] = ()
    """Why it cannot be used; empty where it can."""

    def get(self) -> T:
        """Return what was read.

        Raises:
            ValueError: nothing could be read.
        """
        if self.reasons or self.value is None:
            raise ValueError(f"an answer that is {self.choice.status} has no value")
        return self.value


def choice_row(sample: int, epoch: int, choice: Choice) -> ChoiceRow:
    """Return a choice as it is stored, its status yet unknown."""
    text = choice.text
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which no database and no prompt can hold
        text = text.encode("utf-8", "replace").decode()
    return ChoiceRow(sample, epoch, "", choice.finish, text)


def read_choice(row: ChoiceRow, fmt: ResponseFormat[T]) -> ReadChoice[T]:
    """Read a choice and give it its status."""
    value: T | None = None
    reasons: tuple[str, ...] = ()
    status = "ok"
    if row.finish == "length":
        status = "truncated"
        reasons = ("answer: found one that was cut off, expected a complete one: use fewer words",)
    elif row.finish == "refusal":
        status = "refusal"
        reasons = ("answer: found a refusal, expected the JSON object that was asked for",)
    elif not row.text.strip():
        status = "empty"
        reasons = ("answer: found nothing, expected the JSON object that was asked for",)
    else:
        try:
            value = fmt.read(row.text)
        except Unreadable as error:
            status, reasons = error.kind, error.reasons
    if status != row.status:
        row = ChoiceRow(row.sample, row.epoch, status, row.finish, row.text)
    return ReadChoice(row, value, reasons)
