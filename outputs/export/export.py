"""Export a data set: select, divide, balance, write, document; all of it or nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from outputs.dataset.arrow import check_parquet
from outputs.dataset.columns import Row, RowSource, by_case, left_out_notes
from outputs.dataset.divided_writer import DividedWriter
from outputs.dataset.folder import check_target, staged
from outputs.dataset.foreign_rows import COUNTS, ForeignRows, write_companions
from outputs.dataset.manifest import ExportedFile, ExportFacts, write_manifest
from outputs.dataset.scheme_file import write_scheme
from outputs.export.balance import Balance, balanced_column, classes_by_tag
from outputs.export.facts import Seen, export_facts
from outputs.export.notes import export_notes, told_by
from outputs.export.nothing_left import nothing_left
from outputs.export.planning import planned_splits, played
from outputs.export.splits import SplitPlan
from outputs.formats.registry import FORMATS
from outputs.kinds.export_kind import KINDS, ExportOptions
from outputs.selecting.left_out import NO_ROW, ROWS_LEFT_OUT
from outputs.selecting.selection import OpenSelection, SelectedDialogue, opened
from outputs.selecting.wish import Selection
from outputs.token_lengths import RowLengths
from outputs.trainers.trainer_files import write_trainer_files
from pipeline.rare_collections import rare_collections
from scenarios.errors import UsageError
from scenarios.extensions import ExtensionPoint, told_of_plugin
from scenarios.schemes.model import Scheme

Documentation = Callable[[Path, ExportFacts], ExportFacts]
"""Writes what describes an export into its folder; returns the facts with what it found out."""
Screening = Callable[[Callable[[], Iterator[Row]]], Collection[int]]
"""Is given all rows, as often as it asks, and says which to leave out: 0 is the first."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export left behind."""

    folder: Path
    facts: ExportFacts
    notes: tuple[str, ...]
    """What was left out, and what its user should know."""

    @property
    def rows(self) -> dict[str, int]:
        """Rows by split."""
        rows: Counter[str] = Counter()
        for file in self.facts.primary:
            rows[file.split] += file.rows
        return dict(rows)


def export(
    selection: Selection,
    options: ExportOptions,
    folder: Path,
    *,
    overwrite: bool = False,
    screen: Screening | None = None,
    document: Documentation | None = None,
) -> Exported:
    """Write a data set into ``folder``; the same selection and options give the same bytes.

    Args:
        selection: which dialogues of which runs.
        options: what becomes of them.
        folder: made as a whole, or not at all.
        overwrite: whether an earlier export there is replaced.
        screen: says which rows to leave out, before classes are balanced.
        document: writes what describes the data set, such as a card, before the manifest is made.

    Raises:
        UsageError: an option does not fit, the folder may not be written to, nothing was left, or
            the rows of a plugin's kind cannot be written.
        NoRoom: no room is left for it; the folder is as it was.
    """
    options.chosen_task.check(options)
    check_target(folder, overwrite=overwrite)
    if options.parquet:
        check_parquet()
    with opened(selection) as found, told_of_plugin(*_made_by(options)):
        options = replace(options, listed=found.lists_people)
        task = options.chosen_task
        plan = planned_splits(found, options)
        rejected: Collection[int] = ()

        def all_rows() -> Iterator[Row]:
            # A source remembers what it has seen (texts, counts): each pass needs a new one.
            return (row for _, row in split_rows(found, task.rows(found.scheme, options), plan))

        if screen is not None:
            rejected = _whole_units(frozenset(screen(all_rows)), all_rows, task.unit)
        balance = _balanced(found, task.rows(found.scheme, options), plan, options, rejected)
        job = _Job(found, options, plan, balance, rejected, folder)
        with staged(folder, overwrite=overwrite) as draft, rare_collections():
            return _written(job, draft, document)


def _made_by(options: ExportOptions) -> tuple[ExtensionPoint[Any], str]:
    """Return the kind, or the format where that is a plugin's and the kind ships."""
    if options.kind in KINDS.shipped and "format" in options.chosen_task.options:
        return FORMATS, options.format
    return KINDS, options.kind


