"""How a run stands to its quota, and what a quota will probably take: for programs and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipo.app.generation.quota_table import HEADER, NOTE, quota_row
from hipo.cli.terminal.console import columns, number, plain
from scenarios.plural import plural

if TYPE_CHECKING:
    from hipo.app.generation.quota import CellFill, CellState, QuotaEstimate, QuotaFill


def quota_as_json(fill: QuotaFill) -> list[dict[str, object]]:
    """Return the cells of a quota as ``hipo runs show RUN --format json`` prints them.

    A list of objects with ``cell`` (an object from dimension to label), ``state`` (``filled``,
    ``open``, ``given up``, ``out of reach``), ``why``, ``wanted``, ``accepted``, ``tried`` (utterances
    that were asked for it and judged), ``unjudged`` (those asked for it and not judged yet), ``hits`` (those of them that are accepted with its labels), ``yield``,
    ``yield_low`` and ``yield_high`` (95 % Wilson interval; null: nothing was tried), ``cases``
    (drawn for it), ``accepted_in_cases``, ``calls``, ``tokens``, ``cost_usd`` (null: unknown) and
    ``cost_per_accepted`` (null: unknown, or nothing is accepted).
    """
    return [_cell(cell) for cell in fill.cells]


def _cell(cell: CellFill) -> dict[str, object]:
    tally = cell.tally
    low, high = cell.interval or (None, None)
    return {
        "cell": dict(tally.cell.key),
        "state": cell.state,
        "why": cell.why,
        "wanted": tally.cell.accepted,
        "accepted": tally.accepted,
        "tried": tally.asked,
        "unjudged": tally.unjudged,
        "hits": tally.hits,
        "yield": cell.yield_share,
        "yield_low": low,
        "yield_high": high,
        "cases": tally.cases,
        "accepted_in_cases": tally.own,
        "calls": tally.calls,
        "tokens": tally.tokens,
        "cost_usd": None if tally.unpriced else tally.cost_usd,
        "cost_per_accepted": tally.cost_per_accepted,
    }


def quota_as_text(fill: QuotaFill) -> str:
    """Return the table of cells that a run with a quota ends with."""
    rows = [quota_row(cell) for cell in fill.cells]
    filled = len(fill.of_state("filled"))
    states: tuple[CellState, ...] = ("open", "given up", "out of reach")
    others = [(len(fill.of_state(state)), state) for state in states]
    counts = [
        f"{filled:,} of {plural(len(fill.cells), 'cell')} filled",
        *(f"{found:,} {state}" for found, state in others if found),
    ]
    table = columns(HEADER, rows)
    return "\n".join([f"quota: {', '.join(counts)}", "", table, "", f"({NOTE})"])


def quota_estimate_as_json(estimate: QuotaEstimate) -> dict[str, object]:
    """Return what ``hipo generate --quota FILE --dry-run --format json`` says of the quota.

    ``cases`` and ``dialogues`` that the open cells will probably take; ``begun``: dialogues still to
    be played of cases that were drawn before; ``cells``: as :func:`quota_as_json` returns them, each
    with ``missing``, ``begun`` (utterances that these dialogues ask for it), ``assumed_yield`` and
    ``tries`` (utterances to be asked for it in cases yet to be drawn; null where it is not open).
    """
    cells = [
        {
            **_cell(cell),
            "missing": cell.tally.missing,
            "begun": cell.tally.begun,
            "assumed_yield": cell.tally.likely_yield,
            "tries": estimate.tries.get(cell.tally.cell.key),
        }
        for cell in estimate.fill.cells
    ]
    return plain(estimate, "cases dialogues begun", cells=cells)


def quota_estimate_as_text(estimate: QuotaEstimate) -> str:
    """Return how many dialogues the cells of a quota will probably take, and at what yield."""
    rows = []
    total = (
        f"in all about {plural(estimate.cases, 'case')}, {plural(estimate.dialogues, 'dialogue')}"
    )
    for cell in estimate.fill.cells:
        tally, tries = cell.tally, estimate.tries.get(cell.tally.cell.key)
        basis = f"{tally.hits:,} of {tally.asked:,} tried" if tally.asked else "assumed"
        rows.append(
            [
                tally.cell.name,
                number(tally.cell.accepted),
                number(tally.accepted),
                "" if tries is None else f"{100 * tally.likely_yield:.0f}%",
                "" if tries is None else basis,
                "" if tries is None else number(tries),
                f"{cell.state}: {cell.why}" if cell.why else cell.state,
            ]
        )
    if estimate.begun:
        total += f", and {plural(estimate.begun, 'dialogue')} of cases that were drawn before"
    header = ["cell", "wanted", "accepted", "yield", "", "utterances to ask", ""]
    return "\n".join(["Quota:", columns(header, rows), total])
