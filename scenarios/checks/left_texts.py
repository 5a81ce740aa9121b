"""Find texts that still are those of a template: nobody has written them for this file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from string import Template

from scenarios.checks.checked_scenario import CheckedScenario, all_texts
from scenarios.errors import Problem
from scenarios.located import Located, Step, dotted
from scenarios.nested_texts import nested_texts, spaced
from scenarios.plural import first_of
from scenarios.scaffold import FLOW_TEMPLATE, TEMPLATE
from scenarios.schemes.scaffold import scheme_template
from scenarios.yaml_source import read_yaml_text

FEWEST_WORDS = 3
"""Shorter texts ("the neighbour") may be anybody's own."""
_SHOWN = 4


def check_left_texts(subject: CheckedScenario) -> Iterator[Problem]:
    """Warn of a scenario with texts of the template that ``hipo scenarios new`` writes."""
    if subject.shipped:
        return
    found = _left(dict(all_texts(subject.template)), _scenario_texts())
    yield from left_texts(subject.located, found, "hipo scenarios new")


def check_left_scheme_texts(located: Located) -> Iterator[Problem]:
    """Warn of a scheme with texts of the template that ``hipo scheme new`` writes."""
    found = _left(dict(nested_texts(located.data)), _scheme_texts())
    yield from left_texts(located, found, "hipo scheme new")


def left_texts(located: Located, places: list[tuple[Step, ...]], command: str) -> Iterator[Problem]:
    """Yield one warning at the first of the places, which names some of them; none without any."""
    if not places:
        return
    named = first_of([dotted(place) for place in places], _SHOWN)
    some = "a text" if len(places) == 1 else f"{len(places)} texts"
    yield located.problem(
        places[0],
        found=f"{some} of the template of {command} ({named})",
        expected="texts of your own",
        hint="write yours in their place",
        code="template-text",
        severity="warning",
    )


def _left(texts: dict[tuple[Step, ...], str], template: frozenset[str]) -> list[tuple[Step, ...]]:
    return [place for place, text in texts.items() if spaced(text) in template]


@cache
def _scenario_texts() -> frozenset[str]:
    return frozenset().union(
        *(_texts_of(Template(path.read_text("utf-8"))) for path in (TEMPLATE, FLOW_TEMPLATE))
    )


@cache
def _scheme_texts() -> frozenset[str]:
    return _texts_of(scheme_template(flow=False)) | _texts_of(scheme_template(flow=True))


def _texts_of(template: Template) -> frozenset[str]:
    """Return the texts of a template, what is filled in aside."""
    names = template.get_identifiers()
    filled = template.substitute({name: f"x_{name}" for name in names})
    whole = [line for line in filled.splitlines() if line.removeprefix("x_") not in names]
    data = read_yaml_text("\n".join(whole), "template").data
    texts = (spaced(text) for _, text in nested_texts(data))
    return frozenset(text for text in texts if len(text.split()) >= FEWEST_WORDS)
