"""Which columns of one file hold what a map looks for, whatever their order and spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from quality.tables.records import FileOfRows, folded, no_such_column
from quality.tables.table_map import (
    ANNOTATOR,
    AnswerColumns,
    StandingRule,
    TableMap,
    TextColumns,
    Values,
)

SECONDS: Final = "(seconds)"
"""Stands for the time an annotator took where answers have dimensions; no dimension is called so."""


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One column of answers."""

    dimension: str
    column: str
    annotator: str | None
    """Who filled it in; None: whoever the row is by."""
    how: Values
    turn: str = ""
    """Of several turns in a row the role of the one that is labelled; the last if empty."""


@dataclass(frozen=True, slots=True)
class QuestionLayout:
    """The columns of the question that every row puts."""

    options: tuple[str, ...]
    right: tuple[str, ...]
    chosen: tuple[tuple[str, str], ...]
    """Who answered, and in which column."""
    first: int
    """The number of the first option."""
    none: tuple[str, ...]
    how: Values
    """How options are read."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of one file, by the names they have there."""

    group: str
    dialogue: str | None
    turn: str | None
    annotator: str | None
    file_annotator: str
    """Who rows are by that do not say so."""
    texts: tuple[tuple[TextColumns, str, str | None], ...]
    """Of every turn of a row the column of its text and, where rows tell, of its role."""
    context: Mapping[str, str]
    standing: str | None
    notes: str | None
    goal: str | None
    answers: tuple[AnswerColumn, ...]
    gold: tuple[AnswerColumn, ...]
    seconds: tuple[AnswerColumn, ...]
    dimension: str | None
    value: str | None
    """Of answers with a row each."""
    question: QuestionLayout | None = None


def layout(table: FileOfRows, how: TableMap) -> Layout:
    """Find the columns of a file; what is missing and can be done without is noted in the file.

    Raises:
        UsageError: a column is missing without which rows cannot be told apart, or no column
            holds any answer.
    """
    columns = _Columns(table)
    dialogue = columns.needed(how.dialogue, "what names the dialogue") if how.dialogue else None
    turn = columns.needed(how.turn, "what names the turn") if how.turn else None
    answers = _answers(columns, how)
    dimension = value = None
    if how.long is not None:
        dimension = columns.needed(how.long.dimension, "what names the dimension")
        value = columns.needed(how.long.value, "what holds the answers")
    elif not answers and table.columns:
        names = [name for key in how.answers for place in how.places(key)
                 for name in (*place.column, place.columns) if name]  # fmt: skip
        raise no_such_column(table, names, "one that holds answers")
    return Layout(
        group=_part(table, how.group),
        dialogue=dialogue,
        turn=turn,
        annotator=_annotator(columns, how, answers),
        file_annotator=how.annotator.name or _part(table, how.annotator.pattern),
        texts=tuple(_texts(columns, how.texts)),
        context={
            name: column
            for name, names in {**how.context, **how.people}.items()
            if (column := columns.noted(names, name)) is not None
        }
        | {
            name: column
            for name, names in how.optional_context.items()
            if (column := columns.found(names)) is not None
        },
        standing=None if how.standing is None else _standing(columns, how.standing),
        notes=columns.found(how.notes),
        goal=None if how.goal is None else columns.found(how.goal.column),
        answers=answers,
        gold=tuple(
            AnswerColumn(name, column, None, place, place.turn)
            for name, place in how.gold.items()
            if (column := columns.noted(place.column, f"{name} as settled")) is not None
        ),
        seconds=() if how.seconds is None else tuple(columns.places(SECONDS, (how.seconds,))),
        dimension=dimension,
        value=value,
        question=_question(columns, how),
    )


def fits(table: FileOfRows, how: TableMap) -> bool:
    """Return whether a file has every column of dialogues, turns, texts and answers of a map."""
    columns = _Columns(replace(table, oddities=[]))
    named = (how.dialogue, how.turn, *(text.column for text in how.texts))
    answers = [how.places(dimension) for dimension in how.answers]
    return all(columns.found(names) for names in named if names) and all(
        columns.places("", places)
        for places in answers
        if not any(place.optional for place in places)
    )


def expected_columns(how: TableMap) -> list[str]:
    """Return every name of a column that a map mentions, of patterns the part before the annotator."""
    names = [*how.dialogue, *how.turn, *how.annotator.column, *how.notes]
    for turn in how.texts:
        names += [*turn.column, *turn.role_column]
    told = () if how.standing is None else (how.standing.column,)
    beside = (how.context, how.optional_context, how.people)
    for some in (*(names for named in beside for names in named.values()), *told):
        names += some
    places = [place for key in how.answers for place in how.places(key)]
    for place in (*places, *how.gold.values(), *((how.seconds,) if how.seconds else ())):
        names += place.column
    if how.long is not None:
        names += [*how.long.dimension, *how.long.value]
    if how.question is not None:
        names += [name for option in how.question.options for name in option]
        names += how.question.right
    return names


