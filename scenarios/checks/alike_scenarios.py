"""Check that no two scenarios tell nearly the same situation, unless one is declared a variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scenarios.checks.checked_scenario import Similarity
from scenarios.checks.duplicates import MEANING, WORDING
from scenarios.errors import Problem
from scenarios.languages import is_in_english
from scenarios.located import Located
from scenarios.spec import Scenario
from scenarios.spelling import suggestion
from scenarios.wording import content_terms


@dataclass(frozen=True)
class PlacedScenario:
    """A scenario, the file it was read from, and whether that file is to be checked."""

    scenario: Scenario
    located: Located
    checked: bool = True


def check_alike(
    scenarios: Sequence[PlacedScenario], similarity: Similarity | None
) -> Iterator[tuple[int, Problem]]:
    """Yield a warning for every checked scenario whose background another one has nearly, too.

    Scenarios are compared within their scheme, as they are used together. Each is named with the
    one that is most like it, a pair of checked ones at the later of the two. A scenario may be like
    the one that it is declared to be a variant of, which has to be there.

    Yields:
        The index of the scenario, and the warning.
    """
    schemes: dict[str, list[int]] = {}
    for index, one in enumerate(scenarios):
        schemes.setdefault(one.scenario.scheme, []).append(index)
    for members in schemes.values():
        yield from _of_scheme(members, scenarios, similarity)
    yield from _unknown_originals(scenarios)


def _of_scheme(
    members: Sequence[int], scenarios: Sequence[PlacedScenario], similarity: Similarity | None
) -> Iterator[tuple[int, Problem]]:
    texts = [scenarios[index].scenario.named().background for index in members]
    ids = [scenarios[index].scenario.id for index in members]
    terms = [content_terms(text) for text in texts]
    english = [is_in_english(scenarios[index].scenario) for index in members]
    mine = [place for place, index in enumerate(members) if scenarios[index].checked]
    if not mine or len(members) < 2:
        return
    cosines = similarity([texts[place] for place in mine], texts) if similarity else None
    rows = [list(row) for row in cosines] if cosines is not None else None
    for number, place in enumerate(mine):
        best, measure, other = 0.0, "", -1
        for beside in range(len(members)):
            if beside == place or (beside > place and scenarios[members[beside]].checked):
                continue
            if ids[beside] == ids[place]:  # the id clashes already: one file, two places
                continue
            if _is_declared(scenarios[members[place]], scenarios[members[beside]]):
                continue
            either = terms[place] | terms[beside]
            wording = len(terms[place] & terms[beside]) / len(either) if either else 0.0
            meaning = 0.0
            if rows is not None and english[place] and english[beside]:
                meaning = float(rows[number][beside])
            if (wording >= WORDING or meaning >= MEANING) and max(wording, meaning) > best:
                best, other = max(wording, meaning), beside
                measure = (
                    f"wording {wording:.2f}" if wording >= WORDING else f"meaning {meaning:.2f}"
                )
        if other >= 0:
            yield (
                members[place],
                _problem(scenarios[members[place]], scenarios[members[other]], measure),
            )


def _is_declared(one: PlacedScenario, other: PlacedScenario) -> bool:
    """Return whether one of two scenarios is declared to tell the other anew."""
    return (
        one.scenario.variant_of == other.scenario.id or other.scenario.variant_of == one.scenario.id
    )


def _unknown_originals(scenarios: Sequence[PlacedScenario]) -> Iterator[tuple[int, Problem]]:
    """Yield a warning for every checked variant of a scenario that is not there."""
    for index, one in enumerate(scenarios):
        original = one.scenario.variant_of
        if not one.checked or original is None:
            continue
        others = {beside.scenario.id for beside in scenarios if beside is not one}
        if original not in others:
            yield (
                index,
                one.located.problem(
                    ("variant_of",),
                    found=f"{original!r}, which is no other scenario here",
                    expected="the id of another scenario",
                    hint=suggestion(original, sorted(others), listing="scenarios"),
                    code="unknown-variant",
                    severity="warning",
                ),
            )


def _problem(one: PlacedScenario, other: PlacedScenario, measure: str) -> Problem:
    return one.located.problem(
        ("background",),
        found=f"nearly the background of {other.scenario.id!r} in {other.located.file} ({measure})",
        expected="a situation of its own",
        hint="write another one, leave one of the two out, or say variant_of in one: exports keep both "
        "in one split",
        code="near-duplicate-scenario",
        severity="warning",
    )
