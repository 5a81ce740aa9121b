"""Pages of a report, and what stands in them."""

import asyncio

from outputs.report.build import build_report
from outputs.report.gathered import ReportOptions
from tests.outputs.html_tree import XHTML, words_of


def page_of(run, **options):
    return asyncio.run(build_report(run, ReportOptions(**options), name=str(run), version="1.2.3"))


def table(tree, caption):
    """Return the rows of a table by their first cell."""
    for found in tree.iter(f"{XHTML}table"):
        if words_of(found.find(f"{XHTML}caption")).startswith(caption):
            body = found.find(f"{XHTML}tbody")
            rows = [[words_of(cell) for cell in row] for row in body]
            return {row[0]: row[1:] for row in rows}
    raise AssertionError(f"no table {caption!r}")
