"""``hipo export``: training sets, preference pairs and benchmark sets out of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import typer

from hipo.cli.console import Format, columns, hush, number, plural, write_json
from hipo.cli.errors import ExitCode, say
from hipo.cli.export_options import with_export_options, with_selection
from outputs.contamination import Contamination, RowSet, Settings, compare, overlap_share
from outputs.dataset.columns import Row
from outputs.dataset.documents import Documents, SplitCheck
from outputs.dataset.manifest import ExportFacts
from outputs.dataset.reader import row_set
from outputs.export import Exported, ExportOptions, export
from outputs.hub import prepare_push, push_folder
from outputs.neighbours import installed_embedding
from outputs.selection import Selection
from pipeline.embeddings import INSTALL, Embed
from scenarios.errors import UsageError

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("export")
@with_export_options
@with_selection
def export_command(
    *,
    output: Path = typer.Option(..., "-o", "--output", help="The folder to make."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier export there."),
    options: ExportOptions,
    selection: Selection,
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
    licence: str | None = typer.Option(
        None, "--license", help="Of the data, as the hub spells it; none is assumed."
    ),
    push: str | None = typer.Option(
        None, "--push-to-hub", metavar="REPO", help="Send it to the Hugging Face hub (HF_TOKEN)."
    ),
    public: bool = typer.Option(False, "--public", help="Make what is pushed public."),
    output_format: Format = typer.Option(
        Format.TEXT, "--print", help="json: see hipo.cli.export.exported_as_json."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="No summary."),
) -> int:
    """Make a data set of accepted dialogues: rows, card, datasheet, Croissant and manifest.

    Scenarios are divided among the splits by the runs and the seed alone, so that every export of
    the same runs divides them alike: what one trains on, no other tests.
    """
    hush()
    if remove_overlap and not against:
        raise UsageError("--remove-overlap needs a set to compare with", "name it with --against")
    hub = (
        None
        if push is None
        else prepare_push(push, licence, environ=os.environ, private=not public)
    )
    embed = _embedding() if embeddings and (against or compare_splits) else None
    within = SplitCheck(Settings(), embed) if compare_splits else None
    checks = OverlapChecks(output.name, tuple(against), embed, remove=remove_overlap)
    done = export(
        selection, options, output,
        overwrite=overwrite,
        screen=checks.screen if against else None,
        document=checks.document(licence, within),
    )  # fmt: skip
    address = None if hub is None else push_folder(output, hub)
    if output_format is Format.JSON:
        write_json(exported_as_json(done, address))
    elif not quiet:
        print(exported_as_text(done, address))
    return ExitCode.DONE


@dataclass
class OverlapChecks:
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
    :meth:`outputs.contamination.Contamination.summary`, with ``removed``: whether the rows found
    were left out; ``address``: on the hub, or null.
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


def _embedding() -> Embed | None:
    embed = installed_embedding()
    if embed is None:
        say(f"nearest neighbours are left out; for them: {INSTALL}")
    return embed
