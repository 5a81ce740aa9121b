"""``hipo scenarios preview``: hear how a scenario sounds, once for each goal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from hipo.app.generation.preview import Previewed, prepare_preview, preview_prepared
from hipo.app.options.recipe import OPTION_OF, RecipeChanges, overridden
from hipo.app.options.unused import check_used_in_plan
from hipo.cli.main import command_app
from hipo.cli.options.shared import with_recipe_options
from hipo.cli.reports.run import say_spent
from hipo.cli.scenarios.options import (
    REAL_NAMES,
    SCENARIO_DIRS,
    TARGET,
    find,
    with_target,
)
from hipo.cli.show.dialogue_json import dialogue_as_json
from hipo.cli.show.dialogue_show import as_prompts
from hipo.cli.show.dialogue_view import Heading, render, render_prompts
from hipo.cli.terminal.console import Format, others_apart, plain, write_json
from hipo.cli.terminal.errors import ended, say
from hipo.cli.terminal.progress import watcher
from pipeline.recipes.recipe import Recipe
from pipeline.strategies.registry import STRATEGIES
from scenarios.catalogue import select_facts
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

app = command_app()


LANGUAGE = typer.Option(
    None,
    "--language",
    help="The language to speak; default the first that the scenario is written in.",
    show_default=False,
)
STRATEGY = typer.Option(
    "direct", "--strategy", help=f"{', '.join(STRATEGIES.shipped)}, or one of a plugin."
)


_FACT = typer.Option(
    None, "--fact", help="The id of the private fact; default the first.", show_default=False
)
_MODEL = typer.Option(
    None,
    "-m",
    "--model",
    help="provider/name for both roles; see: hipo models.",
    show_default=False,
)
_SCHEME = typer.Option(
    None, "--scheme", help="The label scheme; default the one that the scenario names."
)


@app.command("preview")
@with_recipe_options(
    "openings",
    "models.default.base_url",
    "models.default.api_key_env",
    "prompt_dir",
    "plugins",
    "prices",
    "budget_usd",
    "budget_tokens",
)
def preview(
    *,
    target: str = TARGET,
    model: str | None = _MODEL,
    fact: str | None = _FACT,
    turns: int | None = typer.Option(
        None, "--turns", min=1, help="Improvised exchanges; default 2.", show_default=False
    ),
    seed: int = typer.Option(0, "--seed", help="Another seed, another dialogue."),
    strategy: str = STRATEGY,
    language: str | None = LANGUAGE,
    prompts: bool = typer.Option(False, "--prompts", help="Every prompt and its answer, verbatim."),
    given: RecipeChanges,
    real_names: bool = REAL_NAMES,
    scheme: str | None = _SCHEME,
    scenario_dirs: list[Path] | None = SCENARIO_DIRS,
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> int:
    """Play one dialogue for each goal and print it; nothing is kept.

    The model is really asked, and what that costs is real too.
    """
    scenario = find(target, scenario_dirs, real_names=real_names).scenario
    label_scheme = load_scheme(scheme or scenario.scheme)
    check_used_in_plan({**given, "turns": turns}, OPTION_OF, [scenario])
    recipe = overridden(
        Recipe(),
        {
            "scenarios": [scenario.id],
            **_facts(scenario, fact),
            "turns": [str(turns or 2)],
            "languages": [language or scenario.languages[0]],
            "seed": seed,
            "scheme": scheme or scenario.scheme,
            "scenario_dirs": with_target(target, scenario_dirs),
            "real_names": real_names,
            "strategies": [strategy],
            "models.default.model": model,
            **given,
        },
    )
    goals, watching = scenario.goals or label_scheme.goals, watcher(quiet=False, name="preview")
    with others_apart():
        prepared = prepare_preview(recipe, len(goals))
        shown = asyncio.run(preview_prepared(prepared, watching, say_spent))
    if output_format == "json":
        write_json([preview_as_json(played, prompts=prompts) for played in shown.played])
    else:
        for played in shown.played:
            _print(played, scenario, prompts=prompts)
    say_spent(shown.charges)
    return ended(shown.outcome, failed=any(p.dialogue is None for p in shown.played))


def preview_as_json(played: Previewed, *, prompts: bool) -> dict[str, object]:
    """Return one object of the list that ``hipo scenarios preview ID --format json`` prints.

    ``goal``; ``error``: None, or why there is no dialogue; ``dialogue``: None, or what
    ``hipo.cli.show.dialogue_json.dialogue_as_json`` describes, with traces; with ``--prompts``
    also ``prompts``: a list of objects with ``turn``, ``purpose``, ``model``, ``messages`` (objects
    with ``role`` and ``content``) and ``answers`` (objects with ``status`` and ``text``).
    """
    fields: dict[str, object] = {
        "goal": played.case.goal,
        "error": played.error,
        "dialogue": None
        if played.dialogue is None
        else dialogue_as_json(played.dialogue, played.arm.fields(), trace=True),
    }
    if prompts:
        fields["prompts"] = [
            {
                **plain(call.requests[0], "turn purpose model"),
                "messages": [{"role": role, "content": text} for role, text in call.messages],
                "answers": [plain(choice, "status text") for choice in call.choices],
            }
            for call in played.calls
        ]
    return fields


def _facts(scenario: Scenario, wanted: str | None) -> dict[str, list[str]]:
    """Return which fact to play: the one wanted, or the responder's first; with a flow, all."""
    if scenario.flow:
        if wanted:
            raise UsageError(
                f"in {scenario.id!r} everybody knows all of their facts", "leave --fact out"
            )
        return {}
    pairs = select_facts([scenario], [wanted] if wanted else None)
    if not pairs:
        raise UsageError(f"the responder of {scenario.id!r} knows no private fact", "give it one")
    return {"facts": [f"{scenario.id}/{pairs[0][1].id}"]}


def _print(played: Previewed, scenario: Scenario, *, prompts: bool) -> None:
    """Print one dialogue; why there is none goes to standard error."""
    if prompts:
        print(render_prompts(as_prompts(played.calls)), end="\n\n")
    if played.dialogue is None:
        say(f"{scenario.id}, {played.case.goal or 'no goal'}: failed: {played.error}")
    else:
        heading = Heading("", played.arm.label, scenario)
        print(render(played.dialogue, heading, trace=True), end="\n\n")
