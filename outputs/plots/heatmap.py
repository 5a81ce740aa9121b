"""Heat map of a table of counts; colour shows a cell's share of its row, and the plot says so."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.plots.canvas import LINE, WIDTH, Canvas, text_width

_LEFT = 112.0
_LABEL = 108.0
"""Room for the name of a column, along its slope."""
_CELL = 30.0
_NARROWEST = 34.0
_SLOPE = 0.7072
_DARKEST = 0.55
"""Opacity of a full cell: text stays readable on it in light and in dark."""
_CORNER = 2 * LINE + 6
"""Room for the names of both axes, in the corner left of the names of the columns."""
_KEY = 22.0
"""Room for what the colours mean, below."""
_STEPS = 5


def heatmap(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    *,
    axes: tuple[str, str],
    label: str,
) -> str:
    """Return an SVG of a table of counts, shaded by the share of each row.

    Args:
        rows: names of the rows; where a row and a column have one name, the cell is framed.
        columns: names of the columns, written at a slope.
        counts: one row of counts per row, shape ``(len(rows), len(columns))``.
        axes: what the rows are, and what the columns are.
        label: what the plot shows, for those who cannot see it.

    Raises:
        ValueError: the counts have another shape.
    """
    if len(counts) != len(rows) or any(len(row) != len(columns) for row in counts):
        raise ValueError(f"counts are not {len(rows)} x {len(columns)}")
    longest = min(_LABEL, max((text_width(name) for name in columns), default=0.0))
    right = longest * _SLOPE
    cell = max(_NARROWEST, (WIDTH - _LEFT - right) / max(1, len(columns)))
    above = max(longest * _SLOPE + 16, _CORNER)
    width = _LEFT + cell * len(columns) + right
    below = above + _CELL * len(rows) + 1
    canvas = Canvas(max(WIDTH, width), below + _KEY, label)
    for line, text in enumerate((f"{axes[1]} →", f"{axes[0]} ↓")):
        canvas.text((0, above - 6 - LINE * (1 - line)), text, room=_LEFT - 2, kind="tick")
    for number, name in enumerate(columns):
        x = _LEFT + (number + 0.5) * cell
        canvas.text((x, above - 6), name, room=longest + 0.5, turned=True)
    for i, (name, row) in enumerate(zip(rows, counts, strict=True)):
        y = above + i * _CELL
        canvas.text((0, y + _CELL / 2 + 4), name, room=_LEFT - 6)
        whole = sum(row)
        for j, count in enumerate(row):
            x = _LEFT + j * cell
            share = count / whole if whole else 0.0
            canvas.rect((x, y), (cell - 2, _CELL - 2), "cell")
            canvas.rect(
                (x, y),
                (cell - 2, _CELL - 2),
                "heat",
                opacity=round(_DARKEST * share, 3),
                tooltip=f"{name} / {columns[j]}: {count:,} ({100 * share:.1f}%)",
            )
            if name == columns[j]:
                canvas.rect((x, y), (cell - 2, _CELL - 2), "frame")
            canvas.text((x + cell / 2 - 1, y + _CELL / 2 + 3), _short(count), room=cell,
                        anchor="middle", kind="value" if count else "faint")  # fmt: skip
    _draw_key(canvas, below)
    return canvas.svg()


def _draw_key(canvas: Canvas, y: float) -> None:
    """Say below the table what its colours mean: from none to all of a row."""
    size = LINE * 0.75
    canvas.text((_LEFT - 6, y + 15), "0%", room=_LEFT, anchor="end", kind="tick")
    for step in range(_STEPS):
        at = (_LEFT + step * size, y + 5)
        canvas.rect(at, (size, size), "cell")
        canvas.rect(at, (size, size), "heat", opacity=round(_DARKEST * step / (_STEPS - 1), 3))
    canvas.text((_LEFT + _STEPS * size + 6, y + 15), "100% of its row", room=160, kind="tick")


def _short(count: int) -> str:
    """Return a count in few characters."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= 10 * size:
            return f"{count / size:.0f}{unit}"
    return str(count)
