"""Tables of results as LaTeX, to be put into a paper: notes stand in comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from unicodedata import category, normalize

from outputs.report.page import CellMark, Remark, Table, numeric_columns
from outputs.report.wording import NOTHING
from outputs.result_tables.model import ResultBlock
from outputs.result_tables.sections import result_sections

_ESCAPED: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "--": "-{}-{}",
    "`": r"\textasciigrave{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "·": r"\textperiodcentered{}",
    NOTHING: "--",
}
_SPECIAL: Final = re.compile("|".join(map(re.escape, _ESCAPED)))
_UNSEEN: Final = ("Cc", "Cf")
"""Signs that command and are not shown, some of which LaTeX refuses."""
_NO_LETTERS: Final = re.compile(
    "[^ -~\u00a0-\u0125\u0128-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u0165\u0168-\u017e"
    "\u2010-\u2015\u2018-\u201a\u201c-\u201e\u2020-\u2022\u2026\u20ac\u2122]"
)
"""What pdflatex has no letter for, with the font encoding T1."""
_NAMED: Final = 12
"""Of these, how many are named."""
_FIT: Final = r"\ifdim\width>\textwidth\textwidth\else\width\fi"
"""The width of a table: its own, or that of the page where it is wider."""
_MARKED: Final[Mapping[CellMark, str]] = {
    "best": r"\textbf{%s}",
    "second": r"\underline{%s}",
    "up": r"%s\,$\uparrow$",
    "down": r"%s\,$\downarrow$",
}


def results_as_latex(blocks: Sequence[ResultBlock]) -> str:
    """Return every table as a ``table*`` environment that needs the packages booktabs and graphicx.

    What Markdown says above and below tables stands there in comments. Letters of which pdflatex has
    none are left as they are, and named in the first lines.
    """
    lines = list[str]()
    for block in blocks:
        lines += [*_comment(f"{block.title}: {block.items}", block.about, block.warning)]
        for section in result_sections(block.tables):
            lines += ["", *_comment(section.title)]
            parts = [part for part in section.blocks if isinstance(part, Table)]
            for part in parts:
                of_task = f" {part.caption}." if len(parts) > 1 else ""
                lines += _table(part, f"{section.title}.{of_task} {section.lead}")
            lines += _comment(*(part.text for part in section.blocks if isinstance(part, Remark)))
    needs = [r"% needs \usepackage{booktabs,graphicx}"]
    said = "".join(line for line in lines if not line.startswith("%"))
    if not said.isascii():
        needs.append(r"% and \usepackage[T1]{fontenc}")
    if lacking := [*dict.fromkeys(_NO_LETTERS.findall(said))][:_NAMED]:
        needs.append(
            f"% pdflatex has no {' '.join(lacking)}: take lualatex with a font that has, or other names"
        )
    return "\n".join([*needs, *lines]) + "\n"


def _table(table: Table, caption: str) -> Iterator[str]:
    yield r"\begin{table*}"
    yield r"\centering\small"
    yield f"\\resizebox{{{_FIT}}}{{!}}{{%"
    yield f"\\begin{{tabular}}{{{''.join('r' if n else 'l' for n in numeric_columns(table))}}}"
    yield r"\toprule"
    yield _row(_escaped(cell) for cell in table.header)
    yield r"\midrule"
    for place, row in enumerate(table.rows):
        marks = (table.marks.get((place, column)) for column in range(len(row)))
        yield _row(
            _MARKED[mark] % _escaped(str(cell)) if mark else _escaped(str(cell))
            for cell, mark in zip(row, marks, strict=True)
        )
    yield r"\bottomrule"
    yield r"\end{tabular}}"
    yield f"\\caption{{{_escaped(caption)}}}"
    yield r"\end{table*}"


def _row(cells: Iterator[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    """Return a text as it is set as it stands; names are somebody else's, and command nothing."""
    shown = "".join(
        c for c in normalize("NFC", " ".join(text.split())) if category(c) not in _UNSEEN
    )
    said = _SPECIAL.sub(lambda sign: _ESCAPED[sign[0]], shown)
    return f"{{{said[0]}}}{said[1:]}" if said[:1] in ("[", "*") else said  # behind a row: no length


def _comment(*texts: str) -> Iterator[str]:
    yield from (f"% {' '.join(text.split())}" for text in texts if text)
