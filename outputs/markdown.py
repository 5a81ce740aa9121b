"""Documents in Markdown from templates, in which values are data and stay plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from prompts.plain_text import one_line

_SHIPPED = Path(__file__).parent / "templates"
# The @ between a scheme and its version, as in hipo@1, names nobody and is no address.
_SPECIAL = re.compile(r"[\\`*_{}\[\]#|~$!]|[&<>]|(?<!\w)@|@(?!\d+(?![\w.-]))|://|www\.")
_ENTITIES = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "://": "&#58;//", "www.": "www&#46;",
}  # fmt: skip
_BLOCK = re.compile(r"(\d{1,9})?([-+=.)])")
_BLANKS = re.compile(r"\n{3,}")


class Markdown(str):
    """Text that is Markdown already and of our own making."""

    __slots__ = ()


def escaped(text: str) -> str:
    """Return a text as one line of Markdown that shows exactly it: no markup, HTML or link."""
    line = one_line(text)
    line = _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), line)
    # At the start of a line these would open a list, a rule or a heading.
    opening = _BLOCK.match(line)
    if opening is None or line[opening.end() : opening.end() + 1].isalnum():
        return line
    return f"{line[: opening.end() - 1]}\\{line[opening.end() - 1 :]}"


def rendered(name: str, variables: Mapping[str, object]) -> str:
    """Render one of the shipped documents; strings among the values are escaped.

    Raises:
        UndefinedError: the template names what is not there.
    """
    document = _ENVIRONMENT.get_template(name).render(variables)
    return _BLANKS.sub("\n\n", document).strip() + "\n"


def _as_text(value: object) -> object:
    """Show a value: numbers with thousands separated, strings escaped."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str) and not isinstance(value, Markdown):
        return escaped(value)
    return value


def _percent(value: float) -> Markdown:
    return Markdown(f"{value:.1%}")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_SHIPPED),
    undefined=StrictUndefined,
    finalize=_as_text,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - values are escaped for Markdown, above
)
_ENVIRONMENT.filters["percent"] = _percent
_ENVIRONMENT.globals["as_markdown"] = Markdown
