"""Validate data from a file against a model; report problems with file and line."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from scenarios.errors import InputError, Problem
from scenarios.located import Located, Step, shortened
from scenarios.spelling import nearest, suggestion
from scenarios.strict import BrokenRules

M = TypeVar("M", bound=BaseModel)

_EXPECTED = {
    "missing": "a value for this field",
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a mapping of names to values",
    "path_type": "a path",
    "model_type": "a mapping of fields",
    "model_attributes_type": "a mapping of fields",
    "none_required": "nothing",
}
_PATTERNS = {
    r"^[a-z][a-z0-9_]*$": "lower-case letters, digits and _, beginning with a letter",
    r"^\d{4}(-\d{2}(-\d{2})?)?$": "a date as YYYY, YYYY-MM or YYYY-MM-DD",
}
_RULES = frozenset({"value_error", "assertion_error"})


def validate_model(model: type[M], located: Located, **extra: object) -> M:
    """Build ``model`` from the data of a file.

    Args:
        model: the model the data must fit.
        located: the data, with its lines.
        extra: fields put beside those of the file; they win over the file's.

    Raises:
        InputError: the data does not fit; every problem has its line, field, and what was expected.
    """
    data = located.data
    if extra and isinstance(data, Mapping):
        data = {**data, **extra}
    try:
        return model.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False)
    findings = [_Finding.of(detail, data) for detail in details]
    problems = [
        problem
        for finding in _readable(findings)
        for problem in _broken_rules(finding, located) or [_problem(finding, model, located)]
    ]
    raise InputError(problems) from None


@dataclass(frozen=True, slots=True)
class _Finding:
    """One error of pydantic's, with the tags of union members taken out of its location."""

    path: tuple[Step, ...]
    union: tuple[Step, ...] | None
    """Where the outermost union stands that this error lies in, if any."""
    member: str
    details: tuple[ErrorDetails, ...]
    absent: bool = False
    """Whether the field is not in the file."""

    @classmethod
    def of(cls, detail: ErrorDetails, data: object) -> _Finding:
        path: list[Step] = []
        union: tuple[Step, ...] | None = None
        member, absent = "", False
        here = data
        steps = detail["loc"]
        for at, step in enumerate(steps):
            if step == "[key]" and at == len(steps) - 1:
                continue
            if isinstance(here, Mapping) and isinstance(step, str) and step in here:
                here = here[step]
            elif isinstance(here, Sequence) and not isinstance(here, str) and isinstance(step, int):
                here = here[step] if step < len(here) else None
            elif at == len(steps) - 1 and _is_left_out(detail, here):
                here, absent = None, True
            else:
                if union is None:
                    union, member = tuple(path), str(step)
                continue
            path.append(step)
        return cls(tuple(path), union, member, (detail,), absent)


def _is_left_out(detail: ErrorDetails, here: object) -> bool:
    """Whether a field is missing, or breaks a rule by what it is where it is left out."""
    by_default = detail["type"] in _RULES and isinstance(here, Mapping)
    return detail["type"] == "missing" or (by_default and detail["input"] is not here)


def _readable(findings: Sequence[_Finding]) -> Iterator[_Finding]:
    """Leave one member of every union, and drop what only follows from deeper errors."""
    kept: list[_Finding] = []
    seen: set[tuple[Step, ...]] = set()
    for finding in findings:
        if finding.union is None:
            kept.append(finding)
        elif finding.union not in seen:
            seen.add(finding.union)
            kept += _best_member([f for f in findings if f.union == finding.union], finding.union)
    paths = [finding.path for finding in kept]
    for finding in kept:
        within = (p for p in paths if len(p) > len(finding.path))
        deeper = any(p[: len(finding.path)] == finding.path for p in within)
        if not (deeper and finding.details[0]["type"] in ("too_short", "too_long")):
            yield finding


def _best_member(findings: Sequence[_Finding], union: tuple[Step, ...]) -> list[_Finding]:
    """Keep the errors of the union member that fits the data best: the one that fails deepest."""
    members: dict[str, list[_Finding]] = {}
    for finding in findings:
        members.setdefault(finding.member, []).append(finding)
    into = {
        name: [f for f in errors if len(f.path) > len(union)] for name, errors in members.items()
    }
    inside = {name: errors for name, errors in into.items() if errors}
    if inside:
        return min(inside.values(), key=len)
    details = tuple(detail for finding in findings for detail in finding.details)
    return [_Finding(union, None, "", details)]


