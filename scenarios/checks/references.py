"""Check that ids are unique and that references point to something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenarios.checks.checked_scenario import Place
from scenarios.errors import Problem
from scenarios.located import Located
from scenarios.spec import Scenario
from scenarios.spelling import suggestion


def check_references(scenario: Scenario, located: Located) -> Iterator[Problem]:
    """Find ids that stand twice and references to facts or claims that do not exist."""
    claims = [claim.id for claim in scenario.claims]
    facts = [fact.id for fact in scenario.facts]
    evidence = [item.id for item in scenario.evidence]
    for name, ids in (("claims", claims), ("facts", facts), ("evidence", evidence)):
        for index, one in enumerate(ids):
            if one in ids[:index]:
                yield located.problem(
                    (name, index, "id"),
                    found=f"{one!r}, which {name}[{ids.index(one)}] has already",
                    expected="an id of its own",
                    code="duplicate-id",
                )
    for goal, statement in scenario.opening.statements.items():
        place: Place = ("opening", "statements", goal, "claims")
        yield from _found(located, place, statement.claims, claims, "claim")
    for index, fact in enumerate(scenario.facts):
        place = ("facts", index, "contradicts")
        yield from _found(located, place, fact.contradicts, claims, "claim")
    for index, item in enumerate(scenario.evidence):
        yield from _found(located, ("evidence", index, "reveals"), item.reveals, facts, "fact")


def _found(
    located: Located, place: Place, named: Sequence[str], known: Sequence[str], kind: str
) -> Iterator[Problem]:
    for index, name in enumerate(named):
        if name not in known:
            yield located.problem(
                (*place, index),
                found=f"the unknown {kind} {name!r}",
                expected=f"the id of a {kind} of this scenario",
                hint=suggestion(name, known, listing=f"{kind}s"),
                code="unknown-reference",
            )
        elif name in named[:index]:
            yield located.problem(
                (*place, index),
                found=f"{name!r} twice",
                expected=f"every {kind} once",
                code="duplicate-reference",
            )
