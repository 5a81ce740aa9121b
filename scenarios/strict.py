"""The base of every model that is read from a file: frozen, and without unknown fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Frozen model that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


def as_tuple(value: object) -> object:
    """Let one text stand where a list of them is allowed."""
    return (value,) if isinstance(value, str) else value


class BrokenRule(NamedTuple):
    """A rule between the fields of a model that does not hold, and the field to look at."""

    path: tuple[str | int, ...]
    """From the model that checks the rule down to the field, by the keys of a file."""
    message: str
    expected: str = "consistent values"


class BrokenRules(ValueError):
    """What a model raises where rules between its fields do not hold, all of them at once."""

    def __init__(self, rules: Iterable[BrokenRule]) -> None:
        """Hold every broken rule."""
        self.rules = tuple(rules)
        super().__init__("; ".join(rule.message for rule in self.rules))


def refuse_broken(rules: Iterable[BrokenRule]) -> None:
    """Raise :class:`BrokenRules` where there is any."""
    if found := tuple(rules):
        raise BrokenRules(found)
