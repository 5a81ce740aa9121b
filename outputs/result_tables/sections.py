"""Tables of results as sections to read, on a page or in a Markdown file."""

from __future__ import annotations

from collections.abc import Iterable

from outputs.report.page import Block, CellMark, Remark, ReportSection, Table
from outputs.report.wording import NOTHING
from outputs.result_tables.marks import result_marks
from outputs.result_tables.model import ResultColumn, ResultTable, TableRow

_WIDEST = 8
"""Columns of results that are readable side by side; a wider table is cut by task."""
_NAMING = ("label", "name", "mode", "family", "reference", "dimension")
"""Fields of a row that can name it, in the order of their columns."""
_UNITS = {"percent": "In per cent.", "share": "As shares of one."}
_RANKED = (
    "Of the models in a column, the best is bold; the second is underlined (italic in Markdown)."
)
_INTERVALS = "In brackets: 95 % intervals over {drawn}, which are drawn whole."
_SAME = "{same}: every figure is the same, and stands here once; the CSV has each."
_TUNED = "Arrows say whether the tuned model is above or below what it was."


def result_sections(given: Iterable[ResultTable]) -> list[ReportSection]:
    """Return tables to read; what is the same against several references is said once."""
    tables: list[ResultTable] = []
    for table in map(_said_once, given):
        same = [n for n, other in enumerate(tables) if _are_same(table, other)]
        for n in same:
            note = _SAME.format(same=table.title)
            tables[n] = tables[n].model_copy(update={"notes": (*tables[n].notes, note)})
        tables += [] if same else [table]
    return [_section(table) for table in tables]


def _said_once(table: ResultTable) -> ResultTable:
    """Return a table in which references have one row together against which all figures are the same."""
    by_figures: dict[tuple[TableRow, ...], list[str]] = {}
    for reference in dict.fromkeys(row.reference for row in table.rows):
        mine = [row for row in table.rows if row.reference == reference]
        by_figures.setdefault(tuple(map(_anyhow, mine)), []).append(reference)
    together = {same[0]: " = ".join(same) for same in by_figures.values()}
    rows = tuple(
        row.model_copy(update={"reference": together[row.reference]})
        for row in table.rows
        if row.reference in together
    )
    notes = tuple(_SAME.format(same=same) for first, same in together.items() if first != same)
    return table.model_copy(update={"rows": rows, "notes": (*table.notes, *notes)})


def _anyhow(row: TableRow) -> TableRow:
    """Return a row without what it is held against."""
    return row.model_copy(update={"reference": ""})


def _are_same(one: ResultTable, other: ResultTable) -> bool:
    """Return whether two tables differ in nothing but what they are held against."""
    first, second = ((x.source, x.columns, tuple(map(_anyhow, x.rows))) for x in (one, other))
    return first == second and [x.reference for x in one.rows] != [x.reference for x in other.rows]


def _section(table: ResultTable) -> ReportSection:
    """Return a table, in parts if it is wide, with its source, its unit and its notes."""
    lead = [_UNITS[table.unit]]
    if any(any(row.intervals) for row in table.rows):
        lead.append(_INTERVALS.format(drawn=table.drawn))
    if table.ranked:
        lead.append(_RANKED)
    if any(row.kind == "tuned" for row in table.rows):
        lead.append(_TUNED)
    places = range(len(table.columns))
    tasks = list(dict.fromkeys(column.task for column in table.columns))
    blocks: list[Block] = []
    if len(places) <= _WIDEST:
        blocks.append(_part(table, table.title, list(places), name_task=len(tasks) > 1))
    else:
        for task in tasks:
            chosen = [place for place in places if table.columns[place].task == task]
            blocks.append(_part(table, f"Task: {task}", chosen, name_task=False))
    blocks += [Remark(note) for note in table.notes]
    return ReportSection(table.id, f"{table.source}: {table.title}", " ".join(lead), tuple(blocks))


def _part(table: ResultTable, caption: str, places: list[int], *, name_task: bool) -> Table:
    """Return some columns of a table, without the rows that have nothing in them."""
    naming = [field for field in _NAMING if any(getattr(row, field) for row in table.rows)]
    counts = ["n"] if any(row.label and row.counts for row in table.rows) else []
    one_metric = len({column.metric for column in table.columns}) == 1
    header = [*naming, *counts]
    header += [_heading(table.columns[place], name_task, one_metric) for place in places]
    marks = result_marks(table)
    rows: list[tuple[str, ...]] = []
    shown: dict[tuple[int, int], CellMark] = {}
    for number, row in enumerate(table.rows):
        values = [row.values[place] for place in places]
        if all(value is None for value in values):
            continue
        for nth, place in enumerate(places):
            if (number, place) in marks:
                shown[len(rows), len(header) - len(places) + nth] = marks[number, place]
        written = [
            NOTHING if value is None else table.written(value) + table.spread(row.bounds(place))
            for place, value in zip(places, values, strict=True)
        ]
        named = [getattr(row, field) for field in naming]
        rows.append((*named, *(row.count(places[0]) for _ in counts), *written))
    return Table(caption, tuple(header), tuple(rows), shown)


def _heading(column: ResultColumn, name_task: bool, one_metric: bool) -> str:
    words = [column.dimension, "" if one_metric and column.dimension else column.metric]
    said = " ".join(word for word in words if word)
    return f"{said} ({column.task})" if name_task else said
