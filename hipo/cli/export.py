"""``hipo export``: training sets, preference pairs and benchmark sets out of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import typer

from hipo.app.export import DataSet, ExportExtras, export_options, make_data_set
from hipo.app.option_groups import OptionGroup
from hipo.app.recipe_options import split
from hipo.app.run_folders import find_run
from hipo.cli.console import Format, columns, hush, number, plain, plural, write_json
from hipo.cli.errors import ExitCode, say
from hipo.cli.main import command_app
from hipo.cli.options import PLUGINS, QUIET, with_group
from hipo.cli.wrapping import write_text
from outputs.aspects import ASPECTS
from outputs.contamination import overlap_share
from outputs.export_kind import DEFAULT_FORMAT, DEFAULT_KIND, KINDS, PROMPT_MODES, ExportOptions
from outputs.formats.registry import FORMATS
from outputs.preferred_answers import ORIGINS
from outputs.selection import Selection, WantedVerdict
from outputs.token_lengths import DEFAULT_WINDOW
from scenarios.errors import UsageError

app = command_app()
_VERDICTS: Mapping[bool, WantedVerdict] = {True: "any", False: "accepted"}


class SplitBy(StrEnum):
    """What no two splits share."""

    SCENARIO = "scenario"
    FACT = "fact"


class Target(StrEnum):
    """What an actor learns to write."""

    UTTERANCE = "utterance"
    JSON = "json"


class LabelChoice(StrEnum):
    """Whose labels count."""

    ADJUDICATED = "adjudicated"
    DECLARED = "declared"


def _options(
    *,
    to: str = typer.Option(
        DEFAULT_KIND,
        "--to",
        metavar="KIND",
        rich_help_panel="Options",
        help=f"{', '.join(KINDS.shipped)}, or a plugin's.",
    ),
    task: str | None = typer.Option(
        None, "--task", help="What is learnt: label (default), actor, initiator (sft)."
    ),
    aspect: list[str] = typer.Option(
        [], "--aspect", help=f"Of {', '.join(ASPECTS)} (benchmark, sft of labels); default all."
    ),
    mode: list[str] = typer.Option(
        [],
        "--mode",
        hidden=True,
        help=f"Of {', '.join(PROMPT_MODES)}: prompts in rows (benchmark); or none.",
    ),
    rationale: bool = typer.Option(
        False,
        "--rationale",
        hidden=True,
        help="Reasons before labels; those that give facts away go (sft).",
    ),
    row: str | None = typer.Option(
        None,
        "--format",
        help=f"Of {', '.join(FORMATS.shipped)} (sft, dpo); default {DEFAULT_FORMAT}.",
    ),
    prompt: str | None = typer.Option(
        None,
        "--prompt",
        metavar="short|full|none|FILE",
        help="System message (sft, dpo): a few lines (default), all definitions, none, or a file's.",
    ),
    target: Target | None = typer.Option(
        None,
        "--target",
        help="What an actor writes (dpo, sft of actors): its words as a chat goes on (default), or "
        "the JSON object that was asked for.",
    ),
    goal_of_lines: bool = typer.Option(
        False,
        "--goal-of-lines",
        hidden=True,
        help="Ask for the goal beside a single line, too, which hardly tells it (sft of labels).",
    ),
    split_by: SplitBy = typer.Option(
        SplitBy.SCENARIO,
        "--split-by",
        rich_help_panel=OptionGroup.SPLITS,
        help="What no two splits share.",
    ),
    splits: str | None = typer.Option(
        None,
        "--splits",
        metavar="SHARES",
        rich_help_panel=OptionGroup.SPLITS,
        help="Of train, validation, test, e.g. 80,10,10 (default of sft and dpo; else all in one).",
    ),
    seed: int = typer.Option(
        0,
        "--seed",
        rich_help_panel=OptionGroup.SPLITS,
        hidden=True,
        help="Of splits and balancing.",
    ),
    balance: str | None = typer.Option(
        None, "--balance", metavar="DIMENSION", help="As many rows of each of its labels."
    ),
    include_deception: bool = typer.Option(
        False, "--include-deception", help="Let a model learn to deceive (dpo, sft of actors)."
    ),
    pairs: list[str] = typer.Option(
        [],
        "--pairs",
        help=f"Of {', '.join(ORIGINS)} (dpo): what prefers an answer; default all but vote; or all.",
    ),
    min_margin: float | None = typer.Option(
        None,
        "--min-margin",
        hidden=True,
        min=0,
        help="Leave pairs out whose scores are nearer to each other (dpo).",
    ),
    same_labels: bool = typer.Option(
        False,
        "--same-labels",
        hidden=True,
        help="Leave pairs out whose sides declare different labels (dpo).",
    ),
    parquet: bool = typer.Option(
        True, "--parquet/--no-parquet", hidden=True, help="Parquet beside JSON lines."
    ),
    plugins: list[Path] | None = PLUGINS,
) -> ExportOptions:
    return export_options(
        to,
        task=task,
        aspects=split(aspect),
        modes=split(mode),
        rationale=rationale,
        format=row,
        prompt=prompt,
        target=None if target is None else target.value,
        goal_of_lines=goal_of_lines,
        split_by=split_by.value,
        fractions=() if splits is None else _fractions(splits),
        seed=seed,
        balance=balance,
        include_deception=include_deception,
        pairs=split(pairs),
        min_margin=min_margin,
        same_labels=same_labels,
        parquet=parquet,
    )


def _selection(
    *,
    runs: list[str] = typer.Argument(..., metavar="RUN...", help="Folders, or names in ./runs."),
    scenarios: list[str] = typer.Option([], "--scenarios", help="Ids, categories, globs, tag:..."),
    goals: list[str] = typer.Option([], "--goals", help="Goal labels."),
    strategies: list[str] = typer.Option([], "--strategy", help="Of these strategies only."),
    arms: list[str] = typer.Option(
        [], "--arm", hidden=True, help="Of these arms only: beginnings of ids."
    ),
    languages: list[str] = typer.Option([], "--language", hidden=True, help="Language codes."),
    labels: LabelChoice = typer.Option(
        LabelChoice.ADJUDICATED,
        "--labels",
        hidden=True,
        help="An expert's where there are, or the declared.",
    ),
) -> Selection:
    return Selection(
        runs=tuple(find_run(name) for name in runs),
        scenarios=_named(scenarios),
        goals=_named(goals),
        strategies=_named(strategies),
        arms=_named(arms),
        languages=_named(languages),
        labels=labels.value,
    )


def _extras(
    *,
    against: list[Path] = typer.Option(
        [],
        "--against",
        hidden=True,
        metavar="SET",
        help="Compare with another set; tells the overlap.",
    ),
    remove_overlap: bool = typer.Option(
        False,
        "--remove-overlap",
        hidden=True,
        help="Leave rows out that overlap with a set of --against.",
    ),
    compare_splits: bool = typer.Option(
        False,
        "--compare-splits",
        hidden=True,
        help="Tell the overlap of train with the other splits.",
    ),
    embeddings: bool = typer.Option(
        True,
        "--embeddings/--no-embeddings",
        hidden=True,
        help="Compare by meaning as well, if installed.",
    ),
    licence: str | None = typer.Option(
        None,
        "--license",
        rich_help_panel=OptionGroup.PUBLISHING,
        help="Of the data, as the hub spells it; none is assumed.",
    ),
    push: str | None = typer.Option(
        None,
        "--push-to-hub",
        rich_help_panel=OptionGroup.PUBLISHING,
        metavar="REPO",
        help="Send it to the Hugging Face hub (HF_TOKEN).",
    ),
    public: bool = typer.Option(
        False,
        "--public",
        rich_help_panel=OptionGroup.PUBLISHING,
        hidden=True,
        help="Make what is pushed public.",
    ),
    max_shortcut: float | None = typer.Option(
        None,
        "--max-shortcut",
        hidden=True,
        min=0,
        max=1,
        metavar="X",
        help="Audit the set; refuse it (exit 2) if what should tell nothing reads a label for "
        "certain more than X above the floor. 1 refuses nothing.",
    ),
) -> ExportExtras:
    return ExportExtras(
        against=against,
        remove_overlap=remove_overlap,
        compare_splits=compare_splits,
        embeddings=embeddings,
        licence=licence,
        push_to=push,
        public=public,
        max_shortcut=max_shortcut,
    )


@app.command("export")
@with_group("options", _options, heading=OptionGroup.ROWS)
@with_group("selection", _selection, heading=OptionGroup.DIALOGUES)
@with_group("extras", _extras, heading=OptionGroup.CHECKS)
def export_command(
    *,
    output: Path = typer.Option(..., "-o", "--output", help="The folder to make."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier export there."),
    options: ExportOptions,
    everything: bool | None = typer.Option(
        None,
        "--any/--accepted",
        rich_help_panel=OptionGroup.DIALOGUES,
        help="Dialogues that are not accepted, too (default of dialogues and turns), or not.",
    ),
    selection: Selection,
    extras: ExportExtras,
    output_format: Format = typer.Option(
        Format.TEXT,
        "--print",
        rich_help_panel=OptionGroup.OUTPUT,
        help="json: see docs/json-shapes.md.",
    ),
    quiet: bool = QUIET,
) -> int:
    """Make a data set: rows, card, datasheet, Croissant and manifest.

    By default the corpus itself, a dialogue a row, whatever was decided on it; other kinds (--to)
    take accepted dialogues.

    Scenarios are divided among the splits by the runs and the seed alone, so that every export of
    the same runs divides them alike: what one trains on, no other tests.
    """
    hush()
    verdict = KINDS.get(options.kind).verdict if everything is None else _VERDICTS[everything]
    selection = replace(selection, verdict=verdict)
    data = make_data_set(selection, options, output, extras, overwrite=overwrite, notice=say)
    if output_format is Format.JSON:
        write_json(exported_as_json(data))
    elif not quiet:
        write_text(exported_as_text(data))
    return ExitCode.DONE


def exported_as_json(data: DataSet) -> dict[str, object]:
    """Return what an export left behind as plain data.

    ``folder``; ``dialogues``, ``scenarios``, ``facts``: how many rows were made of; ``rows`` by
    split; ``files``: ``path``, ``rows``, ``size``, ``sha256``; ``includes_deception``; ``left_out``:
    ``generated`` and ``taken`` dialogues, and what was left out by reason, ``dialogues`` and
    ``rows``; ``notes``: what else its user should know; ``overlaps``: of the comparisons that were asked for, see
    :meth:`outputs.contamination.Contamination.summary`, with ``removed``: whether the rows found
    were left out; ``address``: on the hub, or null.
    """
    facts = data.exported.facts
    return {
        "folder": str(data.folder),
        **plain(facts, "dialogues scenarios facts"),
        "rows": data.rows,
        "files": [plain(file, "path rows size sha256") for file in facts.files],
        "includes_deception": facts.includes_deception,
        "left_out": facts.left_out.plain(),
        "notes": list(data.exported.notes),
        "overlaps": [dict(overlap) for overlap in facts.contamination],
        "address": data.address,
    }


def exported_as_text(data: DataSet) -> str:
    """Return what an export left behind in words."""
    facts = data.exported.facts
    made = plural(facts.dialogues, "dialogue")
    rows = [[name, number(n)] for name, n in data.rows.items()]
    lines = [
        f"{made}, {plural(facts.scenarios, 'scenario')}, {plural(facts.facts, 'fact')}",
        columns(["split", "rows"], rows),
        *facts.left_out.sentences(ways=True),
        *(one.sentence for one in facts.lengths),
        *(
            f"warning: {plural(one.over, 'row')} of {one.subset} may have more than "
            f"{DEFAULT_WINDOW:,} tokens, at which trainers cut by default, answer first: set "
            "max_length (hipo train does), or take --prompt short"
            for one in facts.lengths
            if one.over
        ),
        *(
            f"overlap of {overlap['checked']} with {overlap['reference']}: {overlap_share(overlap)}"
            f"{', left out' if overlap['removed'] else ''}"
            for overlap in facts.contamination
        ),
        *(f"note: {note}" for note in data.exported.notes),
    ]
    if facts.includes_deception:
        lines.append("note: a model trained on these rows learns to deceive; the card says so")
    if facts.offline_baseline:
        lines.append("note: written by rules, not by a language model: no training data")
    lines.append(f"{data.folder}: README.md is the data card, manifest.json lists every file")
    if data.address is not None:
        lines.append(f"pushed to {data.address}")
    return "\n".join(lines)


def _fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--splits {text!r} is no list of numbers", "for example 80,10,10"
        ) from None


def _named(values: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(split(values)) or None
