"""Check that a scenario uses the vocabulary of its scheme: goals, acts, category, tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenarios.checks.checked_scenario import CheckedScenario, Place
from scenarios.errors import Problem
from scenarios.spelling import suggestion

ANY_GOAL = "any"


def check_labels(subject: CheckedScenario) -> Iterator[Problem]:
    """Find goals, felicitous labels, a category or tags that the scheme does not know."""
    scenario, scheme = subject.template, subject.scheme
    if scenario.scheme != scheme.id:
        yield subject.error(
            ("scheme",), repr(scenario.scheme), f"{scheme.id!r}, the scheme in use", code="scheme"
        )
    yield from _goals(subject)
    yield from _labelled(subject)
    if scenario.felicitous and scheme.felicity is None:
        yield subject.error(
            ("felicitous",),
            f"a list of {len(scenario.felicitous)}",
            f"no such field: scheme {scheme.id!r} has no dimension of felicity",
            code="felicitous",
        )
    elif scheme.felicity is not None:
        values = scheme.dimension(scheme.felicity).values
        yield from _known(subject, ("felicitous",), scenario.felicitous, values, "label")
    if scheme.categories and scenario.category not in scheme.categories:
        yield subject.error(
            ("category",),
            repr(scenario.category),
            f"a category of scheme {scheme.id!r}",
            hint=suggestion(scenario.category, scheme.categories, listing="categories"),
            code="category",
        )
    if scheme.tags:
        yield from _known(subject, ("tags",), scenario.tags, scheme.tags, "tag")


def _labelled(subject: CheckedScenario) -> Iterator[Problem]:
    """Find roles whose words are to be labelled, and which no dimension is about."""
    words = [d for d in subject.scheme.dimensions if d.level != "dialogue"]
    named = dict.fromkeys(role for dimension in words for role in dimension.of)
    for role in subject.template.labelled_roles:
        if not subject.scheme.labels_words_of(role):
            yield subject.error(
                ("roles", role),
                f"the labelled role {role!r}, which no dimension of scheme {subject.scheme.id!r} is of",
                f"a role that they are of: {', '.join(named)}",
                hint="call the role so (in a scenario with a flow, hipo scenarios new writes one), name "
                "it under of in the scheme, or take labelled: true away",
                code="labelled",
            )


def _goals(subject: CheckedScenario) -> Iterator[Problem]:
    values = subject.scheme.goal.values if subject.goal_id else ()
    yield from _known(subject, ("goals",), subject.template.goals, values, "goal")
    for index, opening in enumerate(subject.template.opening.by_goal):
        place: Place = ("opening", "by_goal", index, "statements")
        for goal in opening.statements:
            if goal not in values and goal != ANY_GOAL:
                yield subject.error(
                    (*place, goal),
                    f"the unknown goal {goal!r}",
                    f"a label of {subject.goal_id!r}, or any" if values else ANY_GOAL,
                    hint=suggestion(goal, (*values, ANY_GOAL), listing="goals"),
                    code="unknown-goal",
                )
        for value in () if ANY_GOAL in opening.statements else values:
            if value not in opening.statements:
                yield subject.error(
                    place,
                    f"no statement for the goal {value!r}",
                    "a statement for every goal",
                    hint="add it, or one under the key any",
                    code="missing-goal",
                )


def _known(
    subject: CheckedScenario, place: Place, named: Sequence[str], known: Sequence[str], kind: str
) -> Iterator[Problem]:
    for index, name in enumerate(named):
        if name not in known:
            yield subject.error(
                (*place, index),
                f"the unknown {kind} {name!r}",
                f"a {kind} of scheme {subject.scheme.id!r}",
                hint=suggestion(name, known, listing=f"{kind}s"),
                code=f"unknown-{kind}",
            )
        elif name in named[:index]:
            yield subject.error(
                (*place, index), f"{name!r} twice", f"every {kind} once", code=f"duplicate-{kind}"
            )
