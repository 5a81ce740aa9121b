"""Check that opening statements, claims and facts fit together."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.checks.checked_scenario import CheckedScenario
from scenarios.checks.labels import ANY_GOAL
from scenarios.errors import Problem


def check_truth(subject: CheckedScenario) -> Iterator[Problem]:
    """Find truthful statements that a fact belies, and facts that do not bear as they say."""
    yield from _truthful_statements(subject)
    yield from _bearings(subject)
    yield from _owners(subject)
    yield from _loose_ends(subject)


def _truthful_statements(subject: CheckedScenario) -> Iterator[Problem]:
    """Under a goal that rules falsehood out, the opening statement may claim nothing false.

    Source: HIPO, section 4.2; a dialogue that opens with a lie has the wrong goal label.
    """
    scenario = subject.template
    statements = scenario.opening.statements
    for goal in sorted(subject.scheme.truthful_goals):
        key = goal if goal in statements else ANY_GOAL
        if key not in statements:
            continue
        for index, claim in enumerate(statements[key].claims):
            facts = [fact.id for fact in scenario.facts if claim in fact.contradicts]
            if facts:
                yield subject.error(
                    ("opening", "statements", key, "claims", index),
                    f"the claim {claim!r}, which {_listed(facts)} contradict"
                    + ("s" if len(facts) == 1 else ""),
                    f"only claims that hold whatever the fact is, for the goal {goal!r}",
                    hint="claim less in this statement, or give the goal a statement of its own",
                    code="false-statement",
                )


def _bearings(subject: CheckedScenario) -> Iterator[Problem]:
    """A fact that contradicts must belie what the deceptive statement claims; others may."""
    scenario = subject.template
    truthful = subject.scheme.truthful_goals
    goals = subject.scheme.goal.values
    others = [goal for goal in goals if goal not in truthful] or list(goals)
    statements = [s for key, s in scenario.opening.statements.items() if key in (*others, ANY_GOAL)]
    if not statements:
        return
    claimed = {claim for statement in statements for claim in statement.claims}
    for index, fact in enumerate(scenario.facts):
        if fact.bearing == "contradicts" and not claimed & set(fact.contradicts):
            yield subject.error(
                ("facts", index, "contradicts"),
                _listed(fact.contradicts) or "no claim",
                f"at least one claim that the opening statement makes for {_listed(others)}",
                hint="name the claim, or use bearing: embarrasses",
                code="bearing",
            )


def _owners(subject: CheckedScenario) -> Iterator[Problem]:
    facts = subject.template.facts
    playable = any(fact.owner == "responder" for fact in facts)
    if not playable:
        yield subject.error(
            ("facts",),
            "no fact of the responder",
            "at least one",
            hint="the responder is the one who keeps something back",
            code="owner",
        )
    for index, fact in enumerate(facts):
        if fact.owner != "responder" and playable:
            yield subject.warning(
                ("facts", index, "owner"),
                f"{fact.owner!r}",
                "'responder'",
                hint="no dialogue is generated for this fact",
                code="owner",
            )


def _loose_ends(subject: CheckedScenario) -> Iterator[Problem]:
    scenario = subject.template
    used = {claim for s in scenario.opening.statements.values() for claim in s.claims}
    used |= {claim for fact in scenario.facts for claim in fact.contradicts}
    for index, claim in enumerate(scenario.claims):
        if claim.id not in used:
            yield subject.warning(
                ("claims", index),
                f"the claim {claim.id!r} that nothing states or contradicts",
                "claims that a statement makes or a fact contradicts",
                hint="remove it",
                code="unused-claim",
            )


def _listed(names: object) -> str:
    return ", ".join(repr(name) for name in names) if isinstance(names, (list, tuple)) else ""
