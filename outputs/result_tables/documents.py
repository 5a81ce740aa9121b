"""The paper's results as a file: Markdown, CSV or a page of HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from outputs.markdown import rendered
from outputs.report.page import Page, Remark, numeric_columns, render_page
from outputs.result_tables.marks import result_marks
from outputs.result_tables.model import PaperResults
from outputs.result_tables.sections import result_section

_TITLE = "Published results"
CSV_COLUMNS = (
    "source", "items", "table", "kind", "family", "name", "base", "task", "dimension", "label",
    "metric", "value", "unit", "mark",
)  # fmt: skip
"""One row is one number; ``mark`` is best, second, up, down or nothing."""


def results_as_markdown(results: PaperResults) -> str:
    """Return all tables as one Markdown document."""
    return rendered(
        "results.md.j2",
        {
            "title": f"{_TITLE}: {results.items}",
            "about": results.about,
            "warning": results.warning,
            "sections": [result_section(table) for table in results.tables],
            "numeric_columns": numeric_columns,
        },
    )


def results_as_csv(results: PaperResults) -> str:
    """Return all numbers, one in a row, with the columns ``CSV_COLUMNS``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows(_numbers(results))
    return text.getvalue()


def results_as_html(results: PaperResults) -> str:
    """Return all tables as one self-contained page."""
    page = Page(
        title=f"{_TITLE}: {results.items}",
        subtitle=results.about,
        notices=(Remark(results.warning, tone="warning"),),
        sections=tuple(result_section(table) for table in results.tables),
        footer=("This page loads nothing.",),
    )
    return render_page(page)


def _numbers(results: PaperResults) -> Iterator[tuple[str, ...]]:
    for table in results.tables:
        marks = result_marks(table)
        for number, row in enumerate(table.rows):
            for place, (column, value) in enumerate(zip(table.columns, row.values, strict=True)):
                if value is None:
                    continue
                yield (
                    table.source,
                    results.items,
                    table.id,
                    row.kind,
                    row.family,
                    row.name,
                    row.base,
                    column.task,
                    column.dimension or row.dimension,
                    row.label,
                    column.metric,
                    table.written(value),
                    table.unit,
                    marks.get((number, place), ""),
                )
