"""``hipo scenarios show``: read one scenario, private facts and all."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import typer
import yaml

from hipo.cli.main import command_app
from hipo.cli.scenarios.options import REAL_NAMES, SCENARIO_DIRS, SCHEME, TARGET, find_of_scheme
from hipo.cli.terminal.console import write_json
from hipo.cli.terminal.wrapping import harmless
from scenarios.catalogue import CatalogueEntry
from scenarios.plural import enumerated
from scenarios.spec import Fact, Scenario
from scenarios.terms import RESPONDER

app = command_app()
MAX_WIDTH = 100


@app.command("show")
def show(
    target: str = TARGET,
    real_names: bool = REAL_NAMES,
    scheme: str | None = SCHEME,
    scenario_dirs: list[Path] | None = SCENARIO_DIRS,
    output_format: Literal["text", "json", "yaml"] = typer.Option(
        "text",
        "--format",
        help="text; json: see docs/json-shapes.md; or yaml: the same, as a "
        "scenario file with its names filled in.",
    ),
) -> None:
    """Read one scenario: its situation, roles, opening, claims, private facts and outcome."""
    entry = find_of_scheme(target, scenario_dirs, scheme, real_names=real_names)
    if output_format == "json":
        write_json(scenario_as_data(entry.scenario))
    elif output_format == "yaml":
        data = scenario_as_data(entry.scenario)
        print(_as_yaml(data), end="")
    else:
        print("\n".join(readable(entry)))


def _as_yaml(data: dict[str, Any]) -> str:
    """Return YAML of which standard output changes nothing: invisible characters are in escapes."""
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=MAX_WIDTH)
    if harmless(text) != text:
        text = yaml.safe_dump(data, sort_keys=False, width=MAX_WIDTH)
    return text


def scenario_as_data(scenario: Scenario) -> dict[str, Any]:
    """Return what ``hipo scenarios show ID --format json`` prints: the fields of a scenario file.

    Names are filled in, fields left at nothing are left out; ``hipo scenarios schema`` describes it.
    """
    data: dict[str, Any] = scenario.model_dump(mode="json", exclude={"placeholders"})
    return {name: value for name, value in data.items() if value != []}


def readable(entry: CatalogueEntry) -> Iterator[str]:
    """Yield the lines of a scenario the way people read it."""
    scenario = entry.scenario
    yield f"{scenario.title}  ({scenario.id})"
    yield " · ".join([scenario.category, *scenario.tags])
    yield f"scheme {scenario.scheme} · {', '.join(scenario.languages)}"
    yield entry.located.file
    yield ""
    yield from _wrapped(scenario.summary)
    yield from _section("Background", _wrapped(scenario.background))
    yield from _section("Roles", _roles(scenario))
    yield from _section("Opening", _opening(scenario))
    yield from _section("Flow", _flow(scenario))
    yield from _section("Claims", _named({c.id: c.text for c in scenario.claims}))
    yield from _section("Private facts", _facts(scenario.facts))
    yield from _section("Evidence", _evidence(scenario))
    if scenario.felicitous:
        yield from _section("Acts open to the responder", _wrapped(", ".join(scenario.felicitous)))
    outcome = f"{scenario.outcome.text} (as of {scenario.outcome.as_of})"
    yield from _section("Outcome", _wrapped(outcome))
    yield from _section("Sources", _sources(scenario))
    yield from _section("Names", _names(entry.template))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a titled section, or nothing where it is empty."""
    body = list(lines)
    if body:
        yield ""
        yield title
        yield from body


def _roles(scenario: Scenario) -> Iterator[str]:
    for key, role in scenario.roles.items():
        notes = [*(["labelled"] if role.labelled else []), *([] if role.speaks else ["silent"])]
        noted = f"{key} ({', '.join(notes)})" if notes else key
        yield from _wrapped(f"{role.name}. {role.description}", f"{noted}: ")
        yield from _wrapped(role.aim, "  wants to ", indent=4)


