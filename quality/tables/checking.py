"""Check what was read from tables against a scheme; every finding keeps the cell it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from quality.agreement.annotations import Answer, RawAnswer
from quality.annotation_qc.findings import Finding
from quality.annotation_qc.schema import check_schema
from quality.tables.derived_map import derived_map
from quality.tables.measured import Numbers
from quality.tables.oddities import Oddity, Place, shown
from quality.tables.reading import read_table
from quality.tables.table import AnswerTable, TableAnswer
from quality.tables.table_map import TableMap, load_map
from scenarios.annotations import ADJUDICATED, HUMAN, IMPORT, Annotation, Subject
from scenarios.errors import UsageError
from scenarios.located import Located
from scenarios.located_validation import validate_model
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.spelling import suggestion
from scenarios.terms import LabelValue

GOLD: Final = "gold"
"""Stands for the labels that the authors settled on where annotators have names."""
_CELLS = frozenset({"unknown_value", "duplicate", "harmonised", "unknown_dimension"})


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """A table in the vocabulary of a scheme."""

    table: AnswerTable
    scheme: Scheme
    """With the dimensions that the map brings along."""
    answers: tuple[Answer, ...]
    gold: tuple[Answer, ...]
    findings: tuple[Finding, ...]
    """What the check of the answers found (level 1 of quality control)."""
    oddities: tuple[Oddity, ...]
    """What was odd in the files, and which cells the check found fault with."""
    labelled: tuple[tuple[TableAnswer, LabelValue], ...]
    """The answers, each with where it stood."""
    required: tuple[str, ...]
    """Dimensions that everybody who answered an item must have answered."""
    map: str = ""
    """The id of the map."""

    @property
    def raw(self) -> list[RawAnswer]:
        """The answers before they were checked."""
        return [answer.raw for answer in self.table.answers]

    @property
    def annotations(self) -> list[Annotation]:
        """Return the answers, then the gold labels, as annotations: the dialogue is the case."""
        config = f"{IMPORT}{self.map}"
        people = [_annotation(a, HUMAN, a.annotator, value, config) for a, value in self.labelled]
        settled = {(a.item, a.dimension): a.value for a in self.gold}
        return people + [
            _annotation(a, ADJUDICATED, GOLD, settled[a.item, a.dimension], config)
            for a in self.table.gold
            if (a.item, a.dimension) in settled
        ]


def scheme_of(how: TableMap) -> Scheme:
    """Return the scheme of a map with the dimensions that the map brings along.

    Raises:
        UsageError: there is no such scheme, or the map answers a dimension that neither has.
        InputError: the dimensions of the map do not go together.
    """
    if not how.scheme and not how.dimensions:
        raise UsageError(
            f"map {how.id!r}: names no scheme and has no dimensions",
            "say of which scheme the answers are, e.g. scheme: hipo, or add dimensions",
        )
    fields: dict[str, object] = {"id": how.id, "title": how.title or how.id}
    fields["dimensions"] = how.dimensions
    if how.scheme:
        scheme = load_scheme(how.scheme)
        known = {dimension.id for dimension in scheme.dimensions}
        added = tuple(d for d in how.dimensions if d.id not in known)
        fields = {**dict(scheme), "dimensions": (*scheme.dimensions, *added)}
    scheme = validate_model(Scheme, Located(fields, f"map {how.id!r}"))
    ids = [dimension.id for dimension in scheme.dimensions]
    for name in (*how.answers, *how.gold):
        if name not in ids:
            raise UsageError(
                f"map {how.id!r}: answers on {name!r}, which is no dimension of {scheme.id!r}",
                suggestion(name, ids, listing="dimensions")
                + "; or add it to the map under dimensions",
            )
    return scheme


def read_files(
    paths: Sequence[Path], map_name: str | None, numbers: Numbers | None = None
) -> CheckedTable:
    """Read files by a map and check what they hold.

    Args:
        paths: the files.
        map_name: a map that ships, or the path of one; None: made from the header of the files.
        numbers: as what answers that are numbers count, where there is no map.

    Raises:
        UsageError: the map, its scheme or a file cannot be read, or no file has a row.
    """
    how = derived_map(paths, numbers) if map_name is None else load_map(map_name)
    scheme = scheme_of(how)
    table = read_table(how, scheme, paths)
    # Of a plain table a header alone tells that a row may leave questions out: then all may.
    partial = map_name is None and any(
        "" in place.blank for name in how.answers for place in how.places(name)
    )
    return checked(table, scheme, map_id=how.id, required=() if partial else table.dimensions)


def checked(
    table: AnswerTable,
    scheme: Scheme,
    *,
    map_id: str = "",
    required: tuple[str, ...] | None = None,
) -> CheckedTable:
    """Check a table against a scheme (level 1 of quality control).

    Args:
        table: what the files hold.
        scheme: with the dimensions that the map brings along.
        map_id: the id of the map.
        required: dimensions that everybody who answered an item must have answered; None: all that
            the files have columns for.
    """
    wanted = table.dimensions if required is None else required
    result = check_schema(
        scheme, [answer.raw for answer in table.answers], required=wanted, roles=table.roles
    )
    settled = check_schema(scheme, [answer.raw for answer in _by_gold(table.gold)], required=())
    cells = _cells(table.answers)
    places = [*_noted(result.findings, cells), *_noted(settled.findings, _cells(table.gold, GOLD))]
    values = {(a.item, a.annotator, a.dimension): a.value for a in result.answers}
    labelled = []
    for answer in table.answers:
        value = values.pop((answer.item, answer.annotator, answer.dimension), None)
        if value is not None:
            labelled.append((answer, value))
    return CheckedTable(
        table=table,
        scheme=scheme,
        answers=result.answers,
        gold=settled.answers,
        findings=result.findings,
        oddities=(*table.oddities, *places),
        labelled=tuple(labelled),
        required=wanted,
        map=map_id,
    )


def _annotation(
    answer: TableAnswer, kind: str, who: str, value: LabelValue, config: str
) -> Annotation:
    dialogue, turn = answer.subject
    return Annotation(
        Subject(dialogue, "", turn), kind, who, answer.dimension, value, config=config
    )


_Cells = dict[tuple[str | None, str | None, str | None], list[Place]]


def _by_gold(answers: Iterable[TableAnswer]) -> list[TableAnswer]:
    return [TableAnswer(a.dialogue, a.turn, GOLD, a.dimension, a.value, a.place) for a in answers]


def _cells(answers: Iterable[TableAnswer], annotator: str | None = None) -> _Cells:
    cells: _Cells = {}
    for answer in answers:
        key = (answer.item, annotator or answer.annotator, answer.dimension)
        cells.setdefault(key, []).append(answer.place)
    return cells


def _noted(findings: Iterable[Finding], cells: _Cells) -> list[Oddity]:
    """Return the findings that are about a cell as oddities of that cell."""
    found = []
    for finding in findings:
        places = cells.get((finding.item, finding.annotator, finding.dimension))
        if finding.code not in _CELLS or not places:
            continue
        # The first answer of a cell that is repeated stays: each finding is about a later one.
        place = places.pop(1) if finding.code == "duplicate" and len(places) > 1 else places[0]
        done = finding.reason if finding.code == "harmonised" else f"not used: {finding.reason}"
        found.append(Oddity(place, finding.code, shown(finding.value), done))
    return found
