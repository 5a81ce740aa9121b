"""Check that ids are unique and that references point to something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scenarios.checks.checked_scenario import Place
from scenarios.errors import Problem
from scenarios.located import Located
from scenarios.spec import Scenario
from scenarios.spelling import suggestion

DECISIONS: Final = ("makes_false", "misleads", "makes_true", "leaves_open")
"""The lists of a fact that say what it does to claims."""


def claims_by_line(scenario: Scenario) -> Iterator[tuple[Place, tuple[str, ...]]]:
    """Yield the claims of every fixed line, with the place they stand at."""
    opening = scenario.opening
    for index, exchange in enumerate(opening.shared.exchanges if opening.shared else ()):
        yield ("opening", "shared", "exchanges", index, "claims"), exchange.claims
    for index, by_goal in enumerate(opening.by_goal):
        for goal, statement in by_goal.statements.items():
            yield ("opening", "by_goal", index, "statements", goal, "claims"), statement.claims


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
    yield from _roles(scenario, located)
    for place, named in claims_by_line(scenario):
        yield from _found(located, place, named, claims, "claim")
    for index, fact in enumerate(scenario.facts):
        for decision in DECISIONS:
            place = ("facts", index, decision)
            yield from _found(located, place, getattr(fact, decision), claims, "claim")
        for number, cover in enumerate(fact.cover):
            place = ("facts", index, "cover", number, "claim")
            yield from _found(located, place[:-1], (cover.claim,), claims, "claim")
    for index, item in enumerate(scenario.evidence):
        yield from _found(located, ("evidence", index, "reveals"), item.reveals, facts, "fact")


def _roles(scenario: Scenario, located: Located) -> Iterator[Problem]:
    """Find roles that are not there where a fact or a phase names them, and phases called alike."""
    for index, fact in enumerate(scenario.facts):
        if fact.owner not in scenario.roles:
            yield located.problem(
                ("facts", index, "owner"),
                found=f"the unknown role {fact.owner!r}",
                expected="the id of a role of this scenario",
                hint=suggestion(fact.owner, scenario.roles, listing="roles"),
                code="unknown-reference",
            )
        yield from _sharing(scenario, located, index)
    speaking = [key for key, role in scenario.roles.items() if role.speaks]
    ids = [phase.id for phase in scenario.flow]
    for index, phase in enumerate(scenario.flow):
        yield from _found(located, ("flow", index, "who"), phase.who, speaking, "speaking role")
        if phase.id in ids[:index]:
            yield located.problem(
                ("flow", index, "id"),
                found=f"{phase.id!r}, which flow[{ids.index(phase.id)}] has already",
                expected="an id of its own",
                code="duplicate-id",
            )


def _sharing(scenario: Scenario, located: Located, index: int) -> Iterator[Problem]:
    """Find what cannot be under ``also_known_by`` of a fact."""
    fact, place = scenario.facts[index], ("facts", index, "also_known_by")
    yield from _found(located, place, fact.also_known_by, tuple(scenario.roles), "role")
    if fact.owner in fact.also_known_by:
        yield located.problem(
            place,
            found=f"{fact.owner!r}, who is its owner",
            expected="those who know it besides the owner",
            code="owner",
        )
    elif fact.also_known_by and set(scenario.roles) <= set(fact.knowers):
        yield located.problem(
            place,
            found="everybody",
            expected="a role that does not know it",
            hint="write what all know into background",
            code="known-to-all",
        )


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
