"""The map of a plain table, which comes without one: made from its header and its answers.

Three forms are told apart. Long: a column of annotators, and either columns of dimension and value
or a column for each dimension. Wide: no column of annotators, but one for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from quality.agreement.annotations import is_blank
from quality.tables.attributes import attributes
from quality.tables.header import (
    KNOWN,
    SECONDS,
    SEPARATOR,
    Header,
    plain_name,
    read_header,
)
from quality.tables.layout import fits
from quality.tables.measured import (
    BLANKS,
    Measured,
    Numbers,
    answers_in,
    are_numbers,
    is_prose,
    measured,
)
from quality.tables.records import FileOfRows, folded, no_row_of, read_file
from quality.tables.table_map import ANNOTATOR, TableMap, load_map, map_names
from scenarios.errors import UsageError
from scenarios.schemes.model import Level

PLAIN: Final = "plain"
"""The id of the maps and schemes that are made of plain tables."""
_ENCODINGS = TableMap.model_fields["encodings"].default
_DELIMITERS = TableMap.model_fields["delimiters"].default
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Plain:
    """The header and the rows of all files of one plain table."""

    file: str
    header: Header
    rows: Sequence[Mapping[str, object]]

    def cells(self, column: str) -> list[object]:
        """Return the cells of one column; where a sheet of reviews holds several labels, each label."""
        return [part for row in self.rows for part in self._parts(row.get(column))]

    def holds_several(self, column: str) -> bool:
        """Return whether a cell of a column holds several labels, as sheets of reviews write them."""
        return any(len(self._parts(row.get(column))) > 1 for row in self.rows)

    def _parts(self, cell: object) -> list[object]:
        if not self.header.is_review or not isinstance(cell, str):
            return [cell]
        return [part.strip() for part in cell.split(SEPARATOR.strip())]

    def refuse(self, why: str, *, forms: bool = True) -> NoReturn:
        """Raise the error that says why this is no plain table, and what would be one."""
        columns = list(dict.fromkeys(name for row in self.rows[:100] for name in row))
        listed = ", ".join(columns[:_SHOWN]) + (", ..." if len(columns) > _SHOWN else "")
        expected = (
            "expected long rows (item, annotator, label; or item, annotator, dimension, value; or "
            "item, annotator and a column per dimension) or wide ones (item and a column per "
            "annotator); rename the columns, or say what they stand for in a map: --map NAME|MAP.yaml "
            "(docs/annotations.md lists names that are known and the fields of a map)"
        )
        raise UsageError(f"{self.file}: {why}; its columns: {listed}", expected if forms else "")


def derived_map(paths: Sequence[Path], numbers: Numbers | None = None) -> TableMap:
    """Make the map of plain tables of one form.

    Args:
        paths: the files; an item that has the same name in two of them is the same item.
        numbers: as what answers that are numbers count; None: by the rule of
            :func:`quality.tables.measured.measured`.

    Raises:
        UsageError: a file cannot be read, or its columns do not say where the answers are.
    """
    plain = _read(paths)
    header = plain.header
    if header.item is None:
        plain.refuse("found no column that names the items")
    fields: dict[str, Any] = {
        "id": PLAIN, "group": "^", "rows": "dialogues",
        "dialogue": header.item,
    }  # fmt: skip
    level: Level = "dialogue"
    if header.dialogue is not None:
        fields |= {"rows": "turns", "dialogue": header.dialogue, "turn": header.item}
        level = "utterance"
    if header.annotator is None:
        fields |= _wide(plain, level, numbers)
    else:
        fields["annotator"] = {"column": header.annotator}
        if header.seconds is not None:
            fields["seconds"] = {"column": header.seconds, "blank": BLANKS}
        if header.dimension is not None and header.value is not None:
            fields |= _long(plain, header.dimension, header.value, level=level, numbers=numbers)
        else:
            fields |= _by_dimension(plain, level, numbers)
    fields["title"] = _described(header, fields)
    return TableMap.model_validate(fields)


def _read(paths: Sequence[Path]) -> Plain:
    files = [
        read_file(path, encodings=_ENCODINGS, delimiters=_DELIMITERS, expected=KNOWN)
        for path in paths
    ]
    filled = [file for file in files if file.records]
    if not filled:
        raise no_row_of(files, [odd for file in files for odd in file.oddities])
    first = filled[0]
    _check_no_map_knows_it(first)
    for other in filled[1:]:
        _check_alike(first, other)
    rows = [record.cells for file in filled for record in file.records]
    return Plain(first.file, read_header(first.columns), rows)


def _check_no_map_knows_it(table: FileOfRows) -> None:
    """Refuse a table of a map that ships: by names alone, columns would be taken for annotators."""
    for name in map_names():
        if fits(table, load_map(name)):
            raise UsageError(
                f"{table.file}: its columns are those of the map {name}, and no plain table",
                f"give --map {name}, or a map of your own (docs/annotations.md)",
            )


def _check_alike(first: FileOfRows, other: FileOfRows) -> None:
    strange = sorted({*first.columns} ^ {*other.columns})
    if strange:
        raise UsageError(
            f"{other.file}: other columns than in {first.file}: {', '.join(strange[:_SHOWN])}",
            "without --map all files have the same columns; give those that differ apart",
        )


def _described(header: Header, fields: Mapping[str, Any]) -> str:
    """Say in one line what the columns were taken for."""
    who = (
        "an annotator a column"
        if header.annotator is None
        else f"annotators in {header.annotator!r}"
    )
    named = [f"{d.id} ({d.measurement})" for d in fields["dimensions"]]
    more = [f"and {len(named) - _SHOWN} more"] if len(named) > _SHOWN else []
    asked = {
        answer["column"] for answer in fields.get("answers", {}).values() if "column" in answer
    }
    beside = [name for name in fields["context"] if name in header.others and name not in asked]
    no_answers = (
        f"; no answers: {', '.join(beside[:_SHOWN])} (a --map says otherwise)" if beside else ""
    )
    return f"items in {header.item!r}, {who}; {', '.join([*named[:_SHOWN], *more])}{no_answers}"


def _long(
    plain: Plain, dimension: str, value: str, *, level: Level, numbers: Numbers | None
) -> dict[str, Any]:
    """Map rows of one answer each that name the dimension."""
    header = plain.header
    cells: dict[str, list[object]] = {}
    for row in plain.rows:
        name = row.get(dimension)
        if not is_blank(name):
            cells.setdefault(" ".join(str(name).split()), []).append(row.get(value))
    kept = {name: some for name, some in cells.items() if answers_in(some) and not is_prose(some)}
    if not kept:
        plain.refuse(f"found no answers in the column {value!r}")
    ids = _ids(kept)
    found = {name: measured(ids[name], name, kept[name], level=level, numbers=numbers)
             for name in kept}  # fmt: skip
    _check_numbers(plain, found.values(), numbers)
    return {
        "dimensions": [one.dimension for one in found.values()],
        "long": {
            "dimension": dimension,
            "value": value,
            "dimensions": ids,
            "values": {ids[name]: _how(one) for name, one in found.items()},
        },
        "context": {name: name for name in (*header.others, *header.aside)},
    }


def _by_dimension(plain: Plain, level: Level, numbers: Numbers | None) -> dict[str, Any]:
    """Map rows of one annotator and one item each, with a column per dimension."""
    header = plain.header
    columns = [name for name in (header.value, header.dimension, *header.others) if name]
    given = [name for name in columns if answers_in(plain.cells(name))]
    kept = [name for name in given if not is_prose(plain.cells(name))]
    if not kept:
        plain.refuse("found items and annotators, but no column of labels or numbers")
    empty = ("",) if header.is_review else ()
    left = attributes(header, plain.rows, kept)
    kept = [name for name in kept if name not in left] or kept
    ids = _ids(kept)
    gold = [header.gold] if header.gold is not None and len(kept) == 1 else []
    found = {
        name: measured(
            ids[name], name, [c for source in (name, *gold) for c in plain.cells(source)],
            level=level, numbers=numbers, several=plain.holds_several(name),
        )
        for name in kept
    }  # fmt: skip
    _check_numbers(plain, found.values(), numbers)
    return {
        "dimensions": [one.dimension for one in found.values()],
        "answers": {
            ids[name]: {"column": name, **_how(one), "blank": (*BLANKS, *empty)}
            for name, one in found.items()
        },
        "gold": {ids[kept[0]]: {"column": gold[0], **_how(found[kept[0]])}} if gold else {},
        "context": {name: name for name in (*(c for c in columns if c not in kept), *header.aside)},
    }


@dataclass(frozen=True, slots=True)
class _Group:
    """The columns of one dimension of a wide table."""

    name: str
    pattern: str
    columns: Mapping[str, str]
    """Annotator -> column."""


def _wide(plain: Plain, level: Level, numbers: Numbers | None) -> dict[str, Any]:
    """Map rows of one item each, with a column per annotator, or per dimension and annotator."""
    header = plain.header
    columns = [name for name in header.others if answers_in(plain.cells(name))]
    kept = [name for name in columns if not is_prose(plain.cells(name))]
    groups = list(_crossed(kept)) or [_Group("label", ANNOTATOR, {name: name for name in kept})]
    timed = [g for g in groups if plain_name(g.name) in set(map(plain_name, SECONDS))]
    asked = [group for group in groups if group not in timed]
    if not asked or len(asked[0].columns) < 2:
        plain.refuse("found no column that names annotators, nor one for each of at least two")
    for group in asked:
        _check_one_scale(plain, group)
    ids = _ids([group.name for group in asked])
    gold = [header.gold] if header.gold is not None and len(asked) == 1 else []
    found = {
        group.name: measured(
            ids[group.name], group.name,
            [cell for source in (*group.columns.values(), *gold) for cell in plain.cells(source)],
            level=level, numbers=numbers,
        )
        for group in asked
    }  # fmt: skip
    _check_numbers(plain, found.values(), numbers)
    fields: dict[str, Any] = {
        "dimensions": [one.dimension for one in found.values()],
        "answers": {ids[g.name]: {**_columns(g), **_how(found[g.name])} for g in asked},
        "context": {name: name for name in (*(c for c in columns if c not in kept), *header.aside)},
    }
    if gold:
        fields["gold"] = {ids[asked[0].name]: {"column": gold[0], **_how(found[asked[0].name])}}
    if timed:
        fields["seconds"] = {**_columns(timed[0]), "blank": BLANKS}
    return fields


def _crossed(columns: Sequence[str]) -> Iterator[_Group]:
    """Yield the dimensions of columns that are called ``<dimension>_<annotator>``, all of them.

    There must be the same two annotators or more of each dimension. Where there is only one, the
    part before the annotator must be no name of annotators: ``rater_1`` is the whole name of one.
    """
    split = [name.split("_") for name in columns]
    for parts in range(max(map(len, split), default=1) - 1, 0, -1):
        groups: dict[str, dict[str, str]] = {}
        for name, words in zip(columns, split, strict=True):
            before, after = "_".join(words[:parts]), "_".join(words[parts:])
            groups.setdefault(before, {})[after] = name
        people = [set(group) for group in groups.values()]
        alike = all(some == people[0] for some in people) and "" not in people[0]
        if (
            alike
            and len(people[0]) > 1
            and not (len(people) == 1 and _names_people(next(iter(groups))))
        ):
            for before, group in groups.items():
                yield _Group(before, f"{before}_{ANNOTATOR}", group)
            return


def _names_people(word: str) -> bool:
    return plain_name(word) in {"annotator", "rater", "coder", "worker", "judge", "labeler",
                                "labeller", "participant", "assessor", "user", "a", "r"}  # fmt: skip


def _check_one_scale(plain: Plain, group: _Group) -> None:
    """Refuse columns that cannot be of one dimension: labels that no other column has.

    Numbers that were measured may well be different ones in every cell.
    """
    written = {column: answers_in(plain.cells(column)) for column in group.columns.values()}
    said = {column: {folded(text) for text in answers} for column, answers in written.items()}
    numbers = [column for column, answers in written.items() if are_numbers(answers)]
    for column, answers in said.items():
        others = set().union(*(some for name, some in said.items() if name != column))
        if not answers & others and not (column in numbers and len(numbers) > 1):
            plain.refuse(
                f"found no column that names annotators, and no answer of the column {column!r} "
                "is one of another column: the columns cannot each be an annotator's"
            )


def _check_numbers(plain: Plain, found: Iterable[Measured], numbers: Numbers | None) -> None:
    if numbers in ("ordinal", "interval") and all(
        one.dimension.measurement in ("nominal", "multi") for one in found
    ):
        plain.refuse(
            f"found no numbers among the answers, which --measurement {numbers} is about: labels "
            "from low to high need a map (--map) that names them in order",
            forms=False,
        )


def _columns(group: _Group) -> dict[str, Any]:
    return {"columns": group.pattern, "annotators": tuple(group.columns)}


def _how(one: Measured) -> dict[str, Any]:
    several = one.dimension.measurement == "multi"
    split = {"several": True, "separators": SEPARATOR.strip()} if several else {}
    return {"values": one.spellings, "blank": BLANKS, **split}


def _ids(names: Sequence[str] | Mapping[str, Any]) -> dict[str, str]:
    """Return identifiers of dimensions by their names; two names never have the same one."""
    ids: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        plain = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")[:48]
        if not re.match(r"[a-z]", plain):
            plain = f"dimension_{plain}".rstrip("_") if plain else f"dimension_{number}"
        ids[name] = plain if plain not in ids.values() else f"{plain}_{number}"
    return ids
