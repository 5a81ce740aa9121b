"""Tables of results as a file: Markdown, CSV or a page of HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from outputs.markdown import rendered
from outputs.report.page import Page, Remark, ReportSection, numeric_columns, render_page
from outputs.result_tables.marks import result_marks
from outputs.result_tables.model import ResultBlock
from outputs.result_tables.sections import result_sections
from quality.tables.formulas import neutral

CSV_COLUMNS = (
    "source", "items", "table", "reference", "kind", "family", "name", "mode", "base", "task",
    "dimension", "label", "metric", "value", "low", "high", "drawn", "unit", "mark", "n",
)  # fmt: skip
"""One row is one number; ``mark`` is best, second, up, down or nothing; ``low``
and ``high`` end the 95 % interval, for which ``drawn`` (cases or scenarios) were drawn whole; ``n`` is how
many items the number rests on, of a label how many have it."""


def results_as_markdown(blocks: Sequence[ResultBlock]) -> str:
    """Return all tables as one Markdown document, one headline of the first order per block."""
    return "\n".join(
        rendered(
            "results.md.j2",
            {
                "title": _headline(block),
                "about": block.about,
                "warning": block.warning,
                "sections": result_sections(block.tables),
                "numeric_columns": numeric_columns,
            },
        )
        for block in blocks
    )


def results_as_csv(blocks: Sequence[ResultBlock]) -> str:
    """Return all numbers, one in a row, with the columns ``CSV_COLUMNS``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for block in blocks:
        # Names of sets, tasks and models are somebody else's: no spreadsheet is to compute them.
        writer.writerows(tuple(map(neutral, row)) for row in _numbers(block))
    return text.getvalue()


def results_as_html(blocks: Sequence[ResultBlock]) -> str:
    """Return all tables as one self-contained page; every further block begins with a section."""
    first = blocks[0]
    sections = result_sections(first.tables)
    for number, block in enumerate(blocks[1:], 2):
        sections.append(
            ReportSection(f"block-{number}", _headline(block), block.about, tuple(_warning(block)))
        )
        sections += result_sections(block.tables)
    page = Page(
        title=_headline(first),
        subtitle=first.about,
        notices=tuple(_warning(first)),
        sections=tuple(sections),
        footer=("This page loads nothing.",),
    )
    return render_page(page)


def _headline(block: ResultBlock) -> str:
    return f"{block.title}: {block.items}"


def _warning(block: ResultBlock) -> list[Remark]:
    return [Remark(block.warning, tone="warning")] if block.warning else []


def _numbers(results: ResultBlock) -> Iterator[tuple[str, ...]]:
    for table in results.tables:
        marks = result_marks(table)
        for number, row in enumerate(table.rows):
            for place, (column, value) in enumerate(zip(table.columns, row.values, strict=True)):
                if value is None:
                    continue
                bounds = row.bounds(place)
                yield (
                    table.source,
                    results.items,
                    table.id,
                    row.reference,
                    row.kind,
                    row.family,
                    row.name,
                    row.mode,
                    row.base,
                    column.task,
                    column.dimension or row.dimension,
                    row.label,
                    column.metric,
                    table.written(value),
                    *((table.written(end) for end in bounds) if bounds else ("", "")),
                    table.drawn if bounds else "",
                    table.unit,
                    marks.get((number, place), ""),
                    row.count(place),
                )
