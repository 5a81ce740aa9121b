"""The rows of the table of a quota, cell by cell, as they are printed and as a report shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outputs.report.wording import count, dollars

if TYPE_CHECKING:
    from hipo.app.generation.quota import CellFill
    from pipeline.quotas.quota import CellTally

HEADER = ("cell", "wanted", "accepted", "tried", "yield", "95% interval", "cost per accepted", "")
NOTE = (
    "accepted: utterances of accepted dialogues whose labels the judges carried. tried: utterances "
    "that were asked for the labels. yield: those of them that are accepted with the labels, with the "
    "Wilson interval. cost: of all cases drawn for the cell, judging included, by accepted utterance."
)


def quota_row(cell: CellFill) -> tuple[str, ...]:
    """Return one cell as a row of the table."""
    tally, interval, share = cell.tally, cell.interval, cell.yield_share
    state = "" if cell.state == "filled" else cell.state
    return (
        tally.cell.name,
        count(tally.cell.accepted),
        count(tally.accepted),
        count(tally.asked),
        "" if share is None else f"{100 * share:.0f}%",
        "" if interval is None else f"{100 * interval[0]:.0f}-{100 * interval[1]:.0f}%",
        cost_per_accepted(tally),
        f"{state}: {cell.why}" if cell.why else state,
    )


def cost_per_accepted(tally: CellTally) -> str:
    """Return what an accepted utterance costs: dollars, or calls and tokens where none are known."""
    if not tally.own:
        return "-" if tally.cases else ""
    if tally.cost_per_accepted:
        return dollars(tally.cost_per_accepted)
    calls, tokens = tally.calls / tally.own, tally.tokens / tally.own
    return f"{calls:.1f} calls, {tokens:,.0f} tokens"