def _flow(scenario: Scenario) -> Iterator[str]:
    for phase in scenario.flow:
        least, most = phase.rounds
        rounds = f"{least}" if least == most else f"{least} to {most}"
        yield f"  {phase.id}: {', '.join(phase.who)}, {rounds} round{'s' if most > 1 else ''}"
        for text in phase.text:
            yield from _wrapped(text, "fixed words: ", indent=6)
        if phase.brief:
            yield from _wrapped(phase.brief, "what happens: ", indent=6)
        for role, strategies in phase.strategies.items():
            yield from _wrapped("; ".join(strategies), f"{role} may: ", indent=6)


def _opening(scenario: Scenario) -> Iterator[str]:
    shared = scenario.opening.shared
    if shared is not None:
        yield "  shared by all goals"
        for exchange in shared.exchanges:
            yield from _wrapped(exchange.question, "easy question: ", indent=6)
            yield from _wrapped(exchange.answer, "answer: ", indent=6)
            yield from _claims(exchange.claims)
        for text in shared.hard_question:
            yield from _wrapped(text, "hard question: ", indent=6)
    for number, opening in enumerate(scenario.opening.by_goal, start=1):
        yield f"  by goal, {number} of {len(scenario.opening.by_goal)}"
        yield from _wrapped(opening.question, "question: ", indent=6)
        for goal, statement in opening.statements.items():
            yield from _wrapped(statement.text, f"{goal}: ", indent=6)
            yield from _claims(statement.claims)


def _claims(claims: Iterable[str]) -> Iterator[str]:
    named = ", ".join(claims)
    if named:
        yield from _wrapped(named, "claims: ", indent=8)


def _facts(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        notes = [f"the {fact.owner}'s"] if fact.owner != RESPONDER else []
        notes += [f"also known by {enumerated(fact.also_known_by)}"] if fact.also_known_by else []
        notes += ["documented"] if fact.documented else []
        named = f"{fact.id} ({', '.join(notes)})" if notes else fact.id
        yield from _wrapped(fact.text, f"{named}: ")
        yield from _wrapped(fact.about, "concerns: ", indent=6)
        if fact.angle:
            yield from _wrapped(fact.angle, "asked about by: ", indent=6)
        cover = ", ".join(f"{cover.claim} (gain: {cover.gain})" for cover in fact.cover)
        decided = {
            "cover": cover,
            "makes false": ", ".join(fact.makes_false),
            "misleads": ", ".join(fact.misleads),
            "makes true": ", ".join(fact.makes_true),
            "leaves open": ", ".join(fact.leaves_open),
        }
        for name, claims in decided.items():
            if claims:
                yield from _wrapped(claims, f"{name}: ", indent=6)


def _evidence(scenario: Scenario) -> Iterator[str]:
    for item in scenario.evidence:
        yield from _wrapped(f"{item.label}: would reveal {', '.join(item.reveals)}")


def _sources(scenario: Scenario) -> Iterator[str]:
    if scenario.sources == "fictional":
        yield "  fictional"
        return
    for source in scenario.sources:
        yield from _wrapped(f"{source.document}, {source.body}, {source.date}")


def _names(template: Scenario) -> Iterator[str]:
    for name, placeholder in template.placeholders.items():
        real = f"; on record: {placeholder.real}" if placeholder.real else ""
        yield from _wrapped(f"{placeholder.alias}{real}", f"{{{name}}}: ")


def _named(texts: Mapping[str, str]) -> Iterator[str]:
    for name, text in texts.items():
        yield from _wrapped(text, f"{name}: ")


def _wrapped(text: str, first: str = "", indent: int = 4) -> list[str]:
    """Wrap harmless text, two columns less than ``indent`` in, further lines ``indent`` columns."""
    width = min(shutil.get_terminal_size((MAX_WIDTH, 24)).columns, MAX_WIDTH)
    return textwrap.wrap(
        harmless(f"{first}{' '.join(text.split())}"),
        width=max(width, 40),
        initial_indent=" " * (indent - 2),
        subsequent_indent=" " * (indent if first else 2),
        break_on_hyphens=False,
    )
