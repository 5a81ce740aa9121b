"""The form of an answer that gives labels, and how it is read: strictly, or label by label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, Literal

import orjson

from prompts.answer_fields import AnswerField, Findings, LabelField, TextField
from prompts.responses import ResponseFormat, response_format
from prompts.tolerant_json import Answer, find_object
from scenarios.dialogue import TacticLabel
from scenarios.quick_records import quickly_made
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue

Fault = Literal["", "unreadable", "unknown label", "not asked"]
NOT_ASKED: Final = "not asked"
"""Of a dimension that is asked only beside certain other labels, where an answer gives others."""


@quickly_made
@dataclass(frozen=True, slots=True)
class BlindLabel:
    """What a reader finds on one dimension, without having seen any label."""

    dimension: str
    value: LabelValue
    second: LabelValue | None
    """The label that comes next; None where it is not asked for, where only two are on offer, or
    numbers or several labels."""
    reason: str
    raw: str | None = None
    """What the model wrote, where an alias had to be resolved to ``value``."""


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """What a reply says on one dimension, whatever it says on the others."""

    dimension: str
    value: LabelValue | None
    """None where there is a fault."""
    fault: Fault = ""
    raw: str = ""
    """What the model wrote in place of the label; empty where there is nothing."""
    harmonised: bool = False
    """Whether an alias of the scheme was needed to read it."""
    reason: str = ""


@dataclass(frozen=True)
class LabelForm:
    """The fields of an answer, in order."""

    dimensions: tuple[Dimension, ...]
    reasoned: frozenset[str] = frozenset()
    """The ids of the dimensions a reason is asked for, before the label."""
    runner_up: bool = False
    """Whether the label that comes next is asked for, after the label."""
    thoughts: TextField | None = None
    """What comes before everything else."""
    letters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By dimension whose options have letters: the label that each letter stands for."""

    @cached_property
    def fields(self) -> tuple[AnswerField, ...]:
        """The fields, in order."""
        own = [f for parts in self._parts for f in parts if f is not None]
        return (*(() if self.thoughts is None else (self.thoughts,)), *own)

    def format(self, name: str) -> ResponseFormat[tuple[BlindLabel, ...]]:
        """Return the format, which refuses an answer that lacks a label.

        Raises:
            UsageError: the names of two dimensions make the same key, or one of ours.
        """
        return response_format(name, self.fields, self.build)

    def build(self, answer: Answer, findings: Findings) -> tuple[BlindLabel, ...]:
        """Return the labels of an answer, and note what is wrong with it.

        What is asked only beside certain other labels has none where the answer gives others.
        """
        found: dict[str, BlindLabel] = {}
        for fields in self._parts:
            others = {name: label.value for name, label in found.items()}
            if self._is_asked(fields, answer, others):
                label = self._blind_label(fields, answer, findings)
                found[label.dimension] = label
                if fields[1].conditional:
                    _check_fit(fields[1], label.value, others, findings)
        return tuple(found.values())

    def skeleton(self, options: Mapping[str, tuple[str, ...]]) -> str:
        """Return the object as a model is shown it, with the labels of each dimension as given."""
        line = self._line
        lines = ",\n".join(
            [
                line(place, options[dimension] if dimension else ())
                for place, dimension in enumerate(self._listed)
            ]
        )
        return f"{{\n{lines}\n}}"

    def found(self, reply: str) -> tuple[FoundLabel, ...]:
        """Return what a reply says on each dimension; what cannot be read is a fault of that one."""
        answer = find_object(reply, [f.key for f in self.fields])
        if answer is None:
            return tuple(FoundLabel(d.id, None, "unreadable") for d in self.dimensions)
        found: dict[str, FoundLabel] = {}
        for fields in self._parts:
            others = {name: label.value for name, label in found.items()}
            if self._is_asked(fields, answer, others):
                label = self._found_label(fields, answer)
            else:
                label = FoundLabel(fields[1].dimension.id, None, NOT_ASKED)
            found[label.dimension] = label
        return tuple(found.values())

    def _is_asked(
        self, parts: _Parts, answer: Answer, others: Mapping[str, LabelValue | None]
    ) -> bool:
        """Whether an answer has to have a label: not where other labels of it rule that out."""
        dimension = parts[1].dimension
        if dimension.id in self.letters or not dimension.when:
            return True
        if set(dimension.when) <= set(self._ids):
            return dimension.is_asked(others)
        return not parts[1].is_null(answer)  # the others are asked elsewhere: it knows by itself

    @cached_property
    def _ids(self) -> tuple[str, ...]:
        return tuple(dimension.id for dimension in self.dimensions)

    @cached_property
    def _parts(self) -> tuple[_Parts, ...]:
        return tuple(self._of(dimension) for dimension in self.dimensions)

    @cached_property
    def _listed(self) -> tuple[str | None, ...]:
        """The dimension of each field that is a label."""
        return tuple(f.dimension.id if isinstance(f, LabelField) else None for f in self.fields)

    @cached_property
    def _line(self) -> Callable[[int, Sequence[str]], str]:
        """Writes the line of a field in the skeleton, from few orders of its options."""

        @lru_cache(maxsize=4096)
        def line(place: int, options: Sequence[str]) -> str:
            asked = self.fields[place]
            shown = asked.listing(options) if isinstance(asked, LabelField) else asked.placeholder
            return f'  "{asked.key}": {shown}'

        return line

    def _of(self, dimension: Dimension) -> _Parts:
        key = dimension.id
        reason = None
        if key in self.reasoned:
            reason = TextField(reason_key(key), f"one or two sentences: why this {key}")
        has_rivals = dimension.measurement in ("nominal", "ordinal") and len(dimension.labels) > 2
        second = None
        if self.runner_up and has_rivals:
            second = LabelField(dimension, f"{key}_second", optional=bool(dimension.when))
        return reason, LabelField(dimension, optional=bool(dimension.when)), second

    def _blind_label(self, parts: _Parts, answer: Answer, findings: Findings) -> BlindLabel:
        reason, best, rival = parts
        value, raw = best.read(answer, findings)
        second = None
        if rival is not None:
            # A label is worth more than the one it was weighed against: that one may be missing.
            named, _ = rival.read(answer, Findings())
            second = self._meant(best, named) if named not in ("", value) else None
        why = "" if reason is None else reason.read(answer)
        return BlindLabel(best.dimension.id, self._meant(best, value), second, why, raw)

    def _found_label(self, parts: _Parts, answer: Answer) -> FoundLabel:
        reason, best, _ = parts
        findings = Findings()
        value, raw = best.read(answer, findings)
        dimension, why = best.dimension.id, "" if reason is None else reason.read(answer)
        written = best.written(answer)
        if findings.reasons:
            fault: Fault = "unknown label" if findings.kind == "unknown_label" else "unreadable"
            return FoundLabel(dimension, None, fault, written, False, why)
        return FoundLabel(dimension, self._meant(best, value), "", written, raw is not None, why)

    def _meant(self, asked: LabelField, value: LabelValue) -> LabelValue:
        letters = self.letters.get(asked.dimension.id)
        return value if letters is None or value == "" else letters[str(value)]


