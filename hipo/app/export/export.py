"""Make a data set out of runs, compared with other sets and sent to the hub if asked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from hipo.app.contamination import embedding_for_neighbours
from hipo.app.export.options import ExportArguments, ExportExtras, export_options
from hipo.app.options.values import check_named, several
from hipo.app.runs.run import RunLike, folder_of
from outputs.contamination.contamination import Contamination, RowSet, Settings, compare
from outputs.dataset.columns import Row
from outputs.dataset.documents import Documents, SplitCheck
from outputs.dataset.manifest import ExportFacts
from outputs.dataset.reader import row_set
from outputs.dataset.told_audit import AUDIT, ToldAudit
from outputs.export.export import Exported
from outputs.export.export import export as write_data_set
from outputs.export.hub import prepare_push, push_folder
from outputs.export.recorded import RecordedExport, folder_seen_from, record_export
from outputs.kinds.export_kind import (
    KINDS,
    ExportOptions,
)
from outputs.selecting.wish import Labels, Selection, WantedVerdict
from pipeline.embeddings.embeddings import Embed
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.text_file import real_path

_log = logger("export")


@dataclass(frozen=True, slots=True)
class DataSet:
    """An export that was written."""

    exported: Exported
    address: str | None = None
    """Where it lies on the hub; None: it was not sent there."""

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return self.exported.folder

    @property
    def rows(self) -> dict[str, int]:
        """Rows by split."""
        return self.exported.rows


def export(
    runs: RunLike | Sequence[RunLike],
    kind: str,
    output: str | Path,
    *,
    verdict: WantedVerdict | None = None,
    scenarios: Sequence[str] | None = None,
    goals: Sequence[str] | None = None,
    strategies: Sequence[str] | None = None,
    labels: Labels = "adjudicated",
    newest: bool = False,
    overwrite: bool = False,
    extras: ExportExtras | None = None,
    **arguments: Unpack[ExportArguments],
) -> DataSet:
    """Write a data set of dialogues with card, datasheet, Croissant metadata and manifest.

    Example::

        data = export("runs/trial", "sft", "sets/sft", fractions=(80, 10, 10))
        print(data.folder, data.rows)

    Args:
        runs: one run or several: what :func:`hipo.generate` returned, a folder, or a name.
        kind: ``dialogues`` (the corpus itself), ``turns`` (the same as a flat table), ``sft``
            (fine-tuning), ``dpo`` (preference pairs), ``benchmark``, ``swap``, ``lm-eval``,
            ``intention-mcq``, or a plugin's.
        output: the folder to make, as a whole or not at all.
        verdict: ``any`` takes dialogues that are not accepted, too; None is what the kind takes:
            ``any`` for ``dialogues`` and ``turns``, whose rows say what was decided.
        scenarios: ids, categories, globs or ``tag:...``; None is all.
        goals: goal labels; None is all.
        strategies: None is all.
        labels: ``declared`` leaves the speaker's label where an expert decided on another,
            ``verifier`` takes those of a program that checks what is said, such as the solver of games.
        newest: whether, of a scenario that was changed while a run was made, dialogues of its newest
            text alone are taken.
        overwrite: whether an earlier export in ``output`` is replaced.
        extras: what the set is compared with, and where it is sent.
        arguments: see :class:`ExportArguments`.

    Raises:
        UsageError: an option does not fit, the folder may not be written to, or nothing was left.
        RunError: it could not be written; the folder is as it was.
    """
    options = export_options(kind, **arguments)
    given = [runs] if isinstance(runs, RunLike) else list(runs)
    folders = tuple(folder_of(run) for run in given)
    filters = (_named(scenarios), _named(goals), _named(strategies))
    wanted = verdict or KINDS.get(kind).verdict
    check_named("verdict", wanted, WantedVerdict)
    check_named("labels", labels, Labels)
    selection = Selection(folders, wanted, *filters, labels=labels, newest=newest)
    return make_data_set(selection, options, Path(output), extras, overwrite=overwrite)


def make_data_set(
    selection: Selection,
    options: ExportOptions,
    output: Path,
    extras: ExportExtras | None = None,
    *,
    overwrite: bool = False,
    notice: Callable[[str], None] = _log.warning,
) -> DataSet:
    """Export a selection, compare it with other sets, and send it to the hub, as ``extras`` say.

    Raises:
        UsageError: something does not fit or does not exist; nothing was made.
        RunError: it could not be written or sent.
    """
    extras = extras or ExportExtras()
    if extras.remove_overlap and not extras.against:
        raise UsageError("--remove-overlap needs a set to compare with", "name it with --against")
    if extras.public and extras.push_to is None:
        raise UsageError("--public is of what is pushed, and nothing is", "add --push-to-hub REPO")
    if extras.remove_reworded and not extras.remove_overlap:
        raise UsageError(
            "--remove-reworded goes with --remove-overlap, and leaves out more than that alone",
            "give both",
        )
    _check_compared(options, extras)
    if extras.max_shortcut is not None:
        from outputs.audit.auditing import check_installed  # noqa: PLC0415 - brings all of audits

        check_installed()
    hub = None
    if extras.push_to is not None:
        hub = prepare_push(
            extras.push_to, extras.licence, environ=os.environ, private=not extras.public
        )
    compared = bool(extras.against) or extras.compare_splits
    embed = embedding_for_neighbours(None, notice) if extras.embeddings and compared else None
    within = SplitCheck(Settings(), embed) if extras.compare_splits else None
    checks = _ExportChecks(output.name, selection, extras, embed)
    exported = write_data_set(
        selection, options, output,
        overwrite=overwrite,
        screen=checks.screen if extras.against else None,
        document=checks.document(within),
    )  # fmt: skip
    _record(selection, exported, notice)
    return DataSet(exported, None if hub is None else push_folder(output, hub))


def _check_compared(options: ExportOptions, extras: ExportExtras) -> None:
    """Refuse what compares splits where there is one, and what says how where nothing is compared."""
    if extras.compare_splits and sum(share > 0 for share in options.fractions) < 2:
        raise UsageError(
            "--compare-splits changes nothing: the set is one split",
            "give shares of several, such as --splits 80,10,10, or leave --compare-splits out",
        )
    if not (extras.embeddings or extras.against or extras.compare_splits):
        raise UsageError(
            "--no-embeddings says how sets are compared, and nothing is compared",
            "add --against SET or --compare-splits, or leave --no-embeddings out",
        )


def _record(selection: Selection, exported: Exported, notice: Callable[[str], None]) -> None:
    """Record the data set in every run that it was made of; a set stays where that fails."""
    facts = exported.facts
    folders = dict.fromkeys(real_path(path) for path in selection.runs)
    for folder, (name, dialogues) in zip(folders, facts.by_run.items(), strict=True):
        place = folder_seen_from(folder, exported.folder)
        try:
            record_export(
                folder,
                RecordedExport(
                    time.time(), place, facts.task, facts.verdict, dialogues, exported.rows,
                    facts.runs, facts.left_out,
                ),
            )  # fmt: skip
        except OSError as error:
            notice(f"the export was not recorded in {name}: {error.strerror or error}")


@dataclass
class _ExportChecks:
    """Compares what is exported with other sets, audits it, and hands both to the documents."""

    name: str
    selection: Selection
    extras: ExportExtras
    embed: Embed | None
    comparisons: list[Contamination] = field(default_factory=list)

    def screen(self, rows: Callable[[], Iterator[Row]]) -> Collection[int]:
        """Compare with every set, and return the rows to leave out."""
        checked = RowSet(self.name, rows)
        settings = Settings(remove_reworded=self.extras.remove_reworded)
        for path in map(Path, self.extras.against):
            other = row_set(path, path.name)
            self.comparisons.append(compare(checked, other, settings, self.embed))
        if not self.extras.remove_overlap:
            return ()
        return {int(number) for comparison in self.comparisons for number in comparison.rows}

    def document(self, splits: SplitCheck | None) -> Callable[[Path, ExportFacts], ExportFacts]:
        """Return what writes the documents, once everything has been compared."""

        def write(folder: Path, facts: ExportFacts) -> ExportFacts:
            return Documents(
                licence=self.extras.licence,
                contamination=tuple(self.comparisons),
                removed=self.extras.remove_overlap,
                splits=splits,
                audit=self._audit(folder),
            )(folder, facts)

        return write

    def _audit(self, folder: Path) -> ToldAudit | None:
        """Audit the rows and refuse them, if asked; else return what was found of the run."""
        most, runs = self.extras.max_shortcut, self.selection.runs
        kept = runs[0] / AUDIT if len(runs) == 1 else None
        if most is None and (kept is None or not kept.exists()):
            return None
        from hipo.app.export import audit as export_audit  # noqa: PLC0415 - brings all of audits

        if most is not None:
            return export_audit.checked(folder, self.selection, self.name, most)
        return None if kept is None else export_audit.of_run(kept)


def _named(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else several(values)
