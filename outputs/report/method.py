"""The report section with the settings that a description of the method names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from outputs.report.gathered import Gathered
from outputs.report.page import ReportSection, Table
from prompts.languages import described_language
from scenarios.arms import ModelSpec, Parameters
from scenarios.plural import plural
from scenarios.speakers import speakers
from scenarios.terms import INITIATOR, RESPONDER

DEFAULT = "the endpoint's"
_SHOWN = ("turns", "openings", "tactics", "vary", "repetitions", "seed")
"""Fields of a recipe that the table of settings has."""
REFUSED = {
    "temperature": "temperature",
    "top_p": "top-p",
    "seed": "seed",
    "system_role": "messages of the system",
}
"""What a model may refuse that bears on what it writes, in words."""
_TACTICS = {"free": "none: whoever speaks chooses", "balanced": "balanced over the corpus"}


def method_section(run: Gathered) -> ReportSection:
    """Return with what settings the dialogues of a run were made and judged.

    Of a run that went on with other settings the newest are shown, and named; every arm stands in it.
    """
    settings = Table("Settings", ("what", "setting"), tuple(_settings(run)))
    header = ("strategy · model", "for", "model", "temperature", "top-p", "most tokens", "further")
    models = Table("Models and their parameters", header, tuple(_models(run)))
    lead = (
        "What a section on methods says of a run. The whole recipe is in its run.yaml; scenarios, scheme "
        "and prompts are stored in the run."
    )
    return ReportSection("method", "How it was made", lead + _changed(run), (settings, models))


def _changed(run: Gathered) -> str:
    """Return what was changed while the run was made, in sentences; nothing where nothing was."""
    material, told = run.material, ""
    recipes = [config.recipe for config in material.configs]
    names = [name for name in _SHOWN if len({repr(one.get(name)) for one in recipes}) > 1]
    if names:
        told += f" Of what changed while it was made, the newest is shown: {', '.join(names)}."
    if material.outdated:
        scenarios = ", ".join(sorted(set(material.outdated.values())))
        told += (
            f" The text of scenarios was changed, too: {scenarios}. Dialogues of earlier texts are among"
            " those counted; hipo export --newest leaves them out."
        )
    used = {config.identity.templates for config in material.configs if config.identity} - {""}
    if len(used) > 1:
        told += f" Prompt templates were changed: dialogues are by one of {len(used)} sets of them."
    return told


def _settings(run: Gathered) -> Iterator[tuple[str, str]]:
    recipe, scenarios = run.material.recipe, run.material.scenarios.values()
    facts = sum(len(scenario.facts) for scenario in scenarios)
    yield "label scheme", f"{run.scheme.title} ({run.scheme.name})"
    yield "scenarios to draw from", f"{len(scenarios)} with {plural(facts, 'private fact')}"
    yield "languages", ", ".join(map(described_language, run.languages)) or "none yet"
    if not any(scenario.flow for scenario in scenarios):
        yield "improvised exchanges", ", ".join(map(str, recipe.turns))
        yield "openings", recipe.openings
    yield "labels asked for", _TACTICS.get(recipe.tactics, recipe.tactics)
    yield "varied", ", ".join(run.material.axes) or "nothing"
    yield "repetitions of a case", str(recipe.repetitions)
    yield "seed", str(recipe.seed)
    for source, seat in run.seats.items():
        yield f"{seat} by", ", ".join(sorted(run.judges[source]))
    if not run.seats:
        yield "judged by", "nobody"
    people = {answer.person for answer in run.answers}
    yield "reviewed by", _people(len(people))


def _people(number: int) -> str:
    return {0: "nobody", 1: "1 person"}.get(number, f"{number:,} people")


def _models(run: Gathered) -> Iterator[tuple[str, ...]]:
    who = speakers(run.material.scenarios.values())
    for state in run.state.arms:
        arm = state.arm
        further = _named(arm.settings)
        for role, model in arm.models.items():
            if role in (INITIATOR, RESPONDER) and role not in who:
                continue  # nobody speaks by this model
            yield (
                run.arms[state.id],
                who.get(role, role),
                model.name,
                *_parameters(model, further, run.omitted.get(model.name, frozenset())),
            )


def _parameters(
    model: ModelSpec, further: str, omitted: frozenset[str]
) -> tuple[str, str, str, str]:
    told = model.parameters or Parameters()
    wished = {"temperature": told.temperature, "top_p": told.top_p}
    sampling = [DEFAULT if x is None or name in omitted else f"{x:g}" for name, x in wished.items()]
    refused = ", ".join(word for name, word in REFUSED.items() if name in omitted)
    left_out = f"not taken by the model: {refused}" if refused else ""
    own = ", ".join(filter(None, (_named(told.extra), further, left_out)))
    return (sampling[0], sampling[1], f"{told.max_tokens:,}", own)


def _named(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in settings.items() if value is not None)
