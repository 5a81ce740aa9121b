"""The goals of a scheme under which the hearer is to be misled, and the labels of lies."""

from __future__ import annotations

from collections.abc import Iterator

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


def ruled_out_by_truth(scheme: Scheme) -> Iterator[tuple[str, str]]:
    """Yield each dimension and label that a truthful goal rules out: whoever says it, lies."""
    for rule in scheme.contradictions:
        if scheme.truthful_goals & set(rule.labels.get(scheme.assigned, ())):
            for dimension, labels in rule.labels.items():
                if dimension != scheme.assigned:
                    yield from ((dimension, label) for label in labels)
