"""The goals of a scheme under which the hearer is to be misled."""

from __future__ import annotations

from scenarios.schemes.model import Scheme


def misleading_goals(scheme: Scheme) -> frozenset[str] | None:
    """Return the goals under which the hearer is to be misled; None where the scheme has no say.

    Those are the goals that require something of a turn: a deception has to manipulate somewhere.
    """
    goals = {
        label
        for requirement in scheme.requirements
        for label in requirement.when.get(scheme.assigned, ())
    }
    return frozenset(goals) if goals else None
