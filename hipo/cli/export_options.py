"""The options that say what an export is, and of which dialogues it is made."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import typer

from hipo.app.run_folders import find_run
from hipo.cli.option_groups import with_group
from hipo.cli.options import PLUGINS, split
from outputs.export import ExportOptions
from outputs.formats.registry import FORMATS, row_format
from outputs.selection import Selection
from outputs.splits import Fractions, checked_fractions
from prompts.evaluator import ASPECTS, chosen_aspects
from scenarios.errors import UsageError


class Kind(StrEnum):
    """What an export is for."""

    SFT = "sft"
    DPO = "dpo"
    BENCHMARK = "benchmark"


class SftTask(StrEnum):
    """What is learnt."""

    LABEL = "label"
    ACTOR = "actor"
    INITIATOR = "initiator"


class SplitBy(StrEnum):
    """What no two splits share."""

    SCENARIO = "scenario"
    FACT = "fact"


class LabelSource(StrEnum):
    """Whose labels count."""

    ADJUDICATED = "adjudicated"
    DECLARED = "declared"


def _options(
    *,
    to: Kind = typer.Option(..., "--to", help="Fine-tuning, preference pairs, or a benchmark."),
    task: SftTask = typer.Option(SftTask.LABEL, "--task", help="What is learnt (sft)."),
    aspect: list[str] = typer.Option(
        [], "--aspect", help=f"Of {', '.join(ASPECTS)} (benchmark, sft of labels); default all."
    ),
    rationale: bool = typer.Option(
        False, "--rationale", help="Reasons before labels; those that give facts away go (sft)."
    ),
    row: str | None = typer.Option(
        None, "--format", help=f"Of {', '.join(FORMATS)} (sft, dpo); default messages."
    ),
    split_by: SplitBy = typer.Option(
        SplitBy.SCENARIO, "--split-by", help="What no two splits share."
    ),
    splits: str = typer.Option(
        "80,10,10", "--splits", help="Shares of train, validation, test; 100,0,0 for one set."
    ),
    seed: int = typer.Option(0, "--seed", help="Of splits and balancing."),
    balance: str | None = typer.Option(
        None, "--balance", metavar="DIMENSION", help="As many rows of each of its labels."
    ),
    include_deception: bool = typer.Option(
        False, "--include-deception", help="Let a model learn to deceive (dpo, sft of actors)."
    ),
    parquet: bool = typer.Option(True, "--parquet/--no-parquet", help="Parquet beside JSON lines."),
    plugins: list[Path] | None = PLUGINS,
) -> ExportOptions:
    options = ExportOptions(
        to.value,
        task=task.value,
        aspects=chosen_aspects(split(aspect)) if aspect else ASPECTS,
        rationale=rationale,
        format=row or "messages",
        split_by=split_by.value,
        fractions=_fractions(splits),
        seed=seed,
        balance=balance,
        include_deception=include_deception,
        parquet=parquet,
    )
    _check_fit(options, row=row, aspects=aspect)
    return options


def _selection(
    *,
    runs: list[str] = typer.Argument(..., metavar="RUN...", help="Folders, or names in ./runs."),
    everything: bool = typer.Option(False, "--any", help="Dialogues that are not accepted, too."),
    scenarios: list[str] = typer.Option([], "--scenarios", help="Ids, categories, globs, tag:..."),
    goals: list[str] = typer.Option([], "--goals", help="Goal labels."),
    strategies: list[str] = typer.Option([], "--strategy", help="Of these strategies only."),
    arms: list[str] = typer.Option([], "--arm", help="Of these arms only: beginnings of ids."),
    languages: list[str] = typer.Option([], "--language", help="Language codes."),
    labels: LabelSource = typer.Option(
        LabelSource.ADJUDICATED, "--labels", help="An expert's where there are, or the declared."
    ),
) -> Selection:
    return Selection(
        runs=tuple(find_run(name) for name in runs),
        verdict="any" if everything else "accepted",
        scenarios=_named(scenarios),
        goals=_named(goals),
        strategies=_named(strategies),
        arms=_named(arms),
        languages=_named(languages),
        labels=labels.value,
    )


with_export_options = with_group("options", _options)
"""Gives a command the options of what is made; it gets them as ``options``."""
with_selection = with_group("selection", _selection)
"""Gives a command runs and what to take of them; it gets them as ``selection``."""


def _check_fit(options: ExportOptions, *, row: str | None, aspects: Sequence[str]) -> None:
    """Refuse options that would be silently without effect."""
    labels = options.kind == "sft" and options.task == "label"
    if row is not None:
        row_format(row)
        if options.kind == "benchmark":
            raise UsageError("a benchmark has a form of its own", "leave --format out")
    if options.kind != "sft" and options.task != "label":
        raise UsageError(f"--task {options.task} is for --to sft", "leave one of them out")
    if options.rationale and not labels:
        raise UsageError("--rationale is for --to sft --task label", "leave it out")
    if aspects and not labels and options.kind != "benchmark":
        raise UsageError("--aspect is for benchmarks and --to sft --task label", "leave it out")
    if options.include_deception and not options.trains_responder:
        raise UsageError(
            "--include-deception is for --to dpo and --to sft --task actor",
            "labels are learnt, and benchmarks made, from deceptive dialogues as well without it",
        )


def _fractions(text: str) -> Fractions:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--splits {text!r} is no list of numbers", "for example 80,10,10"
        ) from None
    return checked_fractions(values)


def _named(values: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(split(values)) or None
