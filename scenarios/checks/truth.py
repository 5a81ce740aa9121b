"""Check that claims, facts and covers fit together: every pair decided, and lies where they belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenarios.checks.checked_scenario import CheckedScenario
from scenarios.checks.labels import ANY_GOAL
from scenarios.checks.references import DECISIONS, claims_by_line
from scenarios.errors import Problem
from scenarios.graph import KnowledgeGraph
from scenarios.schemes.registry import scheme_names
from scenarios.spec import Fact


def check_truth(subject: CheckedScenario) -> Iterator[Problem]:
    """Find undecided pairs, facts without a lie, truthful lines that are none, and idle claims.

    Where there is a flow nothing is found: it has no opening whose lines make claims, and nobody
    plays one fact alone.
    """
    if subject.template.flow:
        return
    yield from _truthful_lines(subject)
    yield from _deceptive_lines(subject)
    yield from _shared(subject)
    yield from _pairs(subject)
    if _misleading_goals(subject):
        yield from _covers(subject)
    yield from _owners(subject)
    yield from _idle_claims(subject)


def _misleading_goals(subject: CheckedScenario) -> tuple[str, ...]:
    """Return the goals that leave room for something false; none where no goal rules it out."""
    truthful = subject.scheme.truthful_goals
    return tuple(g for g in subject.scheme.goals if truthful and g not in truthful)


def _played(subject: CheckedScenario) -> Iterator[tuple[int, Fact]]:
    for index, fact in enumerate(subject.template.facts):
        if fact.owner == "responder":
            yield index, fact


def _truthful_lines(subject: CheckedScenario) -> Iterator[Problem]:
    """A line of a truthful goal, or of all goals, may be false or misleading under no fact.

    Source: HIPO, section 4.2; a dialogue that opens with a lie has the wrong goal label.
    """
    truthful = (*subject.scheme.truthful_goals, ANY_GOAL)
    knowledge = KnowledgeGraph.of(subject.template)
    for place, claims in claims_by_line(subject.template):
        if place[1] == "by_goal" and place[4] not in truthful:
            continue
        for index, claim in enumerate(claims):
            for truth, word in (("false", "false"), ("misleads", "misleading")):
                facts = [
                    f.id for f in knowledge.scenario.facts if knowledge.truth(claim, f.id) == truth
                ]
                if facts:
                    yield subject.error(
                        (*place, index),
                        f"the claim {claim!r}, which is {word} given {_listed(facts)}",
                        "only claims that are neither false nor misleading, whatever the fact is",
                        hint="claim less in this line, or say something else",
                        code="false-statement",
                    )


def _deceptive_lines(subject: CheckedScenario) -> Iterator[Problem]:
    """A statement for a goal that misleads claims something: else there is nothing to be false."""
    for place, claims in claims_by_line(subject.template):
        if place[1] == "by_goal" and place[4] in _misleading_goals(subject) and not claims:
            yield subject.error(
                place,
                "no claim",
                f"at least one claim that the statement for {place[4]!r} makes",
                code="claims-nothing",
            )


def _shared(subject: CheckedScenario) -> Iterator[Problem]:
    shared = subject.template.opening.shared
    if shared is None:
        yield subject.warning(
            ("opening",),
            "no shared opening",
            "shared: easy questions with their answers, and the hard question",
            hint="without it the scenario can be played with --openings by-goal only",
            code="no-shared-opening",
        )
    elif subject.shipped and len(shared.exchanges) < 2:
        yield subject.error(
            ("opening", "shared", "exchanges"), "1 exchange", "at least 2", code="no-shared-opening"
        )


def _pairs(subject: CheckedScenario) -> Iterator[Problem]:
    """Every claim of a fixed line is decided under every fact, and no pair twice."""
    lines = claims_by_line(subject.template)
    made = dict.fromkeys(claim for _, claims in lines for claim in claims)
    stated = [claim.id for claim in subject.template.claims if claim.id in made]
    knowledge = KnowledgeGraph.of(subject.template)
    for index, fact in _played(subject):
        decided = [claim for name in DECISIONS for claim in getattr(fact, name)]
        if undecided := [claim for claim in stated if knowledge.truth(claim, fact.id) is None]:
            yield subject.error(
                ("facts", index),
                f"nothing about {_listed(undecided)}",
                f"each of them in one of {', '.join(DECISIONS)}",
                hint="ask what somebody who knows the scene and this fact alone would say",
                code="undecided",
            )
        for claim in sorted({claim for claim in decided if decided.count(claim) > 1}):
            yield subject.error(
                ("facts", index),
                f"the claim {claim!r} in two lists",
                f"each claim in one of {', '.join(DECISIONS)}",
                code="decided-twice",
            )


def _covers(subject: CheckedScenario) -> Iterator[Problem]:
    """Where a goal misleads, every fact has a lie that hides it.

    By the schemes that ship whoever lies gains by it; what another scheme is about, such as white
    lies, it says itself.
    """
    knowledge = KnowledgeGraph.of(subject.template)
    ships = subject.scheme.id in scheme_names()
    for index, fact in _played(subject):
        if not fact.cover:
            yield subject.error(
                ("facts", index, "cover"),
                "nothing",
                "a claim that a deceiver would have believed instead of the fact",
                hint="a fact that nobody would lie about makes no deception: choose another",
                code="no-cover",
            )
        elif ships and all(cover.gain != "self" for cover in fact.cover):
            yield subject.warning(
                ("facts", index, "cover"),
                "no cover with gain: self",
                "a lie that the responder gains by, which is what deception means here",
                code="gain",
            )
        for number, cover in enumerate(fact.cover):
            if knowledge.truth(cover.claim, fact.id) != "false":
                yield subject.error(
                    ("facts", index, "cover", number),
                    f"{cover.claim!r}, which the fact does not make false",
                    "a claim that stands in makes_false of this fact",
                    code="cover-not-false",
                )
        if not fact.angle:
            yield subject.warning(
                ("facts", index),
                "no angle",
                "a question that somebody who does not know the fact could ask, to bring it up",
                hint="without one the conversation may never come to the fact",
                code="no-angle",
            )


def _owners(subject: CheckedScenario) -> Iterator[Problem]:
    """Without a flow there has to be something that the responder keeps back."""
    if subject.template.flow:
        return
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


def _idle_claims(subject: CheckedScenario) -> Iterator[Problem]:
    scenario = subject.template
    made = {claim for _, claims in claims_by_line(scenario) for claim in claims}
    made |= {cover.claim for fact in scenario.facts for cover in fact.cover}
    for index, claim in enumerate(scenario.claims):
        if claim.id not in made:
            yield subject.error(
                ("claims", index),
                f"the claim {claim.id!r}, which no line makes and no fact has as its cover",
                "claims that somebody makes",
                hint="remove it",
                code="unused-claim",
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
