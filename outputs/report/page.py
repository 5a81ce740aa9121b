"""Pages as one self-contained HTML file: no script, no request, every text escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from outputs.plots.canvas import printable
from outputs.plots.standalone import plot_styles
from outputs.report.blocks import Page, Table

_HERE = Path(__file__).parent
GENERATOR = '<meta name="generator" content="hipo">'
"""What every page contains, so that it is known as ours."""
_NUMBER = re.compile(r"^[-+$]?[\d.,]+\s?(%|ms|s|k|M)?(\s[(\[].*| of [\d,]+)?$|^\u2013$|^$")


def render_page(page: Page) -> str:
    """Return a page as the text of an HTML file.

    A policy in the page itself forbids everything but its own style sheet, so that nothing in it
    can be loaded or run, whatever a dialogue says.
    """
    styles = plot_styles() + (_HERE / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(styles.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    return template.render(page=page, styles=Markup(styles), digest=digest) + "\n"  # noqa: S704


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )
    environment.filters["markup"] = Markup
    environment.filters["numeric"] = _numeric_columns
    return environment


def _finalised(value: object) -> object:
    """Replace what no HTML file may contain, in every text that is put into a page."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def _numeric_columns(table: Table) -> list[bool]:
    """Say of each column whether all of it looks like numbers; the first never does."""
    return [
        place > 0 and all(_NUMBER.match(row[place]) is not None for row in table.rows)
        for place in range(len(table.header))
    ]
