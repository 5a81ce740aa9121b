"""Select scenarios and facts by patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from scenarios.errors import UsageError
from scenarios.pack import where_example
from scenarios.spec import Fact, Scenario
from scenarios.spelling import OWN_FOLDER, suggestion

_TAG = "tag:"
_THERE = "categories and scenarios"


def select_scenarios(
    scenarios: Sequence[Scenario], patterns: Sequence[str] | None
) -> list[Scenario]:
    """Return the scenarios that any pattern names, each once, in the order given.

    Args:
        scenarios: what to choose from.
        patterns: ids, categories, globs over ids or ``category/id``, or ``tag:`` with a tag or a
            glob; None or none at all chooses everything.

    Raises:
        UsageError: a pattern names nothing; says the nearest name there is.
    """
    if not patterns:
        return list(scenarios)
    chosen: set[str] = set()
    for pattern in patterns:
        matching = {s.id for s in scenarios if _names_scenario(pattern.strip(), s)}
        if not matching:
            raise _no_scenario(pattern.strip(), scenarios)
        chosen |= matching
    return [scenario for scenario in scenarios if scenario.id in chosen]


def select_facts(
    scenarios: Iterable[Scenario], patterns: Sequence[str] | None = None
) -> list[tuple[Scenario, Fact]]:
    """Return the facts of the responder that any pattern names, with their scenarios.

    Args:
        scenarios: the scenarios that were selected.
        patterns: ``fact`` or ``scenario/fact``, both with globs; None or none at all chooses every
            fact of the responder.

    Raises:
        UsageError: a pattern names no fact, or only facts that the responder does not own.
    """
    pairs = [(scenario, fact) for scenario in scenarios for fact in scenario.facts]
    playable = [pair for pair in pairs if pair[1].owner == "responder"]
    if not patterns:
        return playable
    chosen: set[tuple[str, str]] = set()
    for pattern in patterns:
        wanted = pattern.strip()
        matching = {(s.id, f.id) for s, f in playable if names_fact(wanted, s, f)}
        if not matching:
            raise _no_fact(wanted, pairs)
        chosen |= matching
    return [(s, f) for s, f in playable if (s.id, f.id) in chosen]


def _names_scenario(pattern: str, scenario: Scenario) -> bool:
    if pattern.startswith(_TAG):
        wanted = pattern.removeprefix(_TAG).strip()
        return any(fnmatchcase(tag, wanted) for tag in scenario.tags)
    names = (scenario.id, scenario.category, f"{scenario.category}/{scenario.id}")
    return any(fnmatchcase(name, pattern) for name in names)


def names_fact(pattern: str, scenario: Scenario, fact: Fact) -> bool:
    """Return whether a pattern, ``fact`` or ``scenario/fact``, is about a fact."""
    if "/" not in pattern:
        return fnmatchcase(fact.id, pattern)
    left, right = pattern.rsplit("/", 1)
    return _names_scenario(left, scenario) and fnmatchcase(fact.id, right)


def _no_scenario(pattern: str, scenarios: Sequence[Scenario]) -> UsageError:
    if pattern.startswith(_TAG):
        tags = sorted({tag for scenario in scenarios for tag in scenario.tags})
        wanted = pattern.removeprefix(_TAG).strip()
        return UsageError(
            f"no scenario has the tag {wanted!r}", suggestion(wanted, tags, listing="tags")
        )
    categories = sorted({scenario.category for scenario in scenarios})
    names = [*categories, *(scenario.id for scenario in scenarios)]
    return UsageError(
        f"no scenario or category is named {pattern!r}",
        where_example(pattern)
        or "; ".join(filter(None, (suggestion(pattern, names, listing=_THERE), OWN_FOLDER))),
    )


def _no_fact(pattern: str, pairs: Sequence[tuple[Scenario, Fact]]) -> UsageError:
    named = [s for s, fact in pairs if names_fact(pattern, s, fact)]
    if any(scenario.flow for scenario in named):
        return UsageError(
            f"{pattern!r} names facts of a scenario with a flow: everybody knows all of their own there",
            "leave --facts out, and choose with --scenarios",
        )
    if named:
        return UsageError(
            f"the facts named {pattern!r} belong to the initiator",
            "dialogues are generated for facts of the responder",
        )
    full = "/" in pattern
    names = list(dict.fromkeys(f"{s.id}/{f.id}" if full else f.id for s, f in pairs))
    return UsageError(
        f"no fact of the selected scenarios is named {pattern!r}",
        suggestion(pattern, names, listing="facts"),
    )