def split_rows(
    found: OpenSelection,
    source: RowSource,
    plan: SplitPlan,
    *,
    rejected: Collection[int] = (),
    balance: Balance | None = None,
    see: Callable[[str, SelectedDialogue, Set[object]], None] = lambda *_: None,
    miss: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, Row]]:
    """Yield every row with the split it belongs to.

    Args:
        found: the dialogues.
        source: what makes rows of them.
        plan: what belongs to which split.
        rejected: numbers of rows that are passed over; 0 is the first.
        balance: decides on the others, where classes are balanced.
        see: is given the split of each dialogue that rows were made of, the dialogue, and the turns
            they are about.
        miss: is given the reason for each dialogue that no row is made of, or none that is kept.
    """
    numbers, why_none = count(), getattr(source, "why_none", lambda _: "")
    anyhow = found.selection.verdict == "any"  # else what is not accepted is only compared with
    every = balance is None and not rejected
    reading = source.reading
    dialogues = found.dialogues(
        traces=reading.traces,
        wanted=reading.wanted,
        rationales=reading.rationales,
        settled=reading.settled,
        verdicts=reading.verdicts,
    )
    for batch in by_case(dialogues):
        case = batch[0].dialogue.case
        split = plan.split_of(case)
        used: defaultdict[object, set[object]] = defaultdict(set)
        offered: set[object] = set()
        repeated = _repeats(source)
        for row in source.rows(batch):
            offered.add(row["arm"])
            if not every and (
                next(numbers) in rejected or not (balance is None or balance.keeps(split, row))
            ):
                continue
            used[row["arm"]] |= _turns_about(row)
            yield split, row
        for selected in batch:
            if selected.dialogue.arm in used:
                see(split, selected, used[selected.dialogue.arm])
            elif selected.dialogue.arm in offered:
                miss(ROWS_LEFT_OUT)
        unknown = ROWS_LEFT_OUT if _repeats(source) > repeated else NO_ROW
        for one in batch:
            if one.dialogue.arm not in offered and (anyhow or one.verdict == "accepted"):
                miss(why_none(one) or unknown)


def _repeats(source: RowSource) -> int:
    """Return how many rows a source has left out so far because they repeat others."""
    return getattr(source, "repeats", 0)


def _turns_about(row: Row) -> Set[object]:
    """Return the indices of the turns that a row is about; None: the conversation as a whole."""
    turns = row.get("turns")
    return {turn["index"] for turn in turns} if isinstance(turns, list) else {row["turn"]}


def _whole_units(
    rejected: Set[int], rows: Callable[[], Iterator[Row]], unit: str | None
) -> Set[int]:
    """Return the rows to leave out with those that cannot do without them."""
    if unit is None or not rejected:
        return rejected
    units: defaultdict[object, set[int]] = defaultdict(set)
    for number, row in enumerate(rows()):
        units[row[unit]].add(number)
    return {number for numbers in units.values() if numbers & rejected for number in numbers}


def _balanced(
    found: OpenSelection,
    source: RowSource,
    plan: SplitPlan,
    options: ExportOptions,
    rejected: Collection[int],
) -> Balance | None:
    """Go through all rows once to find out how many of each label there are.

    Raises:
        UsageError: the scheme has no such labels, or the rows hold none.
    """
    dimension = options.balance
    if dimension is None:
        return None
    of_scheme = dimension in {known.id for known in found.scheme.dimensions}
    classes = None if of_scheme else classes_by_tag(played(found), dimension)
    column = balanced_column(found.scheme, dimension) if classes is None else "scenario"
    if column not in {known.name for known in source.columns}:
        raise UsageError(
            f"--balance {dimension}: rows of --to {options.kind} have no column {column!r}",
            "leave it out, or balance by the goal",
        )
    balance = Balance(column, plan.seed, classes)
    for split, row in split_rows(found, source, plan, rejected=rejected):
        balance.count(split, row)
    balance.settle()
    return balance


@dataclass(frozen=True, slots=True)
class _Job:
    """An export that has been checked and planned."""

    found: OpenSelection
    options: ExportOptions
    plan: SplitPlan
    balance: Balance | None
    rejected: Collection[int]
    folder: Path
    """Where it will lie."""


def _writer(job: _Job, draft: Path, source: RowSource) -> DividedWriter:
    """Return what writes the rows of a source into the files of their splits and configurations."""
    task = job.options.chosen_task
    return DividedWriter(
        draft,
        subsets=(source.subset,) if task.divided_by is None else task.configurations(job.options),
        divided_by=task.divided_by,
        columns=source.columns,
        splits=job.plan.splits,
        parquet=job.options.parquet,
        csv=task.csv,
    )


