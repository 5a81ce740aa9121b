"""Read other people's tables: files and a map become dialogues, answers, and what was odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.importing.rows import role_key
from quality.agreement.annotations import Timing, is_blank
from quality.tables.cells import cell_value, name_in, says_nothing
from quality.tables.derived_map import PLAIN
from quality.tables.joining import joined, numbered
from quality.tables.layout import SECONDS, AnswerColumn, Layout, expected_columns, layout
from quality.tables.oddities import Oddity, Place, shown
from quality.tables.questions import QuestionReader, TableQuestion
from quality.tables.records import FileOfRows, Record, folded, no_row_of, read_file
from quality.tables.standing import standing_of
from quality.tables.table import (
    SOMEBODY,
    AnswerTable,
    FileCount,
    TableAnswer,
    TableDialogue,
    TableTurn,
)
from quality.tables.table_map import TableMap, Values
from quality.tables.timings import by_item
from scenarios.schemes.model import Scheme

_NOTES, _GOAL, _STANDING = "(notes)", "(goal)", "(standing)"


def read_table(how: TableMap, scheme: Scheme, paths: Sequence[Path]) -> AnswerTable:
    """Read files of one kind.

    Args:
        how: what their columns stand for.
        scheme: the dimensions of the answers; see :func:`quality.tables.checking.scheme_of`.
        paths: the files; those whose names give the same group may be about the same dialogues.

    Raises:
        UsageError: a file cannot be read or lacks what rows cannot be told apart without, or no
            file has a row.
    """
    whole = frozenset(d.id for d in scheme.dimensions if d.level == "dialogue")
    reader = _TableReader(
        how,
        whole=whole | {SECONDS} if len(whole) == len(scheme.dimensions) else whole,
        numeric=frozenset(d.id for d in scheme.dimensions if d.measurement == "interval")
        | {SECONDS},
        of={d.id: d.of for d in scheme.dimensions if d.of},
    )
    for path in paths:
        reader.take(path)
    if not reader.rows:
        raise no_row_of(reader.files, reader.odd)
    return reader.table()


@dataclass(slots=True)
class _TableRow:
    """One record, with who it is by and which dialogue it belongs to."""

    file: FileOfRows
    layout: Layout
    record: Record
    dialogue: str
    annotator: str
    texts: tuple[TableTurn, ...]
    turn: str = ""
    """What names its place, where a column does."""
    place: int = 0

    def at(self, column: str = "") -> Place:
        return Place(self.file.file, self.record.row, self.record.line, column)


@dataclass(slots=True)
class _TableReader:
    how: TableMap
    whole: frozenset[str]
    """Dimensions that are about dialogues as a whole."""
    numeric: frozenset[str]
    """Dimensions whose answers are numbers."""
    of: Mapping[str, Sequence[str]]
    """Dimensions that are asked of the words of some roles alone, with these."""
    files: list[FileOfRows] = field(default_factory=list)
    rows: list[_TableRow] = field(default_factory=list)
    odd: list[Oddity] = field(default_factory=list)
    dimensions: dict[str, None] = field(default_factory=dict)
    _groups: dict[str, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _seen: dict[tuple[str, str, str, str], list[_TableRow]] = field(default_factory=dict)

    def take(self, path: Path) -> None:
        """Read one file."""
        file = read_file(
            path,
            encodings=self.how.encodings,
            delimiters=self.how.delimiters,
            expected=expected_columns(self.how),
        )
        found = layout(file, self.how)
        self.dimensions.update(dict.fromkeys(column.dimension for column in found.answers))
        self.files.append(file)
        self._groups[file.file] = found.group
        for record in file.records:
            row = self._row(file, found, record)
            if row is not None and self._is_new(row):
                self.rows.append(row)
        self.odd += file.oddities

    def _row(self, file: FileOfRows, found: Layout, record: Record) -> _TableRow | None:
        at = (record.row, record.line)
        names: dict[str, str] = {}
        for what, column in (("dialogue", found.dialogue), ("turn", found.turn)):
            names[what] = "" if column is None else name_in(record.cells.get(column))
            if column is not None and not names[what]:
                file.odd(
                    f"no_{what}", "an empty cell", "the row is left out", at=at, column=column,
                    left_out=True,
                )  # fmt: skip
                return None
        dialogue = names["dialogue"]
        if found.dialogue is None and self.how.rows == "dialogues":
            dialogue = str(record.row)
        if dialogue.isdecimal() and self.how.id != PLAIN:  # so that names sort as numbers do
            dialogue = dialogue.zfill(3)
        return _TableRow(
            file=file,
            layout=found,
            record=record,
            dialogue="/".join(part for part in (found.group, dialogue) if part),
            annotator=self._annotator(file, found, record),
            texts=tuple(self._texts(file, found, record)),
            turn=names["turn"],
        )

    def _annotator(self, file: FileOfRows, found: Layout, record: Record) -> str:
        """Return who a row is by; one name spelt in two ways is one annotator."""
        name = found.file_annotator
        if found.annotator is not None:
            at = (record.row, record.line)
            name = name_in(record.cells.get(found.annotator))
            if not name:
                name = found.file_annotator
                answered = [*(answer.column for answer in found.answers), found.value or ""]
                # Sheets to fill in have rows that nobody has filled in.
                if not all(is_blank(record.cells.get(column)) for column in answered):
                    done = f"taken to be by {name!r}"
                    file.odd("no_annotator", "an empty cell", done, at=at, column=found.annotator)
        return self._spelt(name, file, record, found.annotator or "")

    def _spelt(self, name: str, file: FileOfRows, record: Record | None, column: str) -> str:
        spelt = self._names.setdefault(folded(name), name)
        if spelt != name:
            at = (None, None) if record is None else (record.row, record.line)
            done = f"taken for {spelt!r}"
            file.odd("annotator_name", f"the annotator {name!r}", done, at=at, column=column)
        return spelt

    def _texts(self, file: FileOfRows, found: Layout, record: Record) -> Iterator[TableTurn]:
        for text, column, role_column in found.texts:
            at = (record.row, record.line)
            role, called = text.role, ""
            if role_column is not None:
                written = name_in(record.cells.get(role_column))
                known = {folded(name): meant for name, meant in text.roles.items()}
                role = known.get(folded(written), "")
                if not role:
                    role, called = written.casefold() or SOMEBODY, written
                    done = f"called the role {role!r}"
                    if text.roles:
                        file.odd("unknown_role", shown(written), done, at=at, column=role_column)
            raw = record.cells.get(column)
            said = "" if is_blank(raw) else str(raw).strip()
            if not said:
                file.odd("no_text", "an empty cell", "a turn without words", at=at, column=column)
            yield TableTurn(role or SOMEBODY, said, called)

    def _is_new(self, row: _TableRow) -> bool:
        """Tell whether a row is another one than those before; repeated rows are noted.

        Without a column of turns the same words may well be said twice: rows are places.
        """
        if self.how.rows == "turns" and row.layout.turn is None:
            return True
        by_row = any(a.annotator is None for a in row.layout.answers) or row.layout.dimension
        key = (row.dialogue, row.turn, row.annotator if by_row else "", row.file.file)
        before = self._seen.setdefault(key, [])
        at = (row.record.row, row.record.line)
        same = next((r for r in before if r.record.cells == row.record.cells), None)
        if same is not None:
            found = f"the same as row {same.record.row}"
            row.file.odd("repeated_row", found, "the row is left out", at=at, left_out=True)
            return False
        before.append(row)
        if self.how.rows == "dialogues" and any(_words(r) != _words(row) for r in before[:-1]):
            again = f"{row.dialogue} ({len(before)})"
            found = f"another row of {row.dialogue!r}, with other words"
            row.file.odd("repeated_name", found, f"called {again!r}", at=at)
            row.dialogue = again
        return True

    def table(self) -> AnswerTable:
        """Put the rows of all files together."""
        self._place()
        order: dict[str, list[_TableRow]] = {}
        for row in self.rows:
            order.setdefault(row.dialogue, []).append(row)
        dialogues, answers, gold = [], [], []
        questions: list[TableQuestion] = []
        timings: list[Timing] = []
        for name, rows in order.items():
            turns, starts = self._turns(rows)
            dialogues.append(self._dialogue(name, rows, turns))
            for row in rows:
                given = [*self._answers(row, row.layout.answers, starts), *self._long(row, starts)]
                asked = list(self._questions(row, starts[row.place]))
                gold += list(self._answers(row, row.layout.gold, starts))
                decided = Counter(answer.annotator for answer in given)
                decided.update(who for question in asked for who in question.chosen)
                timings += self._timings(row, starts, decided)
                answers += given
                questions += asked
        return AnswerTable(
            dialogues=tuple(dialogues),
            answers=tuple(answers),
            gold=tuple(_once(gold)),
            oddities=tuple(self.odd),
            files=tuple(self._counts()),
            dimensions=tuple(self.dimensions),
            questions=tuple(questions),
            timings=by_item(timings),
        )

    def _place(self) -> None:
        """Say of every row which place of its dialogue it is about."""
        by_dialogue: dict[str, dict[str, list[_TableRow]]] = {}
        for row in self.rows:
            by_dialogue.setdefault(row.dialogue, {}).setdefault(row.annotator, []).append(row)
        for by_annotator in by_dialogue.values():
            rows = [row for own in by_annotator.values() for row in own]
            if self.how.rows == "dialogues":
                continue
            if self.how.turn:
                for row, place in zip(rows, numbered([row.turn for row in rows]), strict=True):
                    row.place = place
            else:
                words = {name: [_words(row) for row in own] for name, own in by_annotator.items()}
                for name, places in joined(words).items():
                    for row, place in zip(by_annotator[name], places, strict=True):
                        row.place = place
                self._note_gaps(by_annotator, max(row.place for row in rows) + 1)

    def _note_gaps(self, by_annotator: dict[str, list[_TableRow]], places: int) -> None:
        for name, own in by_annotator.items():
            if len(own) < places:
                found = f"{name!r} has {len(own)} of {places} turns of {own[0].dialogue!r}"
                done = "rows are joined by their words, in order"
                self.odd.append(Oddity(Place(own[0].file.file), "missing_turns", found, done))

    def _turns(self, rows: list[_TableRow]) -> tuple[tuple[TableTurn, ...], dict[int, int]]:
        """Return the turns of a dialogue, and with which of them each place begins."""
        said: dict[int, _TableRow] = {}
        for row in rows:
            first = said.setdefault(row.place, row)
            if _words(first) != _words(row):
                found = f"other words than in row {first.record.row} of {first.file.file}"
                self.odd.append(Oddity(row.at(), "other_words", found, "the first words stay"))
        turns: list[TableTurn] = []
        starts: dict[int, int] = {}
        for place in sorted(said):
            starts[place] = len(turns)
            turns += said[place].texts or (TableTurn(SOMEBODY, ""),)
        return tuple(turns), starts

    def _dialogue(
        self, name: str, rows: list[_TableRow], turns: tuple[TableTurn, ...]
    ) -> TableDialogue:
        first = rows[0].layout
        said: dict[str, dict[str, None]] = {}
        for row in rows:
            about = row.layout
            own = {_NOTES: about.notes, _GOAL: about.goal, _STANDING: about.standing}
            named = {**about.context, **own}
            for key, column in named.items():
                if column is not None and not is_blank(row.record.cells.get(column)):
                    said.setdefault(key, {})[str(row.record.cells[column]).strip()] = None
        context = {key: next(iter(said[key])) for key in first.context if key in said}
        if (how := self.how.standing) is not None:
            cell = None if first.standing is None else next(iter(said.get(_STANDING, ())), "")
            standing = standing_of(how, cell, context)
            context |= {how.name: standing} if standing else {}
        return TableDialogue(
            id=name,
            group=first.group,
            turns=turns,
            context=context,
            notes="\n".join(said.get(_NOTES, ())),
            goal=self._goal(first, next(iter(said.get(_GOAL, ())), "")),
            file=rows[0].file.file,
        )

    def _goal(self, found: Layout, written: str) -> str:
        if self.how.goal is None:
            return ""
        goal = written or (found.group if found.goal is None else "")
        known = {folded(name): label for name, label in self.how.goal.values.items()}
        return known.get(folded(goal), goal)

    def _answers(
        self, row: _TableRow, columns: Sequence[AnswerColumn], starts: dict[int, int]
    ) -> Iterator[TableAnswer]:
        roles = [text.role for text in row.texts]
        for column in columns:
            who = row.annotator
            if column.annotator is not None:
                who = self._spelt(column.annotator, row.file, None, column.column)
            last = max(len(roles) - 1, 0)
            inside = roles.index(column.turn) if column.turn in roles else last
            yield from self._answer(row, replace(column, annotator=who), starts[row.place] + inside)

    def _timings(
        self, row: _TableRow, starts: dict[int, int], decided: Mapping[str, int]
    ) -> Iterator[Timing]:
        """Yield how long whoever answered a row looked at it, and how many answers it holds."""
        for answer in self._answers(row, row.layout.seconds, starts):
            if isinstance(answer.value, float) and answer.value >= 0:
                who = answer.annotator
                yield Timing(answer.item, who, answer.value, decided.get(who, 0))
            else:
                done = "not taken for a time"
                self.odd.append(Oddity(answer.place, "no_time", shown(answer.value), done))

    def _long(self, row: _TableRow, starts: dict[int, int]) -> Iterator[TableAnswer]:
        long = self.how.long
        if long is None or row.layout.dimension is None or row.layout.value is None:
            return
        written = name_in(row.record.cells.get(row.layout.dimension))
        known = {folded(name): meant for name, meant in long.dimensions.items()}
        dimension = known.get(folded(written), written)
        self.dimensions.setdefault(dimension)
        turn = starts[row.place] + max(len(row.texts) - 1, 0)
        how = long.values.get(dimension, Values())
        column = AnswerColumn(dimension, row.layout.value, row.annotator, how)
        yield from self._answer(row, column, turn)

    def _answer(self, row: _TableRow, column: AnswerColumn, turn: int) -> Iterator[TableAnswer]:
        raw = row.record.cells.get(column.column)
        read = cell_value(raw, column.how, numeric=column.dimension in self.numeric)
        who = column.annotator or row.annotator
        at = row.at(column.column)
        if read is None:
            is_for_others = is_blank(raw) and not self._is_asked(row, column.dimension)
            if not is_for_others and not says_nothing(raw, column.how):
                found = "an empty cell" if is_blank(raw) else shown(raw)
                self.odd.append(Oddity(at, "no_answer", found, f"no answer of {who!r}"))
            return
        if read.change:
            self.odd.append(Oddity(at, "other_spelling", shown(raw), read.change))
        about = None if column.dimension in self.whole else turn
        yield TableAnswer(row.dialogue, about, who, column.dimension, read.value, at)

    def _is_asked(self, row: _TableRow, dimension: str) -> bool:
        roles = [role_key(text.role) for text in row.texts if text.role != SOMEBODY]
        asked = self.of.get(dimension, roles)
        return not roles or any(role in asked for role in roles)

    def _questions(self, row: _TableRow, start: int) -> Iterator[TableQuestion]:
        if row.layout.question is not None:
            reader = QuestionReader(row.layout.question, self.odd.append)
            turn = start + max(len(row.texts) - 1, 0)
            question = reader.read(row.record.cells, row.dialogue, turn, row.at)
            if question is not None:
                yield question

    def _counts(self) -> Iterator[FileCount]:
        read = Counter(id(row.file) for row in self.rows)
        for file in self.files:
            left_out = sum(oddity.left_out for oddity in file.oddities)
            group = self._groups[file.file]
            yield FileCount(file.file, group, file.rows, read[id(file)], left_out)


def _words(row: _TableRow) -> tuple[tuple[str, str], ...]:
    return tuple((text.role, folded(text.text)) for text in row.texts)


def _once(gold: Sequence[TableAnswer]) -> Iterator[TableAnswer]:
    """Yield of every item the first label that was settled on; annotators' rows repeat it."""
    seen: set[tuple[str, str]] = set()
    for answer in gold:
        if (answer.item, answer.dimension) not in seen:
            seen.add((answer.item, answer.dimension))
            yield answer
