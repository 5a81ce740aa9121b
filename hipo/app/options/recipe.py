"""The options that change a recipe: one table, from which the command line and messages are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hipo.app.options.groups import OptionGroup
from hipo.app.options.model_changes import model_changes
from hipo.app.options.unused import check_used
from hipo.app.options.values import split
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import changed
from scenarios.plugins import load_plugins
from scenarios.text_file import real_path

RecipeChanges = Mapping[str, Any]
"""Changes by dotted recipe field; None leaves the recipe as it is."""


@dataclass(frozen=True, slots=True)
class RecipeOption:
    """One option, and the recipe field it sets."""

    field: str
    """Dotted, e.g. ``limits.timeout_s``."""
    help: str
    kind: type = str
    """The type of one value."""
    named: str = ""
    """Its name, where that is not the last part of the field."""
    also: str = ""
    """Another name of it."""
    many: bool = False
    """Whether it takes several values, repeated or separated by commas."""
    rare: bool = False
    """Whether it stands under ``--help-all`` alone."""
    group: OptionGroup = OptionGroup.MODELS

    @property
    def name(self) -> str:
        """The name people write, such as ``--max-concurrency``; with its negation where it has one."""
        return self.named or "--" + self.field.rpartition(".")[2].replace("_", "-")

    @property
    def parameter(self) -> str:
        """The name of the parameter that carries it."""
        return self.field.replace(".", "_")


_BY_HEADING: Mapping[OptionGroup, tuple[RecipeOption, ...]] = {
    OptionGroup.SCENARIOS: (
        RecipeOption("scenarios", "Ids, categories, globs or tag:...; default all.", many=True),
        RecipeOption(
            "facts", "Facts, as id or scenario/id, globs too; default all.", many=True, rare=True
        ),
        RecipeOption("goals", "Goal labels; default all of the scheme.", many=True, rare=True),
        RecipeOption("turns", "Improvised exchanges; default 1,2,3.", many=True),
        RecipeOption(
            "openings",
            "shared (all goals open alike, default), or by-goal (a statement each, the paper's way).",
            rare=True,
        ),
        RecipeOption(
            "languages", "Language codes; default en.", named="--language", many=True, rare=True
        ),
        RecipeOption(
            "wordings",
            "Texts of scenarios in that language: files of hipo scenarios translate, or a folder of them.",
            Path,
            many=True,
            rare=True,
        ),
        RecipeOption(
            "unreviewed",
            "Wordings, too, that no person has read.",
            bool,
            named="--unreviewed/--reviewed",
            rare=True,
        ),
        RecipeOption(
            "n",
            "How many cases, spread over scenarios, goals and turns; default all.",
            int,
            named="-n",
            also="--count",
        ),
        RecipeOption("repetitions", "How often to play every case; default 1.", int, rare=True),
        RecipeOption(
            "shard",
            "i/n: play the i-th of n equal parts of the plan; a budget is that of the part.",
            rare=True,
        ),
        RecipeOption("seed", "Seed of the run; default 0.", int, rare=True),
        RecipeOption("scheme", "Label scheme: id or file."),
        RecipeOption(
            "scenario_dirs",
            "A folder of scenarios; repeatable.",
            Path,
            named="--scenario-dir",
            many=True,
        ),
        RecipeOption(
            "only_scenario_dirs",
            "Of the folders of scenarios alone, without what ships.",
            bool,
            named="--only",
            rare=True,
        ),
        RecipeOption(
            "real_names",
            "Names as on the public record, which plays documented facts only.",
            bool,
            named="--real-names/--aliases",
            rare=True,
        ),
    ),
    OptionGroup.STRATEGIES: (
        RecipeOption(
            "strategies",
            "One or several of direct, reflective, consistency, verified, screenplay, or one of a plugin; default direct; of hipo study those of a recipe that names several, else the first three.",
            named="--strategy",
            many=True,
        ),
        RecipeOption("tactics", "free (the actor chooses, default), balanced, or a file."),
        RecipeOption(
            "vary", "Axes of variation: persona, register, style, opening.", many=True, rare=True
        ),
        RecipeOption(
            "consistency.k",
            "Candidates per utterance (consistency); default 4. Of 2, the first is said.",
            int,
            rare=True,
        ),
        RecipeOption(
            "embedding.model",
            "What compares candidates (consistency), and dialogues that are verified.",
            named="--embedding-model",
            rare=True,
        ),
        RecipeOption(
            "embedding.device",
            "auto (default), cpu, cuda or mps.",
            named="--embedding-device",
            rare=True,
        ),
        RecipeOption(
            "prompt_dir", "A folder whose templates replace the shipped ones.", Path, rare=True
        ),
        RecipeOption(
            "plugins",
            "A Python file of extensions; repeatable.",
            Path,
            named="--plugin",
            many=True,
            rare=True,
        ),
    ),
    OptionGroup.MODELS: (
        RecipeOption(
            "models.default.model", "provider/name for every role; see: hipo models.", also="-m"
        ),
        RecipeOption(
            "models.initiator.model",
            "Another model for the initiator.",
            named="--initiator-model",
            rare=True,
        ),
        RecipeOption(
            "models.responder.model",
            "Another model for the responder.",
            named="--responder-model",
            rare=True,
        ),
        RecipeOption(
            "models.reflector.model",
            "Another model for reflection.",
            named="--reflector-model",
            rare=True,
        ),
        RecipeOption("models.default.base_url", "Where to send requests."),
        RecipeOption(
            "models.default.api_key_env",
            "Variable that holds the key; HEADER:VARIABLE sends it in that header.",
            rare=True,
        ),
        RecipeOption("models.default.temperature", "Default 0.2.", float, rare=True),
        RecipeOption("models.default.top_p", "Default 0.6.", float, rare=True),
        RecipeOption("models.default.max_tokens", "Longest answer; default 1024.", int, rare=True),
        RecipeOption(
            "models.default.structured",
            "How answers get their form: auto (default), native (a schema is sent), instruct (in words).",
            rare=True,
        ),
    ),
    OptionGroup.LIMITS: (
        RecipeOption("prices", "A price table that goes before the shipped one.", Path, rare=True),
        RecipeOption("budget_usd", "Stop before it costs more.", float),
        RecipeOption("budget_tokens", "Stop before the run uses more tokens.", int, rare=True),
        RecipeOption(
            "limits.max_concurrency",
            "Requests in flight per model; default auto: found out, up to 1024; 32 in this process.",
        ),
        RecipeOption(
            "limits.batch",
            "Ask in batches at half the price (openai/, anthropic/); takes hours: docs/batches.md.",
            bool,
        ),
        RecipeOption("limits.max_requests_per_minute", "Per model.", int, rare=True),
        RecipeOption("limits.max_tokens_per_minute", "Per model.", int, rare=True),
        RecipeOption(
            "limits.timeout_s",
            "Seconds allowed for a request; default 600 for compatible/ and hf/, else 120.",
            float,
            named="--timeout",
            rare=True,
        ),
        RecipeOption(
            "limits.wait_for_endpoint",
            "How long to wait for an endpoint that does not answer, e.g. 30m; 0 does not; default 1h.",
            rare=True,
        ),
    ),
}
RECIPE_OPTIONS: tuple[RecipeOption, ...] = tuple(
    replace(option, group=heading) for heading, options in _BY_HEADING.items() for option in options
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
            value = [*map(str, recipe.plugins), *(str(real_path(Path(path))) for path in value)]
        elif option.many:
            value = split([str(item) for item in value])
        group, _, name = option.field.rpartition(".")
        inner = changes.setdefault(group, {}) if group else changes
        inner[name] = str(value) if option.kind is Path and not option.many else value
    changes["models"] = model_changes(recipe, given)
    resolved = changed(recipe, changes, OPTION_OF)
    check_used(resolved, given, OPTION_OF)
    return resolved
