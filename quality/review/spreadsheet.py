"""Write answers, or sheets to fill in, as CSV whose cells no spreadsheet runs as formulas."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence

from quality.review.answer_table import item_name
from quality.review.forms import FormField
from quality.review.outgoing import (
    CONFIRMED,
    ISSUE,
    ISSUE_REASON,
    LEAD,
    NOTE,
    REJECTED,
    SCENARIO_PROBLEM,
    Outgoing,
    dialogue_text,
    dimensions_of,
    facts_text,
    opinion_fields,
    situation_text,
)
from quality.tables.formulas import neutral
from quality.tables.header import SEPARATOR, SHOWN
from scenarios.reviews import ReviewStudy
from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import label_list
from scenarios.terms import LabelValue

OPINION = (ISSUE, ISSUE_REASON, SCENARIO_PROBLEM, NOTE)


def columns(scheme: Scheme) -> list[str]:
    """Return the header of answers: what is asked about, who answers, every dimension, the rest."""
    return _header(["item", "scenario", "category", "utterance"], scheme)


def blank_columns(scheme: Scheme, study: ReviewStudy) -> list[str]:
    """Return the header of a sheet to fill in: as :func:`columns`, and what is to be seen.

    What a study does not show or ask has no column.
    """
    scene, fact, dialogue, answers = SHOWN
    shown = [scene, *([fact] if study.shows_fact else []), dialogue]
    return _header(["item", "scenario", "category", *shown, "utterance", answers], scheme, study)


def _header(context: list[str], scheme: Scheme, study: ReviewStudy | None = None) -> list[str]:
    dimensions = [dimension.id for dimension in dimensions_of(scheme, study)]
    opinion = OPINION if study is None or study.asks_opinion else (NOTE,)
    return [*context, "annotator", *dimensions, *opinion, LEAD]


class _ReturnedLine:
    """Gives a line back instead of writing it."""

    def write(self, line: str) -> str:
        return line


def answer_lines(scheme: Scheme, dialogues: Iterable[Outgoing]) -> Iterator[str]:
    """Yield a table with one row per answer and utterance, and one for the dialogue as a whole."""
    return _lines(columns(scheme), (row for dialogue in dialogues for row in _rows(dialogue)))


def blank_lines(scheme: Scheme, study: ReviewStudy, dialogues: Iterable[Outgoing]) -> Iterator[str]:
    """Yield a table of the same rows to be filled in, each with all that is needed for it."""
    rows = (row for dialogue in dialogues for row in _blank_rows(dialogue, study))
    return _lines(blank_columns(scheme, study), rows)


def _lines(header: Sequence[str], rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    writer = csv.DictWriter(
        _ReturnedLine(), header, restval="", extrasaction="ignore", lineterminator="\r\n"
    )
    yield writer.writeheader()
    for row in rows:
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


def _blank_rows(dialogue: Outgoing, study: ReviewStudy) -> Iterator[dict[str, str]]:
    exhibit = dialogue.exhibit
    asked = {section.turn: section.fields for section in exhibit.sections}
    scene, facts = situation_text(exhibit), facts_text(exhibit)
    for turn in (*exhibit.targets, None):
        answers = [_offered(field) for field in asked.get(turn, ())]
        if turn is None and study.asks_opinion:
            answers.append(f"{ISSUE}: {CONFIRMED}, {REJECTED}")
        if not answers:
            continue
        seen = (scene, facts, dialogue_text(exhibit, turn), "\n".join(answers))
        cells = dict(zip(SHOWN, seen, strict=True))
        yield _context(dialogue, turn) | cells


def _offered(field: FormField) -> str:
    """Return which answers go into the column of a question."""
    offered = ", ".join(choice.title for choice in field.choices)
    if field.kind == "number":
        low, high = field.dimension.range or (0.0, 0.0)
        offered = f"{low:g} to {high:g}"
    elif field.kind == "many":
        offered += f" (several with {SEPARATOR.strip()} between them)"
    where = f" ({field.only_where})" if field.only_where else ""
    return f"{field.dimension.id}: {offered}{where}"


def _context(dialogue: Outgoing, turn: int | None) -> dict[str, str]:
    return {
        "item": item_name(dialogue.item, turn),
        "scenario": dialogue.exhibit.dialogue.case.scenario,
        "category": dialogue.item.category,
        "utterance": "" if turn is None else dialogue.text_of(turn),
    }


def _cell(value: LabelValue) -> str:
    if isinstance(value, tuple):
        return SEPARATOR.join(label_list(value))
    return value if isinstance(value, str) else repr(value)
