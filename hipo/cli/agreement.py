"""``hipo agreement``: how far annotators agree, in files of other people's or in a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from hipo.app.metrics.agreement import (
    AgreementReport,
    GroupAgreement,
    SelectionComparison,
    agreement,
)
from hipo.cli.main import command_app
from hipo.cli.options.shared import PLUGINS
from hipo.cli.reports.label_agreement import bounds, drawn_text, figure, label_as_json, labels_text
from hipo.cli.reports.oddities import oddities_as_json, oddity_lines
from hipo.cli.terminal.console import columns, ends, one_line, plain
from hipo.cli.terminal.errors import ExitCode
from hipo.cli.terminal.json_target import JSON, deliver
from quality.agreement.agreement import AgreementRow
from quality.agreement.comparisons import ReaderComparison
from quality.agreement.labels import LABEL_MEASURES
from quality.statistics.bootstrap import Resampling
from quality.tables.measured import Numbers
from scenarios.plural import plural

app = command_app()

SOURCES = typer.Argument(..., metavar="FILE...|RUN", help="Tables of answers, or one run.")
MAP = typer.Option(
    None,
    "--map",
    metavar="NAME|FILE",
    help="What the columns of the files stand for. Default: what their header says.",
)
MEASUREMENT = typer.Option(
    None,
    "--measurement",
    help="As what numbers in files without --map count. Default: two different ones as labels, up "
    "to eleven different whole ones as ordinal, all others as interval.",
)


BY = typer.Option(
    None,
    "--by",
    metavar="COLUMN",
    help="Also apart by: group (of the file) or a name of the map's context or "
    "standing; of a run scenario, "
    "category, tag, goal, arm, language, role or an axis. Default: files by group.",
)


@app.command("agreement")
def print_agreement(
    *,
    sources: list[str] = SOURCES,
    map_name: str | None = MAP,
    measurement: Numbers | None = MEASUREMENT,
    of: str = typer.Option(
        "human",
        "--of",
        metavar="KIND[:WHO]",
        help="Whose answers: a kind (human, external, self, juror, declared, adjudicated, ...), "
        "one of that kind, or the majority of it (human:majority).",
    ),
    other: str | None = typer.Option(
        None, "--with", metavar="KIND[:WHO]", help="Compare them with these, not with each other."
    ),
    by: str | None = BY,
    pairs: bool = typer.Option(False, "--pairs", help="Also compare every two annotators."),
    resamples: int = typer.Option(
        2000, "--resamples", min=1, help="Of the bootstrap that gives intervals."
    ),
    seed: int = typer.Option(42, "--seed", min=0, help="Of the bootstrap."),
    json_target: str | None = JSON,
    plugins: list[Path] | None = PLUGINS,
) -> int:
    """Print how far annotators agree: every statistic that fits each dimension, with intervals.

    Files are tables of other people's: plain ones (a row per answer, or a column per annotator)
    tell what their columns are, others need a map; what is odd is named row by row. With --with, every annotator of the one selection is compared with every one of the other: jurors
    with people, a model with gold labels, judges with what was declared.
    """
    report = agreement(
        sources,
        map_name=map_name,
        numbers=measurement,
        of=of,
        other=other,
        by=by,
        pairs=pairs,
        how=Resampling(resamples, seed),
    )
    deliver(lambda: agreement_as_json(report), lambda: "\n\n".join(_text(report)), json_target)
    return ExitCode.DONE


def agreement_as_json(report: AgreementReport) -> dict[str, Any]:
    """Return what ``hipo agreement --json`` writes.

    ``of``, ``with`` (null: each other), ``scheme``; ``groups``, the first of which is everything
    (""): ``items``, ``annotators``, what ``intervals_draw`` (``dialogues`` or ``items``), ``statistics``,
    ``labels`` (each label against all others), and ``difficulty`` by dimension (items with two answers or more); ``pairs`` by
    group; of files ``files`` (rows, read, left out) and ``oddities``.
    """
    return {
        "of": str(report.of),
        "with": None if report.other is None else str(report.other),
        "scheme": report.annotated.scheme.name,
        "sources": list(report.annotated.sources),
        "groups": [_group_as_json(group) for group in report.groups],
        "pairs": [
            {"group": some.group, "comparisons": [_pair_as_json(pair) for pair in some.pairs]}
            for some in report.pairs
        ],
        **oddities_as_json(report.annotated.table),
    }


def _group_as_json(group: GroupAgreement) -> dict[str, Any]:
    return {
        **plain(group, "group items annotators", annotators=list(group.annotators)),
        "intervals_draw": "dialogues" if group.in_dialogues else "items",
        "statistics": [_row_as_json(row) for row in group.rows],
        "labels": [label_as_json(row) for row in group.labels],
        "difficulty": {
            name: plain(counted, "items unanimous majority split")
            for name, counted in group.difficulty
        },
    }


def _row_as_json(row: AgreementRow) -> dict[str, Any]:
    names = "dimension statistic value interval items dialogues annotators note"
    return plain(row, names, interval=ends(row.interval))


def _pair_as_json(pair: ReaderComparison) -> dict[str, Any]:
    return plain(
        pair, "reader other dimension items same kappa interval overlap labels matrix statistics by_label",
        interval=ends(pair.interval),
        labels=list(pair.labels),
        matrix=[list(row) for row in pair.matrix],
        statistics={row.statistic: row.value for row in pair.statistics},
        by_label=[label_as_json(row) for row in pair.by_label],
    )  # fmt: skip


def _text(report: AgreementReport) -> Iterator[str]:
    if report.annotated.table is not None:
        yield "\n".join(oddity_lines(report.annotated.table))
    for group in report.groups:
        yield _group_text(group)
    for some in report.pairs:
        yield _pairs_text(some)
        yield from (confusion_text(pair) for pair in some.pairs if report.other and pair.by_label)
    if any(group.labels for group in report.groups) or (report.other and report.pairs):
        yield f"label by label: {LABEL_MEASURES}"


def _group_text(group: GroupAgreement) -> str:
    names = one_line(", ".join(group.annotators), 120)
    head = f"{group.group or 'everything'}: {plural(group.items, 'item')}, by {names}"
    rows = [
        [row.dimension, row.statistic, figure(row.value), bounds(row.interval), str(row.items)]
        + ([str(row.dialogues)] if group.in_dialogues else [])
        for row in group.rows
    ]
    header = ["dimension", "statistic", "value", "95% interval", "items"]
    table = columns([*header, "dialogues"] if group.in_dialogues else header, rows)
    drawn = drawn_text(group.rows, in_dialogues=group.in_dialogues)
    counted = [
        [name, str(one.unanimous), str(one.majority), str(one.split)]
        for name, one in group.difficulty
    ]
    split = columns(["dimension", "unanimous", "majority", "split"], counted) if counted else ""
    return "\n".join(
        part
        for part in (head, table, drawn, *notes_on(group.rows), labels_text(group.labels), split)
        if part
    )


def notes_on(rows: Iterable[AgreementRow]) -> list[str]:
    """Return what is to be said below a table of figures, and why some are undefined, each once."""
    rows = list(rows)
    everything = {row.dimension for row in rows}
    said: dict[str, dict[str, None]] = {}
    undefined: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.note and row.value is not None:
            said.setdefault(row.note, {})[row.dimension] = None
        elif row.note:
            undefined.setdefault(row.note, {})[row.statistic] = None
    notes = [
        note if everything <= set(of) else f"{', '.join(of)}: {note}" for note, of in said.items()
    ]
    return [*notes, *(f"undefined ({', '.join(who)}): {why}" for why, who in undefined.items())]


def _pairs_text(some: SelectionComparison) -> str:
    rows = [
        [
            pair.reader,
            pair.other,
            pair.dimension,
            figure(pair.same),
            figure(pair.kappa),
            bounds(pair.interval),
            figure(pair.overlap) if pair.overlap is not None else _rank(pair),
            str(pair.items),
        ]
        for pair in some.pairs
    ]
    header = [
        "reader", "against", "dimension", "same", "Cohen kappa", "95% interval",
        "rho or overlap", "items",
    ]  # fmt: skip
    if not rows:
        return f"{some.group or 'everything'}: no two of them labelled the same item"
    return f"{some.group or 'everything'}\n" + columns(header, rows)


def _rank(pair: ReaderComparison) -> str:
    return next(
        (figure(row.value) for row in pair.statistics if row.statistic == "Spearman rho"), ""
    )


def confusion_text(pair: ReaderComparison) -> str:
    """Return which labels two readers gave to the same items, and how far they agree on each."""
    rows = [
        [label, *map(str, counts)] for label, counts in zip(pair.labels, pair.matrix, strict=True)
    ]
    title = f"{pair.dimension}: rows {pair.other}, columns {pair.reader}"
    matrix = columns(["", *pair.labels], rows) if rows else ""
    return "\n".join(part for part in (title, matrix, labels_text(pair.by_label)) if part)
