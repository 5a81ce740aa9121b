"""Lies beside the own fact and beside another: who reads the fact, and who reads the words alone."""

from __future__ import annotations

from outputs.evaluation.cells import Cell, estimate_cell, table_of
from outputs.evaluation.evaluated import Evaluated
from outputs.report.page import Block, Remark, ReportSection
from outputs.report.wording import count
from quality.evaluation.scores import SwapScore

_LEAD = (
    "The same line with the fact that makes it a lie, with another fact under which it is none, "
    "and with no fact. Who goes by the words alone is right in one half of the first two, never "
    "in both halves of a pair."
)


def swaps_section(evaluated: Evaluated) -> ReportSection | None:
    """Return the figures on swapped facts; None where no such items were asked about."""
    if not evaluated.scores.swaps:
        return None
    header = ("model", "mode", "own fact", "other fact", "mean of both", "pairs", "both right",
              "called a lie without a fact")  # fmt: skip
    blocks: list[Block] = []
    for task in dict.fromkeys(one.task for one in evaluated.scores.swaps):
        mine = [one for one in evaluated.scores.swaps if one.task == task]
        for dimension in dict.fromkeys(one.dimension for one in mine):
            found = [one for one in mine if one.dimension == dimension]
            title = evaluated.record.title(dimension)
            caption = f"{title}: items that are right, against swap labels"
            blocks.append(table_of(caption, header, [_row(one) for one in found]))
            remarks = dict.fromkeys(text for one in found for text in one.remarks)
            blocks += [Remark(text) for text in remarks]
    return ReportSection("swaps", "Swapped facts", _LEAD, tuple(blocks))


def _row(one: SwapScore) -> list[str | Cell]:
    return [
        one.model,
        one.mode,
        estimate_cell(one.own, "no item with the own fact", items=one.n_own),
        estimate_cell(one.other, "no item with another fact", items=one.n_other),
        estimate_cell(one.mean, "one of the two is missing", items=one.n_own + one.n_other),
        count(one.pairs),
        estimate_cell(one.both, "no line with both facts", items=one.pairs),
        estimate_cell(one.named_without_fact, "no item without a fact", items=one.n_none),
    ]
