"""The worked examples that ship: files for some schemes, lines of the library for others."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from prompts.tasks.example_file import read_examples
from prompts.tasks.examples import ExamplePool, WorkedExample
from prompts.tasks.items import fact_view
from scenarios.errors import UsageError
from scenarios.lines.library import exemplar_lines, scenarios_with
from scenarios.lines.model import ANY_FACT, Exemplar, ExemplarLines
from scenarios.pack import LIBRARY_PLUS, read_scenario, scenario_files
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import Scenario, with_names
from scenarios.terms import LabelValue

EXAMPLES: Final = Path(__file__).parents[1] / "data" / "examples"
"""One file a scheme, or a version of one, that has no lines in the library."""


def shipped_examples(scheme: Scheme) -> ExamplePool:
    """Return the examples that ship for a scheme: a file of its own, or lines of the library.

    No corpus plays the scenes they come from.

    Raises:
        UsageError: none ship for it.
    """
    files = (EXAMPLES / f"{name}.yaml" for name in (scheme.name, scheme.id))
    own = next((file for file in files if file.exists()), None)
    pool = _exemplars(scheme.fingerprint) if own is None else read_examples(own, scheme)
    if not pool.examples:
        raise UsageError(
            f"no examples ship for the scheme {scheme.name}",
            "give a file of your own with --examples FILE",
        )
    return pool


@cache
def _exemplars(scheme: str) -> ExamplePool:
    examples: list[WorkedExample] = []
    with_examples = frozenset(scenarios_with("exemplar"))
    for path in scenario_files(LIBRARY_PLUS):
        if path.stem not in with_examples:
            continue
        template, _ = read_scenario(path, LIBRARY_PLUS)
        lines = exemplar_lines(template.id)
        own = load_scheme(template.scheme)
        if lines is not None and own.fingerprint == scheme:
            examples += _of_scenario(template, lines, own)
    return ExamplePool(tuple(examples), "what ships")


def _of_scenario(template: Scenario, lines: ExemplarLines, scheme: Scheme) -> list[WorkedExample]:
    names = {key: known.alias for key, known in template.placeholders.items()}
    spoken = ExemplarLines.model_validate(with_names(lines.model_dump(), names))
    scenario = template.named()
    return [
        WorkedExample(
            id=line.id,
            scenario=scenario.id,
            situation=_situation(scenario),
            question=line.question,
            line=line.text,
            labels=_labels(line, scheme),
            fact=None if line.fact == ANY_FACT else fact_view(scenario, line.fact),
        )
        for line in spoken.lines
    ]


def _situation(scenario: Scenario) -> str:
    """Return the background and, where people of other roles talk, who speaks to whom."""
    if not scenario.flow:
        return scenario.background
    labelled = scenario.labelled_roles
    said = [role.name for key, role in scenario.roles.items() if key in labelled]
    heard = [role.name for key, role in scenario.roles.items() if key not in labelled]
    people = f"Said by: {', '.join(said)}" + (f"; to: {', '.join(heard)}" if heard else "")
    return f"{scenario.background} {people}."


def _labels(line: Exemplar, scheme: Scheme) -> dict[str, LabelValue]:
    labels: dict[str, LabelValue] = {}
    for name, written in line.labels.items():
        resolved = resolve_label(scheme.dimension(name), written)
        if resolved is not None:
            labels[name] = resolved[0]
    return {**labels, scheme.assigned: line.goal} if scheme.assigned else labels
