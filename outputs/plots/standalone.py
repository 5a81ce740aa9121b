"""A plot as a file of its own, with the colours it has in a page."""

from __future__ import annotations

from pathlib import Path

STYLES = Path(__file__).parent / "plots.css"


def plot_styles() -> str:
    """Return the style sheet that plots are coloured by, in light and in dark."""
    return STYLES.read_text(encoding="utf-8")


def standalone(svg: str) -> str:
    """Return a plot as the text of an SVG file."""
    head, bracket, rest = svg.partition(">")
    return f"{head}{bracket}<style>{plot_styles()}</style>{rest}\n"
