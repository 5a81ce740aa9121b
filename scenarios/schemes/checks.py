"""Check a scheme beyond its shape: what is allowed, and yet hardly meant."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.errors import Problem
from scenarios.located import Located, shortened
from scenarios.schemes.model import Scheme


def check_scheme(scheme: Scheme, located: Located) -> Iterator[Problem]:
    """Warn of definitions that say the same, and of a scheme that labels nothing that is said."""
    if all(dimension.id == scheme.assigned for dimension in scheme.dimensions):
        yield located.problem(
            ("dimensions",),
            found="no dimension but the assigned one",
            expected="at least one more: nothing that is said would be labelled",
            hint="add a dimension of level utterance",
            code="nothing-labelled",
            severity="warning",
        )
    for number, dimension in enumerate(scheme.dimensions):
        seen: dict[str, str] = {}
        for index, label in enumerate(dimension.labels):
            told = " ".join(label.definition.casefold().split())
            if told in seen:
                yield located.problem(
                    ("dimensions", number, "labels", index, "definition"),
                    found=f"the definition of {seen[told]!r} again ({shortened(label.definition)})",
                    expected="definitions that tell labels apart",
                    code="same-definition",
                    severity="warning",
                )
            seen.setdefault(told, label.id)
