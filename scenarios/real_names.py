"""Real names stand beside facts that a public record states, and beside no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenarios.plural import first_of
from scenarios.spec import Evidence, Scenario


def has_real_names(template: Scenario) -> bool:
    """Return whether a scenario, with its placeholders, knows the real name of anybody."""
    return any(placeholder.real for placeholder in template.placeholders.values())


def with_real_names(template: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Fill the placeholders with real names, and leave out the facts that were made up.

    Where no fact is documented nothing is left out, and the aliases stay: the scenario can be
    read, but is not played with real names.

    Args:
        template: a scenario with its placeholders.

    Returns:
        The filled scenario, and the ids of the facts that may not stand beside real names.
    """
    if not has_real_names(template):
        return template.named(), ()
    invented = tuple(fact.id for fact in template.facts if not fact.documented)
    if not any(fact.documented and fact.owner == "responder" for fact in template.facts):
        return template.named(), invented
    documented = template.model_copy(
        update={
            "facts": tuple(fact for fact in template.facts if fact.documented),
            "evidence": tuple(_without(template.evidence, invented)),
        }
    )
    return documented.named(real=True), invented


def _without(evidence: Sequence[Evidence], facts: Sequence[str]) -> list[Evidence]:
    """Return the evidence for other facts."""
    kept = [(one, tuple(name for name in one.reveals if name not in facts)) for one in evidence]
    return [one.model_copy(update={"reveals": reveals}) for one, reveals in kept if reveals]


def told(left_out: Mapping[str, Sequence[str]]) -> str:
    """Say in one line which facts are not played with real names; nothing where all are.

    Args:
        left_out: ids of facts by the id of their scenario.
    """
    count = sum(map(len, left_out.values()))
    if not count:
        return ""
    names = list(left_out)
    facts = f"{count} fact{'s' if count > 1 else ''}"
    scenarios = f"scenario{'s' if len(names) > 1 else ''} {first_of(names, NAMED)}"
    return f"real names stand beside documented facts only: {facts} of {scenarios} left out"


NAMED = 5
"""Scenarios that are named in one line."""
