"""Quality control level 1: check raw answers against a scheme and normalise them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from quality.agreement.annotations import Answer, RawAnswer, is_blank, read_value
from quality.annotation_qc.findings import Finding, FindingCode
from scenarios.schemes.dimension import ROLE
from scenarios.schemes.model import Dimension, Level, Scheme
from scenarios.spelling import suggestion
from scenarios.terms import LabelValue, RoleKey

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class CheckedAnnotations:
    """The answers that are answers, and what was found on the way (level 1)."""

    answers: tuple[Answer, ...]
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class _AskedItem:
    """What one annotator was asked about one item, as far as the rows show."""

    answered: set[str] = field(default_factory=set)
    levels: set[Level] = field(default_factory=set)


def check_schema(
    scheme: Scheme,
    raw: Iterable[RawAnswer],
    *,
    required: Collection[str] | None = None,
    roles: Mapping[str, RoleKey] | None = None,
) -> CheckedAnnotations:
    """Check raw answers: known dimensions, values of their scales, no gaps and no repeats.

    Values are harmonised through the scheme's aliases; each time is reported, so that nothing is
    changed or dropped in silence. Of repeated answers the first stays.

    Args:
        scheme: the dimensions, labels and aliases.
        raw: answers as they were written.
        required: dimensions that everybody who answered an item must have answered; by default
            what review forms ask people, of the levels (utterance, dialogue) that were answered.
        roles: item -> whose words it is, as far as that is known; a scheme can ask some roles alone.
    """
    dimensions = {dimension.id: dimension for dimension in scheme.dimensions}
    answers: dict[tuple[str, str, str], Answer] = {}
    findings: list[Finding] = []
    asked: dict[tuple[str, str], _AskedItem] = {}
    for row in raw:
        dimension = dimensions.get(row.dimension)
        if dimension is None:
            hint = suggestion(row.dimension, dimensions, listing="dimensions")
            reason = f"the scheme {scheme.id!r} has no such dimension; {hint}"
            findings.append(_finding("unknown_dimension", row, reason))
            continue
        sheet = asked.setdefault((row.item, row.annotator), _AskedItem())
        sheet.levels.add(dimension.level)
        if is_blank(row.value):
            continue
        key = (row.item, row.annotator, row.dimension)
        if row.dimension in sheet.answered:
            reason = "answered more than once; the first answer stays"
            findings.append(_finding("duplicate", row, reason))
            continue
        sheet.answered.add(row.dimension)
        read = read_value(dimension, row.value)
        if read is None:
            findings.append(_finding("unknown_value", row, _expected(dimension, row.value)))
            continue
        value, harmonised = read
        answers[key] = Answer(row.item, row.dimension, row.annotator, value, row.dialogue)
        if harmonised:
            findings.append(_finding("harmonised", row, f"taken to mean {_text(value)}"))
    findings += _missing(scheme, asked, answers, required, roles or {})
    return CheckedAnnotations(tuple(answers.values()), tuple(findings))


def _missing(
    scheme: Scheme,
    asked: dict[tuple[str, str], _AskedItem],
    answers: Mapping[tuple[str, str, str], Answer],
    required: Collection[str] | None,
    roles: Mapping[str, RoleKey],
) -> list[Finding]:
    """Return what somebody should have answered and did not.

    That is nothing of what is computed, of what is not asked of whoever spoke or beside the same
    person's other answers, nor, where it is not said what is required, of what is left to judges.
    Where it is not known who spoke, what only some roles' words carry is required if it is said to be.
    """
    of_turns, of_all = (
        frozenset(d.id for d in scheme.people_dimensions(level))
        for level in ("utterance", "dialogue")
    )

    def is_required(dimension: Dimension, sheet: _AskedItem, role: RoleKey | None) -> bool:
        if required is not None:
            return dimension.id in required
        of_people = of_all if dimension.level == "dialogue" else of_turns
        # Forms ask what is labelled of runs of turns beside what they ask of each of the turns.
        levels = {dimension.level, "utterance"} if dimension.level == "span" else {dimension.level}
        known = role is not None or not dimension.of
        return dimension.id in of_people and not sheet.levels.isdisjoint(levels) and known

    def is_asked(item: str, annotator: str, dimension: Dimension) -> bool:
        given = {d: answers.get((item, annotator, d)) for d in dimension.when}
        known: dict[str, LabelValue | None] = {
            d: None if one is None else one.value for d, one in given.items()
        }
        if (role := roles.get(item)) is not None and dimension.level != "dialogue":
            if not dimension.concerns(role):
                return False
            known[ROLE] = role
        return dimension.derived is None and dimension.is_asked(known)

    return [
        Finding(1, "missing", "not answered", annotator, item, dimension.id)
        for (item, annotator), sheet in asked.items()
        for dimension in scheme.dimensions
        if dimension.id not in sheet.answered
        and is_required(dimension, sheet, roles.get(item))
        and is_asked(item, annotator, dimension)
    ]


def _finding(code: FindingCode, row: RawAnswer, reason: str) -> Finding:
    return Finding(1, code, reason, row.annotator, row.item, row.dimension, _text(row.value))


def _text(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _expected(dimension: Dimension, raw: object) -> str:
    if dimension.range is not None:
        low, high = dimension.range
        points = f", one of {dimension.points} points" if dimension.points else ""
        names = f" ({', '.join(dimension.anchors)})" if dimension.anchors else ""
        return f"expected a number from {low:g} to {high:g}{points}{names}"
    hint = suggestion(_text(raw), dimension.values, listing="labels")
    return f"no label of {dimension.id!r}; {hint}"
