"""Read what Label Studio exports: its JSON, whole or in part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from quality.review.export_label_studio import MAIL
from quality.review.outgoing import (
    ISSUE,
    ISSUE_REASON,
    NOTE,
    SCENARIO_PROBLEM,
    Incoming,
    dimensions_of,
    split_name,
)
from scenarios.errors import InputError, Problem
from scenarios.schemes.model import Scheme

_OPINION = (ISSUE, ISSUE_REASON, SCENARIO_PROBLEM, NOTE)


def read_label_studio(text: str | bytes, scheme: Scheme, file: str) -> list[Incoming]:
    """Return everybody's answers, the tasks of one dialogue put together again.

    Cancelled annotations and tasks without any are left out.

    Raises:
        InputError: it is no export of Label Studio, or not of a project made from this scheme;
            every problem is named with the number of its task.
    """
    try:
        rows = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError([Problem(file, None, "", f"no JSON ({error})", "a JSON export")]) from None
    if not isinstance(rows, list):
        raise InputError([Problem(file, None, "", "no list", "a list of tasks")])
    sheets: dict[tuple[str, str], Incoming] = {}
    problems: list[Problem] = []
    for number, task in enumerate(rows, 1):
        try:
            _take_task(task, number, scheme, sheets)
        except _Odd as odd:
            problems.append(
                Problem(file, None, f"task {number}{odd.field}", odd.found, odd.expected)
            )
    if problems:
        raise InputError(problems)
    return list(sheets.values())


class _Odd(Exception):
    """Something in a task that is not as it should be."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(field)
        self.field = field
        self.found = found
        self.expected = expected


def _take_task(
    task: object, number: int, scheme: Scheme, sheets: dict[tuple[str, str], Incoming]
) -> None:
    data = _mapping(_mapping(task, "", "a task").get("data"), ".data", "the data of a task")
    name = data.get("item")
    place = split_name(name) if isinstance(name, str) else None
    if place is None:
        raise _Odd(".data.item", repr(name)[:60], "case/arm#turn")
    item, turn = place
    annotations = _mapping(task, "", "a task").get("annotations") or []
    if not isinstance(annotations, list):
        raise _Odd(".annotations", "no list", "a list of annotations")
    for position, entry in enumerate(annotations):
        where = f".annotations[{position}]"
        annotation = _mapping(entry, where, "an annotation")
        if annotation.get("was_cancelled"):
            continue
        annotator = _annotator(annotation.get("completed_by"), where)
        sheet = sheets.setdefault((item, annotator), Incoming(item, annotator, number))
        result = annotation.get("result")
        if not isinstance(result, list):
            raise _Odd(f"{where}.result", "no list", "a list of regions")
        for region in result:
            _take_region(_mapping(region, where, "a region"), where, turn, scheme, sheet)
        sheet.places |= dict.fromkeys(sheet.labels.keys() - sheet.places.keys(), number)
        lead = annotation.get("lead_time")
        sheet.lead_s += max(0.0, float(lead)) if isinstance(lead, int | float) else 0.0


def _take_region(
    region: Mapping[str, Any], where: str, turn: int | None, scheme: Scheme, sheet: Incoming
) -> None:
    name, value = region.get("from_name"), region.get("value")
    values = _mapping(value, f"{where}.{name}", "a value")
    if name in _OPINION:
        said = values.get("choices") or values.get("text") or []
        texts = said if isinstance(said, list) else [said]
        if not all(isinstance(text, str) for text in texts):
            raise _Odd(f"{where}.{name}", repr(said)[:60], "a text or texts")
        sheet.opinion[name] = "\n".join(texts)
        return
    dimension = next((d for d in dimensions_of(scheme) if d.id == name), None)
    if dimension is None:
        raise _Odd(f"{where}.{name}", "an unknown question", f"a dimension of {scheme.id}")
    answer: object
    if "number" in values:
        answer = values["number"]
    else:
        chosen = values.get("choices")
        if not isinstance(chosen, list) or not all(isinstance(c, str) for c in chosen):
            raise _Odd(f"{where}.{name}", repr(values)[:60], "choices or a number")
        if dimension.measurement != "multi" and len(chosen) != 1:
            raise _Odd(f"{where}.{name}", f"{len(chosen)} choices", "one choice")
        answer = chosen if dimension.measurement == "multi" else chosen[0]
    key = (turn if dimension.level != "dialogue" else None, dimension.id)
    if sheet.labels.setdefault(key, answer) != answer:
        raise _Odd(f"{where}.{name}", "a second answer", "one answer per person and question")


def _annotator(completed_by: object, where: str) -> str:
    """Return who answered: a code of ours, or a name that gives nobody's address away."""
    if isinstance(completed_by, Mapping):
        mail = completed_by.get("email")
        if isinstance(mail, str) and mail.endswith(MAIL):
            return mail.removesuffix(MAIL).upper()
        completed_by = completed_by.get("id", mail)
    if isinstance(completed_by, int | str) and str(completed_by):
        return f"Label Studio {str(completed_by).partition('@')[0]}"
    raise _Odd(f"{where}.completed_by", repr(completed_by)[:60], "who answered")


def _mapping(value: object, field: str, expected: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _Odd(field, type(value).__name__, expected)
    return value
