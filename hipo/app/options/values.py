"""Values of options as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from scenarios.errors import UsageError

Resume = Literal["never", "if-possible", "always"]
"""What to do with a run or an evaluation that is in the output folder already."""
AnswerFormat = Literal["label-studio", "argilla", "csv", "pdf"]
"""A tool, or a file, that answers of reviewers are written for."""


def split(values: Sequence[str]) -> list[str]:
    """Split repeated and comma-separated values into one list."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def several(values: Sequence[str]) -> tuple[str, ...]:
    """Return names that were given in Python; one without a list around it is one, not its letters."""
    return (values,) if isinstance(values, str) else tuple(values)


def check_named(option: str, value: object, kind: Any) -> None:
    """Do nothing where a value is one that a ``Literal`` names: in Python nothing else checks that.

    Raises:
        UsageError: it is not.
    """
    names = get_args(kind)
    if value not in names:
        raise UsageError(
            f"{option}: found {value!r}", f"it is one of {', '.join(map(repr, names))}"
        )
