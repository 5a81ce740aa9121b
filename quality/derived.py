"""Derived dimensions: numbers computed from the labels that one annotator gave a dialogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from scenarios.errors import Problem
from scenarios.extensions import ExtensionPoint
from scenarios.located import Located
from scenarios.plugins import PointName
from scenarios.schemes.model import Scheme
from scenarios.spelling import suggestion
from scenarios.terms import LabelValue

Rows = Sequence[Mapping[str, LabelValue | None]]
"""What one annotator said of one dialogue: the labels by dimension, one row a turn, in order."""


@dataclass(frozen=True, slots=True)
class DerivedFunction:
    """A pure function behind derived dimensions."""

    point: ClassVar[PointName] = "derived"
    name: str
    """What a scheme names it by, e.g. ``cobra.bat``."""
    compute: Callable[[Rows, Mapping[str, object]], list[float | None]]
    """(rows, parameters of the dimension) -> one number a row; None where it cannot be computed.

    Raises UsageError where a parameter or a label is none that it knows.
    """


DERIVED: Final[ExtensionPoint[DerivedFunction]] = ExtensionPoint(
    "derived",
    DerivedFunction,
    {
        "cobra.bat": "quality.strategic.derived:BENEFIT",
        "cobra.pat": "quality.strategic.derived:PENALTY",
        "cobra.nrbat": "quality.strategic.derived:RELATIVE_BENEFIT",
        "cobra.nra": "quality.strategic.derived:RELATIVE_WINS",
    },
)
"""Every function that a scheme's ``derived:`` may name."""


def check_derived(scheme: Scheme, located: Located) -> Iterator[Problem]:
    """Yield the functions that a scheme names and that there are none of."""
    for number, dimension in enumerate(scheme.dimensions):
        if dimension.derived is None or DERIVED.find(dimension.derived.function) is not None:
            continue
        name = dimension.derived.function
        yield located.problem(
            ("dimensions", number, "derived", "function"),
            found=repr(name),
            expected="the name of a function of derived dimensions",
            hint=f"{suggestion(name, DERIVED.names())}; {DERIVED.origin_hint()}",
            code="unknown-function",
        )
