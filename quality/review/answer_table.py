"""The reviewers' answers in long form, for agreement and quality control."""

from __future__ import annotations

from collections.abc import Iterable

from quality.agreement.annotations import Answer, Timing
from scenarios.reviews import Item, Sheet


def item_name(item: Item, turn: int | None) -> str:
    """Return ``case/arm#turn``, or ``case/arm`` for the dialogue as a whole."""
    return item.id if turn is None else f"{item.id}#{turn}"


def answers(sheets: Iterable[Sheet]) -> list[Answer]:
    """Return one row per label that was given; annotators are codes."""
    return [
        Answer(
            item_name(sheet.item, label.turn),
            label.dimension,
            sheet.annotator,
            label.value,
            sheet.item.id,
        )
        for sheet in sheets
        for label in sheet.labels
    ]


def timings(sheets: Iterable[Sheet]) -> list[Timing]:
    """Return how long each annotator looked at each dialogue, imported answers left out."""
    return [
        Timing(sheet.item.id, sheet.annotator, sheet.opinion.lead_s, max(1, len(sheet.labels)))
        for sheet in sheets
        if sheet.opinion is not None and sheet.origin == "page"
    ]