def _problem(finding: _Finding, model: type[BaseModel], located: Located) -> Problem:
    detail = finding.details[0]
    kind = detail["type"]
    found = "nothing" if finding.absent else shortened(detail["input"])
    if kind == "extra_forbidden":
        name = str(finding.path[-1])
        known = _fields_at(model, finding.path[:-1])
        return located.problem(
            finding.path,
            found=f"the unknown field {shortened(name)}",
            expected="a field that this file can have",
            hint=suggestion(name, known),
            code="unknown-field",
        )
    if kind in _RULES:
        return located.problem(
            finding.path,
            found=found,
            expected="consistent values",
            hint=str(detail.get("ctx", {}).get("error", detail["msg"])),
            code="inconsistent",
        )
    wanted = " or ".join(dict.fromkeys(expected(d) for d in finding.details))
    return located.problem(
        finding.path,
        found=found,
        expected=wanted,
        hint=_hint(finding.details),
        code="missing-field" if kind == "missing" else "wrong-value",
    )


def _broken_rules(finding: _Finding, located: Located) -> list[Problem]:
    """Return the problems of a model that says itself which rules between its fields are broken."""
    error = finding.details[0].get("ctx", {}).get("error")
    if not isinstance(error, BrokenRules):
        return []
    return [
        located.problem(
            (*finding.path, *rule.path),
            found=shortened(_value_at(finding.details[0]["input"], rule.path)),
            expected=rule.expected,
            hint=rule.message,
            code="inconsistent",
        )
        for rule in error.rules
    ]


def _value_at(data: object, path: Iterable[Step]) -> object:
    """Return what stands at a path below ``data``; None where nothing does."""
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, (list, tuple)) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def expected(detail: ErrorDetails) -> str:
    """Return what an error of pydantic's says that there should be, in a few words."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"])
        return _PATTERNS.get(pattern, f"text like {pattern}")
    if kind == "string_too_short" and context["min_length"] == 1:
        return "text that is not empty"
    if kind in ("too_short", "too_long"):
        bound = context.get("min_length" if kind == "too_short" else "max_length")
        return f"a list of at {'least' if kind == 'too_short' else 'most'} {bound}"
    return _plain(detail["msg"])


def _plain(message: str) -> str:
    for opening in ("Input should be ", "String should have ", "Value should have "):
        message = message.removeprefix(opening)
    return message[:1].lower() + message[1:]


def _hint(details: Iterable[ErrorDetails]) -> str:
    for detail in details:
        value = detail["input"]
        if detail["type"] == "string_type" and isinstance(value, (bool, int, float)):
            return "put it in quotes"
        if detail["type"] == "string_type" and isinstance(value, Mapping):
            return 'a text that holds ": " needs quotes'
        if detail["type"] == "literal_error" and isinstance(value, str):
            expected = str(detail.get("ctx", {}).get("expected", ""))
            names = [part.strip("'") for part in expected.replace(" or ", ", ").split(", ")]
            guess = nearest(value, names)
            return f"did you mean {guess!r}?" if guess else ""
    return ""


def _fields_at(model: type[BaseModel], path: Sequence[Step]) -> list[str]:
    """Return the names of the fields that a mapping at ``path`` of the model may have."""
    types_here: list[Any] = [model]
    for step in path:
        following: list[Any] = []
        for kind in types_here:
            following += _inside(kind, step)
        types_here = following
    return sorted({name for kind in types_here for name in _field_names(kind)})


def _members(annotation: Any) -> Iterator[Any]:
    """Yield what an annotation stands for, with unions and ``Annotated`` taken apart."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    elif hasattr(annotation, "__metadata__"):
        yield from _members(get_args(annotation)[0])
    else:
        yield annotation


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _inside(kind: Any, step: Step) -> Iterator[Any]:
    if _is_model(kind):
        for name, info in kind.model_fields.items():
            if step in (name, info.alias):
                yield from _members(info.annotation)
        return
    arguments = [a for a in get_args(kind) if a is not Ellipsis]
    if not arguments:
        return
    if isinstance(step, str) or len(arguments) == 1:
        yield from _members(arguments[-1])
    elif isinstance(step, int):
        yield from _members(arguments[min(step, len(arguments) - 1)])


def _field_names(kind: Any) -> list[str]:
    if not _is_model(kind):
        return []
    return [info.alias or name for name, info in kind.model_fields.items()]
