"""What became of the questions: replies that could be read, and habits that are no reading."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from outputs.evaluation.cells import Cell, estimate_cell, nothing, table_of
from outputs.evaluation.evaluated import Contender, Evaluated
from outputs.report.page import Block, Fold, Remark, ReportSection, Table
from outputs.report.wording import count, percent
from prompts.plain_text import shortened
from quality.evaluation.scores import FlipRate, Scores

_WORDS: Final = 20
"""Words that are shown; the figures have all."""
_LONGEST: Final = 60
"""Characters of a word that are shown."""
_LEAD = (
    "A reply that cannot be read, a label that the scheme does not have, and a refusal are wrong "
    "answers, also where a reply was cut off at the most tokens that it may have; where no reply came "
    "at all (failed), nothing is known and nothing is scored, as of items of the task that were not asked "
    "about yet. "
    "Harmonised: read through another word that the scheme declares for a label."
)
_POSITION = (
    "Share of the answers by the place of the given label among the options, beside how often the "
    "right label stands there (in brackets). A model that prefers a place has answers far above."
)


def replies_section(evaluated: Evaluated) -> ReportSection:
    """Return failures of reading, shares by the place of options, and flips."""
    blocks: list[Block] = []
    for task in evaluated.tasks:
        tables = [_tallies(evaluated, task.id), *_words(evaluated, task.id)]
        positions = [_positions(evaluated, task.id, d) for d in evaluated.dimensions(task.id)]
        shown = [table for table in positions if table is not None]
        notes = (Remark(_POSITION),) if shown else ()
        blocks.append(Fold(task.title, (*tables, *notes, *shown), unfolded=not blocks))
    blocks.append(_flips(evaluated))
    return ReportSection("replies", "Replies", _LEAD, tuple(blocks))


def _tallies(evaluated: Evaluated, task: str) -> Table:
    header = ("model", "dimension", "questions", "read", "unreadable", "of these cut off",
              "unknown label", "refused", "failed", "not asked yet", "harmonised")  # fmt: skip
    rows = []
    for dimension in evaluated.dimensions(task):
        view = evaluated.references(task, dimension)[0]
        for one in evaluated.contenders(task, dimension):
            score = evaluated.score(task, dimension, view, one)
            if score is None:
                continue
            tally = score.tally
            said = (tally.read, tally.unreadable)
            others = (tally.unknown_labels, tally.refused, tally.failed)
            title = evaluated.record.title(dimension)
            rows.append(
                [
                    evaluated.named(one, task),
                    title,
                    *map(count, (sum(said + others), *said, tally.cut_off, *others)),
                    *map(count, (tally.unasked, tally.harmonised)),
                ]
            )
    return table_of("What became of the questions", header, rows)


def _words(evaluated: Evaluated, task: str) -> Iterator[Table]:
    """Yield which words stood where labels were asked for, if any did."""
    found: defaultdict[tuple[str, str, str | None], Counter[str]] = defaultdict(Counter)
    for one in evaluated.scores.words:
        if one.task == task:
            name = evaluated.named(Contender(one.model, one.mode), task)
            found[one.dimension, one.written, one.label][name] += one.answers
    ordered = sorted(found.items(), key=lambda word: -word[1].total())
    rows = [
        [evaluated.record.title(dimension), shortened(written, _LONGEST),
         nothing("the scheme has no such word") if label is None else label,
         count(by.total()), ", ".join(f"{name} {count(n)}" for name, n in by.most_common())]
        for (dimension, written, label), by in ordered[:_WORDS]
    ]  # fmt: skip
    if rows:
        more = (
            f"; {count(len(found) - _WORDS)} more are in scores.json" if len(found) > _WORDS else ""
        )
        title = f"Words that are no labels, and as what they were read{more}"
        yield table_of(title, ("dimension", "written", "read as", "answers", "of whom"), rows)


def _positions(evaluated: Evaluated, task: str, dimension: str) -> Table | None:
    view = evaluated.references(task, dimension)[0]
    found: list[tuple[str, Scores]] = []
    for one in evaluated.contenders(task, dimension):
        score = evaluated.score(task, dimension, view, one)
        if score is not None and score.positions:
            found.append((evaluated.named(one, task), score))
    if not found:
        return None
    places = sorted({place.position for _, score in found for place in score.positions})
    rows: list[list[str | Cell]] = []
    for name, score in found:
        shares = {place.position: place for place in score.positions}
        cells: list[str | Cell] = [name]
        for place in places:
            share = shares.get(place)
            if share is None or share.answers is None:
                cells.append(nothing("no answer whose options are known"))
            else:
                cells.append(f"{percent(share.answers)} ({percent(share.references)})")
        rows.append(cells)
    title = evaluated.record.title(dimension)
    header = ("model", *(f"option {place + 1}" for place in places))
    return table_of(f"{title}: given labels by their place among the options", header, rows)


def _flips(evaluated: Evaluated) -> Table | Remark:
    if not evaluated.scores.flips:
        return Remark("No item was asked more than once: how often answers flip is not known.")
    titles = {task.id: task.title for task in evaluated.tasks}
    rows = [_flip(evaluated, one, titles.get(one.task, one.task)) for one in evaluated.scores.flips]
    header = ("model", "task", "mode", "dimension", "items", "asked", "flipped")
    return table_of("The same question asked again: items with more than one answer", header, rows)


def _flip(evaluated: Evaluated, one: FlipRate, task: str) -> list[str | Cell]:
    return [
        one.model,
        task,
        one.mode,
        evaluated.record.title(one.dimension),
        count(one.items),
        f"{one.times} times",
        estimate_cell(one.flipped, "no item was answered twice", items=one.items),
    ]