def _written(job: _Job, draft: Path, document: Documentation | None) -> Exported:
    """Write everything into ``draft``."""
    found, options, plan = job.found, job.options, job.plan
    kind, task = KINDS.get(options.kind), options.chosen_task
    # Not that of screening and balancing: each counts what it leaves out, and notes tell of one pass.
    source = task.rows(found.scheme, options)
    seen = Seen(found.scheme, source)
    writer = _writer(job, draft, source)
    with writer:
        counted, lengths = _write_rows(job, source, seen, writer)
    files = writer.files()
    left = {
        **getattr(source, "rows_left_out", {}),
        "duplicate": _repeats(source),
        "overlap": len(job.rejected),
        "balance": 0 if job.balance is None else job.balance.dropped,
    }
    if not files:
        raise nothing_left(found, options, told_by(source), seen.without_row, left)
    write_companions(draft, _companions(found.scheme, options, files, draft))
    table = () if lengths is None else lengths.table()
    if lengths is not None and FORMATS.get(options.format).is_messages:
        write_trainer_files(draft, files, table, pairs=kind.pairs)
    write_scheme(draft, found.scheme)
    counts = seen.corpus.table()
    (draft / COUNTS).write_bytes(orjson.dumps(counts, option=orjson.OPT_INDENT_2) + b"\n")
    facts = export_facts(
        found,
        seen,
        kind=kind,
        options={**options.plain(), **_plugins(options), **_prompts(found.scheme, options)},
        trains_responder=task.trains_responder,
        rows_left_out=left,
        files=files,
        place=(draft, job.folder.name),
        lengths=table,
    )
    facts = replace(
        facts,
        wordings=tuple(sorted(seen.wordings)),
        repeated=getattr(source, "repeated", 0),
        together=plan.together,
        across=plan.across,
    )
    if document is not None:
        facts = document(draft, facts)
    notes = (
        *left_out_notes(counted),
        *export_notes(job.found, job.options, job.plan, source, facts),
    )
    write_manifest(draft, facts, plan.groups, notes)
    return Exported(job.folder, facts, notes)


def _write_rows(
    job: _Job, source: RowSource, seen: Seen, writer: DividedWriter
) -> tuple[Counter[str], RowLengths | None]:
    """Write all rows; return how many are counted as what, and how long those to be learnt are."""
    task, lengths = job.options.chosen_task, _row_lengths(job.options)
    counted: Counter[str] = Counter()
    foreign = ForeignRows(source.columns) if _plugins(job.options) else None
    for split, row in split_rows(
        job.found,
        source,
        job.plan,
        rejected=job.rejected,
        balance=job.balance,
        see=seen.add,
        miss=seen.miss,
    ):
        if foreign is not None:
            foreign.check(row)
        subset = writer.write(split, row)
        if lengths is not None:
            lengths.add(subset, row)
        if task.counted is not None:
            counted[task.counted(row)] += 1
    return counted, lengths


def _row_lengths(options: ExportOptions) -> RowLengths | None:
    """Return what counts the lengths of rows that a model is trained on; None: none is."""
    if "format" not in options.chosen_task.options:
        return None
    pairs = KINDS.get(options.kind).pairs
    return RowLengths(FORMATS.get(options.format).learnt(pairs=pairs))


def _companions(
    scheme: Scheme, options: ExportOptions, files: Sequence[ExportedFile], folder: Path
) -> Mapping[str, str]:
    """Return the files that trainers and harnesses expect beside the rows, text by path."""
    task = options.chosen_task
    if "format" in task.options:
        return FORMATS.get(options.format).companions(files, pairs=KINDS.get(options.kind).pairs)
    return {} if task.companions is None else task.companions(scheme, options, files, folder)


def _plugins(options: ExportOptions) -> dict[str, object]:
    """Return origin and fingerprint of the plugins that kind and format come from."""
    plugins: dict[str, object] = {
        f"{KINDS.name} {name}": identity
        for name, identity in KINDS.identity([options.kind]).items()
    }
    if "format" in options.chosen_task.options:
        plugins |= {
            f"{FORMATS.name} {name}": identity
            for name, identity in FORMATS.identity([options.format]).items()
        }
    return {"plugins": plugins} if plugins else {}


def _prompts(scheme: Scheme, options: ExportOptions) -> dict[str, object]:
    """Return the fingerprint of the prompts that rows are rendered with now, if they are."""
    rendered = options.chosen_task.prompts
    found = None if rendered is None else rendered(scheme, options)
    return {} if found is None else {"prompts": found}
