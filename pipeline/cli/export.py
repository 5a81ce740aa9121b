"""``hipo export``: training sets, preference pairs and benchmark sets out of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import typer

from outputs.contamination import Contamination, RowSet, Settings, compare, overlap_share
from outputs.documents import Documents, SplitCheck
from outputs.export import Exported, ExportOptions, export
from outputs.formats.registry import FORMATS, row_format
from outputs.hub import prepare_push, push_folder
from outputs.manifest import ExportFacts
from outputs.neighbours import installed_embedding
from outputs.row_files import row_set
from outputs.rows import Row
from outputs.selection import Selection
from outputs.splits import Fractions, checked_fractions
from pipeline.cli.exits import ExitCode, say
from pipeline.cli.options import split
from pipeline.cli.quiet import hush
from pipeline.cli.run_folder import find_run
from pipeline.cli.screen import Format, columns, number, plural, write_json
from pipeline.embeddings import INSTALL, Embed
from prompts.evaluator import ASPECTS, chosen_aspects
from scenarios.errors import UsageError

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Kind(StrEnum):
    """What an export is for."""

    SFT = "sft"
    DPO = "dpo"
    BENCHMARK = "benchmark"


class Task(StrEnum):
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


@app.command("export")
def export_command(
    *,
    runs: list[str] = typer.Argument(..., metavar="RUN...", help="Folders, or names in ./runs."),
    to: Kind = typer.Option(..., "--to", help="Fine-tuning, preference pairs, or a benchmark."),
    output: Path = typer.Option(..., "-o", "--output", help="The folder to make."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier export there."),
    task: Task = typer.Option(Task.LABEL, "--task", help="What is learnt (sft)."),
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
    everything: bool = typer.Option(False, "--any", help="Dialogues that are not accepted, too."),
    scenarios: list[str] = typer.Option([], "--scenarios", help="Ids, categories, globs, tag:..."),
    goals: list[str] = typer.Option([], "--goals", help="Goal labels."),
    strategies: list[str] = typer.Option([], "--strategy", help="Of these strategies only."),
    arms: list[str] = typer.Option([], "--arm", help="Of these arms only: beginnings of ids."),
    languages: list[str] = typer.Option([], "--language", help="Language codes."),
    labels: LabelSource = typer.Option(
        LabelSource.ADJUDICATED, "--labels", help="An expert's where there are, or the declared."
    ),
    against: list[Path] = typer.Option(
        [], "--against", metavar="SET", help="Compare with another set; tells the overlap."
    ),
    remove_overlap: bool = typer.Option(
        False, "--remove-overlap", help="Leave rows out that overlap with a set of --against."
    ),
    compare_splits: bool = typer.Option(
        False, "--compare-splits", help="Tell the overlap of train with the other splits."
    ),
    embeddings: bool = typer.Option(
        True, "--embeddings/--no-embeddings", help="Compare by meaning as well, if installed."
    ),
    parquet: bool = typer.Option(True, "--parquet/--no-parquet", help="Parquet beside JSON lines."),
    licence: str | None = typer.Option(
        None, "--license", help="Of the data, as the hub spells it; none is assumed."
    ),
    push: str | None = typer.Option(
        None, "--push-to-hub", metavar="REPO", help="Send it to the Hugging Face hub (HF_TOKEN)."
    ),
    public: bool = typer.Option(False, "--public", help="Make what is pushed public."),
    output_format: Format = typer.Option(
        Format.TEXT, "--print", help="json: see pipeline.cli.export.exported_as_json."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="No summary."),
) -> int:
    """Make a data set of accepted dialogues: rows, card, datasheet, Croissant and manifest.

    Scenarios are divided among the splits by the runs and the seed alone, so that every export of
    the same runs divides them alike: what one trains on, no other tests.
    """
    hush()
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
    _check_fit(
        options, row=row, aspects=aspect, rationale=rationale, remove=remove_overlap, sets=against
    )
    selection = Selection(
        runs=tuple(find_run(name) for name in runs),
        verdict="any" if everything else "accepted",
        scenarios=_named(scenarios),
        goals=_named(goals),
        strategies=_named(strategies),
        arms=_named(arms),
        languages=_named(languages),
        labels=labels.value,
    )
    target = (
        None
        if push is None
        else prepare_push(push, licence, environ=os.environ, private=not public)
    )
    embed = _embedding() if embeddings and (against or compare_splits) else None
    checks = Checks(output.name, tuple(against), embed, remove=remove_overlap)
    done = export(
        selection,
        options,
        output,
        overwrite=overwrite,
        screen=checks.screen if against else None,
        document=checks.document(
            licence, SplitCheck(Settings(), embed) if compare_splits else None
        ),
    )
    address = None if target is None else push_folder(output, target)
    if output_format is Format.JSON:
        write_json(exported_as_json(done, address))
    elif not quiet:
        print(exported_as_text(done, address))
    return ExitCode.DONE


@dataclass
class Checks:
    """Compares what is exported with other sets, and hands the findings to the documents."""

    name: str
    others: tuple[Path, ...]
    embed: Embed | None
    remove: bool = False
    found: list[Contamination] = field(default_factory=list)

    def screen(self, rows: Callable[[], Iterator[Row]]) -> Collection[int]:
        """Compare with every set, and return the rows to leave out."""
        checked = RowSet(self.name, rows)
        for path in self.others:
            self.found.append(compare(checked, row_set(path, path.name), None, self.embed))
        if not self.remove:
            return ()
        return {int(number) for found in self.found for number in found.rows}

    def document(
        self, licence: str | None, splits: SplitCheck | None
    ) -> Callable[[Path, ExportFacts], ExportFacts]:
        """Return what writes the documents, once everything has been compared."""

        def write(folder: Path, facts: ExportFacts) -> ExportFacts:
            return Documents(
                licence=licence,
                contamination=tuple(self.found),
                removed=self.remove,
                splits=splits,
            )(folder, facts)

        return write


def exported_as_json(done: Exported, address: str | None = None) -> dict[str, object]:
    """Return what an export left behind as plain data.

    ``folder``; ``dialogues``, ``scenarios``, ``facts``: how many rows were made of; ``rows`` by
    split; ``files``: ``path``, ``rows``, ``size``, ``sha256``; ``includes_deception``; ``notes``:
    what was left out; ``overlaps``: of the comparisons that were asked for, see
    :meth:`outputs.contamination.Contamination.summary`; ``address``: on the hub, or null.
    """
    facts = done.facts
    return {
        "folder": str(done.folder),
        "dialogues": facts.dialogues,
        "scenarios": facts.scenarios,
        "facts": facts.facts,
        "rows": done.rows,
        "files": [
            {"path": f.path, "rows": f.rows, "size": f.size, "sha256": f.sha256}
            for f in facts.files
        ],
        "includes_deception": facts.includes_deception,
        "notes": list(done.notes),
        "overlaps": [dict(found) for found in facts.contamination],
        "address": address,
    }


def exported_as_text(done: Exported, address: str | None = None) -> str:
    """Return what an export left behind in words."""
    facts = done.facts
    made = plural(facts.dialogues, "dialogue")
    rows = [[name, number(n)] for name, n in done.rows.items()]
    lines = [
        f"{made}, {plural(facts.scenarios, 'scenario')}, {plural(facts.facts, 'fact')}",
        columns(["split", "rows"], rows),
        *(
            f"overlap of {found['checked']} with {found['reference']}: {overlap_share(found)}"
            f"{', left out' if found['removed'] else ''}"
            for found in facts.contamination
        ),
        *(f"note: {note}" for note in done.notes),
    ]
    if facts.includes_deception:
        lines.append("note: a model trained on these rows learns to deceive; the card says so")
    if facts.offline_baseline:
        lines.append("note: written by rules, not by a language model: no training data")
    lines.append(f"{done.folder}: README.md is the data card, manifest.json lists every file")
    if address is not None:
        lines.append(f"pushed to {address}")
    return "\n".join(lines)


def _check_fit(
    options: ExportOptions,
    *,
    row: str | None,
    aspects: Sequence[str],
    rationale: bool,
    remove: bool,
    sets: Sequence[Path],
) -> None:
    """Refuse options that would be silently without effect."""
    labels = options.kind == "sft" and options.task == "label"
    if row is not None:
        row_format(row)
        if options.kind == "benchmark":
            raise UsageError("a benchmark has a form of its own", "leave --format out")
    if options.kind != "sft" and options.task != "label":
        raise UsageError(f"--task {options.task} is for --to sft", "leave one of them out")
    if rationale and not labels:
        raise UsageError("--rationale is for --to sft --task label", "leave it out")
    if aspects and not labels and options.kind != "benchmark":
        raise UsageError("--aspect is for benchmarks and --to sft --task label", "leave it out")
    if options.include_deception and not options.trains_responder:
        raise UsageError(
            "--include-deception is for --to dpo and --to sft --task actor",
            "labels are learnt, and benchmarks made, from deceptive dialogues as well without it",
        )
    if remove and not sets:
        raise UsageError("--remove-overlap needs a set to compare with", "name it with --against")


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


def _embedding() -> Embed | None:
    embed = installed_embedding()
    if embed is None:
        say(f"nearest neighbours are left out; for them: {INSTALL}")
    return embed