@dataclass(frozen=True, slots=True)
class _Columns:
    """Looks columns up by name; case and spaces do not matter."""

    table: FileOfRows

    def found(self, names: Sequence[str]) -> str | None:
        """Return the first column there is; one that is spelt otherwise is noted."""
        for name in names:
            if name in self.table.columns:
                return name
        spelt: dict[str, str] = {}
        for column in self.table.columns:
            spelt.setdefault(folded(column), column)
        for name in names:
            if (near := spelt.get(folded(name))) is not None:
                done = f"taken for {name!r}"
                self.table.odd("column_name", f"a column {near!r}", done, column=near)
                return near
        return None

    def noted(self, names: Sequence[str], what: str) -> str | None:
        """Return a column that can be done without; its absence is noted."""
        column = self.found(names)
        if column is None and self.table.columns:
            wanted = " or ".join(repr(name) for name in names)
            self.table.odd("missing_column", f"no column {wanted}", f"nothing is read of {what}")
        return column

    def needed(self, names: Sequence[str], what: str) -> str | None:
        """Return a column without which nothing can be read; None in a file of no rows."""
        column = self.found(names)
        if column is None and self.table.columns:
            raise no_such_column(self.table, names, what)
        return column

    def by_annotator(self, pattern: str, only: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Return (column, annotator) of every column that a pattern fits, or of some annotators."""
        wanted = {folded(name) for name in only}
        before, after = (folded(part) for part in pattern.split(ANNOTATOR))
        shape = re.compile(rf"{re.escape(before)}(?P<who>.*\S.*?){re.escape(after)}")
        found = []
        for column in self.table.columns:
            fit = shape.fullmatch(folded(column))
            if fit is not None and (not wanted or fit["who"].strip() in wanted):
                spelt = " ".join(column.split())
                found.append((column, spelt[fit.start("who") : fit.end("who")].strip()))
        return found

    def places(self, dimension: str, places: Sequence[AnswerColumns]) -> list[AnswerColumn]:
        """Return the columns of the first place that the file has; that it has none is noted.

        Nothing is noted of a place that is optional.
        """
        for place in places:
            found: list[AnswerColumn] = []
            if place.columns:
                pairs = self.by_annotator(place.columns, place.annotators)
                found = [
                    AnswerColumn(dimension, name, who, place, place.turn) for name, who in pairs
                ]
            elif (column := self.found(place.column)) is not None:
                found = [AnswerColumn(dimension, column, None, place, place.turn)]
            if found:
                return found
        if self.table.columns and not any(place.optional for place in places):
            wanted = " or ".join(repr(n) for p in places for n in (*p.column, p.columns) if n)
            self.table.odd(
                "missing_column", f"no column {wanted}", f"nothing is read of {dimension}"
            )
        return []


def _standing(columns: _Columns, how: StandingRule) -> str | None:
    """Return the column that says who stands above whom; that words are taken instead is noted."""
    column = columns.found(how.column)
    if column is None and how.column and columns.table.columns:
        wanted = " or ".join(repr(name) for name in how.column)
        done = f"{how.name} is told by what {' and '.join(how.of)} are called"
        columns.table.odd("told_by_names", f"no column {wanted}", done)
    return column


def _texts(
    columns: _Columns, texts: Sequence[TextColumns]
) -> list[tuple[TextColumns, str, str | None]]:
    found = []
    for text in texts:
        column = columns.noted(text.column, f"what the {text.role or 'speaker'} says")
        role = columns.noted(text.role_column, "who speaks") if text.role_column else None
        if column is not None:
            found.append((text, column, role))
    return found


def _annotator(columns: _Columns, how: TableMap, answers: Sequence[AnswerColumn]) -> str | None:
    """Return the column that says whose the rows are, where any answer depends on that."""
    if not how.annotator.column or (answers and all(a.annotator is not None for a in answers)):
        return None
    if how.annotator.is_column_only:
        return columns.needed(how.annotator.column, "who annotated")
    return columns.noted(how.annotator.column, "who annotated: rows are by whom the file names")


def _question(columns: _Columns, how: TableMap) -> QuestionLayout | None:
    """Return where questions are; None, with a note, where a file lacks what they are made of."""
    question = how.question
    if question is None:
        return None
    options = [columns.noted(names, "questions") for names in question.options]
    right = [column for name in question.right if (column := columns.found((name,))) is not None]
    if not right:
        columns.noted(question.right, "questions")
    if not right or None in options:
        return None
    chosen = columns.by_annotator(question.chosen) if question.chosen else []
    return QuestionLayout(
        options=tuple(column for column in options if column is not None),
        right=tuple(right),
        chosen=tuple((who, column) for column, who in chosen),
        first=question.first,
        none=question.none,
        how=how.places(question.of)[0],
    )


def _answers(columns: _Columns, how: TableMap) -> tuple[AnswerColumn, ...]:
    return tuple(
        column
        for dimension in how.answers
        for column in columns.places(dimension, how.places(dimension))
    )


def _part(table: FileOfRows, pattern: str) -> str:
    """Return what a pattern finds in the path of a file without its suffix: its first group, or all.

    A pattern that finds nothing but an empty text gives files no name of their own.
    """
    path = table.path.absolute().with_suffix("").as_posix()
    found = re.search(pattern, path, re.IGNORECASE)
    if found is None:
        return table.path.stem
    return next((part for part in found.groups() if part), None) or found[0]