_Parts = tuple[TextField | None, LabelField, LabelField | None]


def _check_fit(
    asked: LabelField,
    value: LabelValue,
    others: Mapping[str, LabelValue],
    findings: Findings,
) -> None:
    """Note a label that cannot be chosen beside the other labels of an answer."""
    label = next((label for label in asked.dimension.labels if label.id == value), None)
    if label is None or label.goes_with(others):
        return
    fitting = [x.id for x in asked.dimension.labels if x.goes_with(others)]
    findings.unknown(asked.key, value, f"one of: {' | '.join(fitting)}")


def reason_key(dimension: str) -> str:
    """Return the key under which the reason for a label stands."""
    return f"{dimension}_reason"


def labels_answer(
    labels: Sequence[TacticLabel], *, reasoned: bool = False, asked: Sequence[str] = ()
) -> str:
    """Return the answer that gives these labels.

    Args:
        labels: in the order of the format.
        reasoned: whether the rationale of a label, if it has one, stands before it.
        asked: dimensions that are asked, in the order of the format; those without label are null.
    """
    there = {label.dimension: label for label in labels}
    in_order = there.keys() if there.keys() >= {*asked} else dict.fromkeys((*asked, *there))
    answer: dict[str, object] = {}
    for name in in_order:
        label = there.get(name)
        if reasoned and label is not None and label.rationale:
            answer[reason_key(name)] = label.rationale
        answer[name] = None if label is None else label.value
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()


def one_line_answer(labels: Mapping[str, LabelValue]) -> str:
    """Return the answer that gives these labels, on one line."""
    return orjson.dumps(dict(labels)).decode()
