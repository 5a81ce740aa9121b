"""``hipo runs merge``: put runs of one configuration together, and say what came of it."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.runs.folders import locate_run
from hipo.app.runs.merging import Keep, MergedRun, merge_runs
from hipo.cli.main import command_app
from hipo.cli.terminal.console import Format, number, write_json
from hipo.cli.terminal.errors import ExitCode
from hipo.cli.terminal.wrapping import write_text
from scenarios.plural import plural

app = command_app()


@app.command("merge")
def merge(
    runs: list[str] = typer.Argument(..., metavar="RUN...", help="Runs of one configuration."),
    output: Path = typer.Option(..., "-o", "--output", help="The new folder."),
    keep: Keep = typer.Option(
        "first",
        "--keep",
        help="Whose dialogue is kept where two runs have different ones of a case: that of the "
        "first run named, or of the last.",
    ),
    output_format: Format = typer.Option("text", "--format", help="text or json."),
) -> int:
    """Put runs of one configuration together into a new one, such as the shards of a plan.

    Every case is there once; calls, costs, labels, flags, verdicts, reviews and records of exports
    are kept, each once. The runs are only read, and the new folder is made as a whole or not at
    all. What is still missing is told; hipo generate into the new folder plays it.
    """
    folders = [locate_run(run) for run in runs]
    merged = merge_runs(folders, output, keep)
    if output_format == "json":
        write_json(merged_as_json(merged))
    else:
        write_text(merged_as_text(merged))
    return ExitCode.DONE


def merged_as_json(result: MergedRun) -> dict[str, object]:
    """Return what ``hipo runs merge RUN... --format json`` prints.

    ``run`` (the new folder), ``runs`` (those that were merged), ``generated``, ``failed``,
    ``missing`` (dialogues of the plan, and of cases that were drawn for a quota, that no run has),
    ``begun`` (those of them drawn for a quota), ``missing_shards`` (as ``i/n``), ``alike``
    (dialogues that several runs have word for word), ``conflicts`` (dialogues left out because another
    run has another one), ``shown_conflicts``: the first of them, objects with ``dialogue``, ``kept``
    and ``left_out`` (runs); ``notes``: a list of sentences.
    """
    return {
        "run": str(result.folder),
        "runs": list(map(str, result.runs)),
        "generated": result.generated,
        "failed": result.failed,
        "missing": result.missing,
        "begun": result.begun,
        "missing_shards": list(result.missing_shards),
        "alike": result.merged.alike,
        "conflicts": result.merged.conflicts,
        "shown_conflicts": [
            {
                "dialogue": f"{one.case}/{one.arm}",
                "kept": str(one.kept),
                "left_out": str(one.left_out),
            }
            for one in result.merged.shown
        ],
        "notes": list(result.notes),
    }


def merged_as_text(result: MergedRun) -> str:
    """Return what was merged, what was left out and what is missing, for people."""
    merged = result.merged
    runs, dialogues = plural(len(result.runs), "run"), plural(result.generated, "dialogue")
    lines = [f"{runs}: {dialogues}, {number(result.failed)} failed"]
    if merged.alike:
        lines.append(f"{plural(merged.alike, 'dialogue')} word for word in several runs")
    if merged.conflicts:
        lines.append(
            f"{plural(merged.conflicts, 'dialogue')} left out: another run has another one"
        )
        lines += [
            f"  {one.case[:12]}/{one.arm[:12]}: that of {one.kept} is kept, not that of {one.left_out}"
            for one in merged.shown
        ]
        more = merged.conflicts - len(merged.shown)
        lines += [f"  and {number(more)} more"] if more else []
    lines += result.notes
    if result.missing_shards:
        lines.append(f"no run is of shard {', '.join(result.missing_shards)}")
    of_plan = result.missing - result.begun
    if of_plan:
        lines.append(
            f"{plural(of_plan, 'dialogue')} of the plan missing: hipo generate with the same "
            f"recipe, without --shard, and -o {result.folder} plays them"
        )
    if result.begun:
        lines.append(
            f"{plural(result.begun, 'dialogue')} of cases drawn for the quota not played: hipo generate "
            f"with the same recipe and --quota FILE, without --shard, and -o {result.folder} plays them"
        )
    return "\n".join([*lines, f"in {result.folder}"])
