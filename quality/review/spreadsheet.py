"""Write answers as CSV whose cells no spreadsheet runs as formulas."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from quality.review.answer_table import item_name
from quality.review.exchange import (
    ISSUE,
    ISSUE_REASON,
    LEAD,
    NOTE,
    SCENARIO_PROBLEM,
    Outgoing,
    dimensions_of,
    opinion_fields,
)
from quality.tables.formulas import neutral
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue

SEPARATOR = " | "
"""Between several labels in one cell."""
OPINION = (ISSUE, ISSUE_REASON, SCENARIO_PROBLEM, NOTE)


def columns(scheme: Scheme) -> list[str]:
    """Return the header: what is asked about, who answers, every dimension, and the rest."""
    dimensions = [dimension.id for dimension in dimensions_of(scheme)]
    context = ["item", "scenario", "category", "utterance", "annotator"]
    return [*context, *dimensions, *OPINION, LEAD]


class _Line:
    """Gives a line back instead of writing it."""

    def write(self, line: str) -> str:
        return line


def csv_lines(
    scheme: Scheme, dialogues: Iterable[Outgoing], *, blank: bool = False
) -> Iterator[str]:
    """Yield a table with one row per answer and utterance, and one for the dialogue as a whole.

    Args:
        scheme: the dimensions.
        dialogues: what to export.
        blank: instead of answers, rows to be filled in.
    """
    writer = csv.DictWriter(_Line(), columns(scheme), restval="", lineterminator="\r\n")
    yield writer.writeheader()
    for dialogue in dialogues:
        for row in _blank_rows(dialogue) if blank else _rows(dialogue):
            yield writer.writerow({key: neutral(cell) for key, cell in row.items()})


def _rows(dialogue: Outgoing) -> Iterator[dict[str, str]]:
    for sheet in dialogue.sheets:
        by_turn: dict[int | None, dict[str, str]] = {}
        for label in sheet.labels:
            by_turn.setdefault(label.turn, {})[label.dimension] = _cell(label.value)
        for turn, _, _ in dialogue.units:
            yield _context(dialogue, turn) | {"annotator": sheet.annotator} | by_turn.get(turn, {})
        lead_s = "" if sheet.opinion is None else f"{sheet.opinion.lead_s:.3f}"
        yield (
            _context(dialogue, None)
            | {"annotator": sheet.annotator, LEAD: lead_s}
            | by_turn.get(None, {})
            | opinion_fields(sheet)
        )


def _blank_rows(dialogue: Outgoing) -> Iterator[dict[str, str]]:
    for turn, _, _ in dialogue.units:
        yield _context(dialogue, turn)
    yield _context(dialogue, None)


def _context(dialogue: Outgoing, turn: int | None) -> dict[str, str]:
    return {
        "item": item_name(dialogue.item, turn),
        "scenario": dialogue.exhibit.dialogue.case.scenario,
        "category": dialogue.item.category,
        "utterance": "" if turn is None else dialogue.text_of(turn),
    }


def _cell(value: LabelValue) -> str:
    if isinstance(value, tuple):
        return SEPARATOR.join(value)
    return value if isinstance(value, str) else repr(value)
