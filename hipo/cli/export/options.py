"""The options of ``hipo export``: what rows are made of, of which dialogues, and what is checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from hipo.app.export.options import ExportExtras, export_options
from hipo.app.options.groups import OptionGroup
from hipo.app.options.values import split
from hipo.app.runs.folders import find_run
from hipo.cli.options.shared import PLUGINS
from outputs.formats.registry import FORMATS
from outputs.kinds.aspects import ASPECTS
from outputs.kinds.export_kind import (
    DEFAULT_FORMAT,
    DEFAULT_KIND,
    KINDS,
    PROMPT_MODES,
    ExportOptions,
)
from outputs.kinds.origins import ORIGINS
from outputs.kinds.split_shares import SplitBy
from outputs.kinds.system_prompt import Target
from outputs.selecting.wish import Labels, Selection
from scenarios.errors import UsageError

TO = typer.Option(
    DEFAULT_KIND,
    "--to",
    metavar="KIND",
    rich_help_panel="Options",
    help=f"{', '.join(KINDS.shipped)}, or a plugin's.",
)
TASK = typer.Option(
    None, "--task", help="What is learnt: label (default), people, actor, initiator (sft)."
)
ASPECT = typer.Option(
    [], "--aspect", help=f"Of {', '.join(ASPECTS)} (benchmark, sft of labels); default all."
)
MODE = typer.Option(
    [],
    "--mode",
    hidden=True,
    help=f"Of {', '.join(PROMPT_MODES)}: prompts in rows (benchmark); or none.",
)
RATIONALE = typer.Option(
    False,
    "--rationale",
    hidden=True,
    help="Reasons before labels; rows without one, or that give facts away, go (sft).",
)
ROW = typer.Option(
    None,
    "--format",
    help=f"Of {', '.join(FORMATS.shipped)} (sft, dpo); default {DEFAULT_FORMAT}.",
)
PROMPT = typer.Option(
    None,
    "--prompt",
    metavar="short|full|none|FILE",
    help="System message (sft, dpo): a few lines (default), all definitions, none, or a file's; "
    "actors are told their scene in any case.",
)
TARGET = typer.Option(
    None,
    "--target",
    help="What an actor writes (dpo, sft of actors): its words as a chat goes on (default), or "
    "the JSON object that was asked for.",
)
GOAL_OF_LINES = typer.Option(
    False,
    "--goal-of-lines",
    hidden=True,
    help="Ask for the goal beside a single line, too, which hardly tells it (sft of labels).",
)
SPLIT_BY = typer.Option(
    "scenario",
    "--split-by",
    rich_help_panel=OptionGroup.SPLITS,
    help="What no two splits share; dialogue: imported dialogues one by one.",
)
SPLITS = typer.Option(
    None,
    "--splits",
    metavar="SHARES",
    rich_help_panel=OptionGroup.SPLITS,
    help="Of train, validation, test, e.g. 80,10,10 (default of sft and dpo; else all in one).",
)
SEED = typer.Option(
    0,
    "--seed",
    rich_help_panel=OptionGroup.SPLITS,
    hidden=True,
    help="Of splits and balancing.",
)
BALANCE = typer.Option(
    None, "--balance", metavar="DIMENSION|tag|tag:TAG", help="As many rows of each label, or tag."
)
INCLUDE_DECEPTION = typer.Option(
    False, "--include-deception", help="Let a model learn to deceive (dpo, sft of actors)."
)
PAIRS = typer.Option(
    [],
    "--pairs",
    help=f"Of {', '.join(ORIGINS)} (dpo): what prefers an answer; default all but vote; or all.",
)
MIN_MARGIN = typer.Option(
    None,
    "--min-margin",
    hidden=True,
    min=0,
    help="Leave pairs out whose scores are nearer to each other (dpo); verdicts and revisions have none.",
)
SAME_LABELS = typer.Option(
    False,
    "--same-labels",
    hidden=True,
    help="Leave pairs out whose sides declare different labels (dpo).",
)
PARQUET = typer.Option(
    True, "--parquet/--no-parquet", hidden=True, help="Parquet beside JSON lines."
)
RUNS = typer.Argument(..., metavar="RUN...", help="Folders, or names in ./runs.")
SCENARIOS = typer.Option([], "--scenarios", help="Ids, categories, globs, tag:...")
GOALS = typer.Option([], "--goals", help="Goal labels.")
STRATEGIES = typer.Option([], "--strategy", help="Of these strategies only.")
ARMS = typer.Option([], "--arm", hidden=True, help="Of these arms only: beginnings of ids.")
LANGUAGES = typer.Option([], "--language", hidden=True, help="Language codes.")
NEWEST = typer.Option(
    False,
    "--newest",
    hidden=True,
    help="Of a scenario that was changed while a run was made, dialogues of its newest text alone.",
)
LABELS = typer.Option(
    "adjudicated",
    "--labels",
    hidden=True,
    help="An expert's or most people's where there are (adjudicated), the declared, or those of a "
    "program that checks what is said (verifier).",
)
AGAINST = typer.Option(
    [],
    "--against",
    hidden=True,
    metavar="SET",
    help="Compare with another set; tells the overlap.",
)
REMOVE_OVERLAP = typer.Option(
    False,
    "--remove-overlap",
    hidden=True,
    help="Leave rows out that overlap with a set of --against.",
)
REMOVE_REWORDED = typer.Option(
    False,
    "--remove-reworded",
    hidden=True,
    help="With --remove-overlap: rows, too, with a line that may be one of the set in other words.",
)
COMPARE_SPLITS = typer.Option(
    False,
    "--compare-splits",
    hidden=True,
    help="Tell the overlap of train with the other splits.",
)
EMBEDDINGS = typer.Option(
    True,
    "--embeddings/--no-embeddings",
    hidden=True,
    help="Compare by meaning as well, if installed.",
)
LICENCE = typer.Option(
    None,
    "--license",
    rich_help_panel=OptionGroup.PUBLISHING,
    help="Of the data, as the hub spells it; none is assumed.",
)
PUSH = typer.Option(
    None,
    "--push-to-hub",
    rich_help_panel=OptionGroup.PUBLISHING,
    metavar="REPO",
    help="Send it to the Hugging Face hub (HF_TOKEN).",
)
PUBLIC = typer.Option(
    False,
    "--public",
    rich_help_panel=OptionGroup.PUBLISHING,
    hidden=True,
    help="Make what is pushed public.",
)
MAX_SHORTCUT = typer.Option(
    None,
    "--max-shortcut",
    hidden=True,
    min=0,
    max=1,
    metavar="X",
    help="Audit the set; refuse it (exit 2) if what should tell nothing reads a label for "
    "certain more than X above the floor. 1 refuses nothing.",
)


def chosen_rows(
    *,
    to: str = TO,
    task: str | None = TASK,
    aspect: list[str] = ASPECT,
    mode: list[str] = MODE,
    rationale: bool = RATIONALE,
    row: str | None = ROW,
    prompt: str | None = PROMPT,
    target: Target | None = TARGET,
    goal_of_lines: bool = GOAL_OF_LINES,
    split_by: SplitBy = SPLIT_BY,
    splits: str | None = SPLITS,
    seed: int = SEED,
    balance: str | None = BALANCE,
    include_deception: bool = INCLUDE_DECEPTION,
    pairs: list[str] = PAIRS,
    min_margin: float | None = MIN_MARGIN,
    same_labels: bool = SAME_LABELS,
    parquet: bool = PARQUET,
    plugins: list[Path] | None = PLUGINS,
) -> ExportOptions:
    """Return what rows are made of, and how they are divided."""
    return export_options(
        to,
        task=task,
        aspects=split(aspect),
        modes=split(mode),
        rationale=rationale,
        format=row,
        prompt=prompt,
        target=target,
        goal_of_lines=goal_of_lines,
        split_by=split_by,
        fractions=() if splits is None else _fractions(splits),
        seed=seed,
        balance=balance,
        include_deception=include_deception,
        pairs=split(pairs),
        min_margin=min_margin,
        same_labels=same_labels,
        parquet=parquet,
    )


def chosen_dialogues(
    *,
    runs: list[str] = RUNS,
    scenarios: list[str] = SCENARIOS,
    goals: list[str] = GOALS,
    strategies: list[str] = STRATEGIES,
    arms: list[str] = ARMS,
    languages: list[str] = LANGUAGES,
    newest: bool = NEWEST,
    labels: Labels = LABELS,
) -> Selection:
    """Return which dialogues of which runs are taken."""
    return Selection(
        runs=tuple(find_run(name) for name in runs),
        scenarios=_named(scenarios),
        goals=_named(goals),
        strategies=_named(strategies),
        arms=_named(arms),
        languages=_named(languages),
        newest=newest,
        labels=labels,
    )


def chosen_extras(
    *,
    against: list[Path] = AGAINST,
    remove_overlap: bool = REMOVE_OVERLAP,
    remove_reworded: bool = REMOVE_REWORDED,
    compare_splits: bool = COMPARE_SPLITS,
    embeddings: bool = EMBEDDINGS,
    licence: str | None = LICENCE,
    push: str | None = PUSH,
    public: bool = PUBLIC,
    max_shortcut: float | None = MAX_SHORTCUT,
) -> ExportExtras:
    """Return what is checked, and where the set goes."""
    return ExportExtras(
        against=against,
        remove_overlap=remove_overlap,
        remove_reworded=remove_reworded,
        compare_splits=compare_splits,
        embeddings=embeddings,
        licence=licence,
        push_to=push,
        public=public,
        max_shortcut=max_shortcut,
    )


def _fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--splits {text!r} is no list of numbers", "for example 80,10,10"
        ) from None


def _named(values: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(split(values)) or None
