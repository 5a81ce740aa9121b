"""The options that change a recipe: one table, from which the command line and messages are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipo.app.options.groups import OptionGroup
from hipo.app.options.model_changes import model_changes
from hipo.app.options.unused import check_used
from hipo.app.options.values import split
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import changed
from pipeline.strategies.registry import STRATEGIES
from scenarios.plugins import load_plugins

RecipeChanges = Mapping[str, Any]
"""Changes by dotted recipe field; None leaves the recipe as it is."""


@dataclass(frozen=True, slots=True)
class RecipeOption:
    """One option, and the recipe field it sets."""

    field: str
    """Dotted, e.g. ``limits.timeout_s``."""
    name: str
    kind: type
    """The type of one value."""
    help: str
    many: bool = False
    """Whether it takes several values, repeated or separated by commas."""
    also: str = ""
    """Another name of it."""
    rare: bool = False
    """Whether it stands under ``--help-all`` alone."""
    group: OptionGroup = OptionGroup.MODELS

    @property
    def parameter(self) -> str:
        """The name of the parameter that carries it."""
        return self.field.replace(".", "_")


RECIPE_OPTIONS: tuple[RecipeOption, ...] = (
    RecipeOption(
        "scenarios",
        "--scenarios",
        str,
        "Ids, categories, globs or tag:...; default all.",
        True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "facts",
        "--facts",
        str,
        "Facts, as id or scenario/id, globs too; default all.",
        True,
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "goals",
        "--goals",
        str,
        "Goal labels; default all of the scheme.",
        True,
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "turns",
        "--turns",
        str,
        "Improvised exchanges; default 1,2,3.",
        True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "openings",
        "--openings",
        str,
        "shared (all goals open alike, default), or by-goal (a statement each, the paper's way).",
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "languages",
        "--language",
        str,
        "Language codes; default en.",
        True,
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "wordings",
        "--wordings",
        Path,
        "Texts of scenarios in that language: files of hipo scenarios translate, or a folder of them.",
        True,
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "unreviewed",
        "--unreviewed/--reviewed",
        bool,
        "Wordings, too, that no person has read.",
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "n",
        "-n",
        int,
        "How many cases, spread over scenarios, goals and turns; default all.",
        also="--count",
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "repetitions",
        "--repetitions",
        int,
        "How often to play every case; default 1.",
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "shard",
        "--shard",
        str,
        "i/n: play the i-th of n equal parts of the plan; a budget is that of the part.",
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "seed", "--seed", int, "Seed of the run; default 0.", rare=True, group=OptionGroup.SCENARIOS
    ),
    RecipeOption(
        "scheme", "--scheme", str, "Label scheme: id or file.", group=OptionGroup.SCENARIOS
    ),
    RecipeOption(
        "scenario_dirs",
        "--scenario-dir",
        Path,
        "A folder of scenarios; repeatable.",
        True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "only_scenario_dirs",
        "--only",
        bool,
        "Of the folders of scenarios alone, without what ships.",
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "real_names",
        "--real-names/--aliases",
        bool,
        "Names as on the public record, which plays documented facts only.",
        rare=True,
        group=OptionGroup.SCENARIOS,
    ),
    RecipeOption(
        "strategies",
        "--strategy",
        str,
        f"One or several of {', '.join(STRATEGIES.shipped)}, or one of a plugin; default direct,"
        " of hipo study the first three.",
        True,
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "tactics",
        "--tactics",
        str,
        "free (the actor chooses, default), balanced, or a file.",
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "vary",
        "--vary",
        str,
        "Axes of variation: persona, register, style, opening.",
        True,
        rare=True,
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "consistency.k",
        "--k",
        int,
        "Candidates per utterance (consistency); default 4. Of 2, the first is said.",
        rare=True,
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "embedding.model",
        "--embedding-model",
        str,
        "What compares candidates (consistency), and dialogues that are verified.",
        rare=True,
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "embedding.device",
        "--embedding-device",
        str,
        "auto (default), cpu, cuda or mps.",
        rare=True,
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "prompt_dir",
        "--prompt-dir",
        Path,
        "A folder whose templates replace the shipped ones.",
        rare=True,
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "plugins",
        "--plugin",
        Path,
        "A Python file of extensions; repeatable.",
        True,
        rare=True,
        group=OptionGroup.STRATEGIES,
    ),
    RecipeOption(
        "models.default.model",
        "--model",
        str,
        "provider/name for every role; see: hipo models.",
        also="-m",
    ),
    *(
        RecipeOption(
            f"models.{role}.model", f"--{role}-model", str, f"Another model for {what}.", rare=True
        )
        for role, what in (
            ("initiator", "the initiator"),
            ("responder", "the responder"),
            ("reflector", "reflection"),
        )
    ),
    RecipeOption("models.default.base_url", "--base-url", str, "Where to send requests."),
    RecipeOption(
        "models.default.api_key_env",
        "--api-key-env",
        str,
        "Variable that holds the key.",
        rare=True,
    ),
    RecipeOption("models.default.temperature", "--temperature", float, "Default 0.2.", rare=True),
    RecipeOption("models.default.top_p", "--top-p", float, "Default 0.6.", rare=True),
    RecipeOption(
        "models.default.max_tokens", "--max-tokens", int, "Longest answer; default 1024.", rare=True
    ),
    RecipeOption(
        "models.default.structured",
        "--structured",
        str,
        "How answers get their form: auto (default), native (a schema is sent), instruct (in words).",
        rare=True,
    ),
    RecipeOption(
        "prices",
        "--prices",
        Path,
        "A price table that goes before the shipped one.",
        rare=True,
        group=OptionGroup.LIMITS,
    ),
    RecipeOption(
        "budget_usd", "--budget-usd", float, "Stop before it costs more.", group=OptionGroup.LIMITS
    ),
    RecipeOption(
        "budget_tokens",
        "--budget-tokens",
        int,
        "Stop before the run uses more tokens.",
        rare=True,
        group=OptionGroup.LIMITS,
    ),
    RecipeOption(
        "limits.max_concurrency",
        "--max-concurrency",
        str,
        "Requests in flight per model; default auto: found out, up to 1024; 32 in this process.",
        group=OptionGroup.LIMITS,
    ),
    RecipeOption(
        "limits.batch",
        "--batch",
        bool,
        "Ask in batches at half the price (openai/, anthropic/); takes hours: docs/batches.md.",
        group=OptionGroup.LIMITS,
    ),
    RecipeOption(
        "limits.max_requests_per_minute",
        "--max-requests-per-minute",
        int,
        "Per model.",
        rare=True,
        group=OptionGroup.LIMITS,
    ),
    RecipeOption(
        "limits.max_tokens_per_minute",
        "--max-tokens-per-minute",
        int,
        "Per model.",
        rare=True,
        group=OptionGroup.LIMITS,
    ),
    RecipeOption(
        "limits.timeout_s",
        "--timeout",
        float,
        "Seconds allowed for a request; default 600 for compatible/ and hf/, else 120.",
        rare=True,
        group=OptionGroup.LIMITS,
    ),
    RecipeOption(
        "limits.wait_for_endpoint",
        "--wait-for-endpoint",
        str,
        "How long to wait for an endpoint that does not answer, e.g. 30m; 0 does not; default 1h.",
        rare=True,
        group=OptionGroup.LIMITS,
    ),
)
OPTION_OF: Mapping[str, str] = {
    option.field: option.name.partition("/")[0] for option in RECIPE_OPTIONS
}
"""The option that sets a recipe field."""


def overridden(recipe: Recipe, given: RecipeChanges) -> Recipe:
    """Lay changes over a recipe; several values may be separated by commas.

    Raises:
        UsageError: a value is not allowed, or an option is of no use with the recipe; names it.
    """
    load_plugins(given.get("plugins") or ())
    changes: dict[str, Any] = {}
    for option in RECIPE_OPTIONS:
        value = given.get(option.field)
        if value is None or (option.many and not value) or option.field.startswith("models."):
            continue
        if option.field == "plugins":
            value = [*map(str, recipe.plugins), *(str(Path(path).resolve()) for path in value)]
        elif option.many:
            value = split([str(item) for item in value])
        group, _, name = option.field.rpartition(".")
        inner = changes.setdefault(group, {}) if group else changes
        inner[name] = str(value) if option.kind is Path and not option.many else value
    changes["models"] = model_changes(recipe, given)
    resolved = changed(recipe, changes, OPTION_OF)
    check_used(resolved, given, OPTION_OF)
    return resolved
