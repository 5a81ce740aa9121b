"""What a reply says about an item, and the row of results that it becomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pipeline.calls.records import REFUSAL
from pipeline.store.answers import AnswerStatus, EvaluationSeat, StoredAnswer
from prompts.refusals import declined_in
from prompts.scheme_text import label_text
from prompts.tasks.answers import Fault as FoundFault
from prompts.tasks.part import TaskQuestion
from quality.evaluation.item import EvaluationItem
from quality.evaluation.result_row import Fault, Mark, ResultRow, is_right

SEPARATOR: Final = "\n\n"
"""Between the replies to several questions about one item."""
_CUT_OFF: Final = "length"
TRUNCATED: Final = "truncated"
"""Code of answers that had as many tokens as they may before they came to an end."""
LIMIT: Final = "max_tokens"
"""Where a stored answer says under which limit it was given, if that was lower than the present one."""


@dataclass(frozen=True, slots=True)
class Replied:
    """One reply as it came."""

    text: str
    finish: str = "stop"
    """``stop``, ``length`` (cut off) or ``refusal``."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """What the replies about one item say."""

    status: AnswerStatus
    """Of the whole: ``answered`` where any label could be read."""
    reply: str
    code: str = ""
    """Why there is no label at all, in a word; ``truncated`` also where some are there."""
    reason: str = ""
    labels: Mapping[str, str | None] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, Fault] = field(default_factory=dict)
    harmonised: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Return what is stored of it, as plain data."""
        whole = asdict(self)
        return {key: whole[key] for key in whole if key not in ("status", "code", "reason")}


def read_replies(questions: Sequence[TaskQuestion], replies: Sequence[Replied]) -> ReadReply:
    """Read the replies to the questions about one item, label by label.

    What cannot be read is no label, and why is kept; nothing is asked for again.

    Args:
        questions: one, or one per dimension.
        replies: one for each question.
    """
    labels: dict[str, str | None] = {}
    raw: dict[str, str] = {}
    faults: dict[str, Fault] = {}
    harmonised: list[str] = []
    for question, reply in zip(questions, replies, strict=True):
        refused = _is_refused(question, reply)
        for found in question.found(reply.text):
            name = found.dimension
            if found.value is None or reply.finish == REFUSAL:
                labels[name] = None
                faults[name] = "refused" if refused else _fault(found.fault, reply)
            else:
                labels[name] = label_text(found.value)
            if found.harmonised:
                harmonised.append(name)
            if found.raw and found.raw != labels[name]:
                raw[name] = found.raw
    status, code, reason = _status(labels, faults, replies)
    return ReadReply(
        status=status,
        reply=SEPARATOR.join(reply.text for reply in replies),
        code=code,
        reason=reason,
        labels=labels,
        raw=raw,
        faults=faults,
        harmonised=tuple(harmonised),
        options=options_of(questions),
    )


def options_of(questions: Iterable[TaskQuestion]) -> dict[str, tuple[str, ...]]:
    """Return the labels that were on offer by dimension, in the order in which they stood."""
    return {
        name: question.options.get(name, ())
        for question in questions
        for name in question.dimensions
    }


def result_of(
    item: EvaluationItem,
    seat: EvaluationSeat,
    answer: StoredAnswer,
    *,
    set_fingerprint: str,
    scheme: str,
    marks: tuple[Mark, ...] = (),
) -> ResultRow:
    """Return the row of results that an answer is.

    Args:
        item: what was asked about.
        seat: who was asked, and how.
        answer: how that ended, see :meth:`ReadReply.content`.
        set_fingerprint: of the items.
        scheme: id and version.
        marks: how the model had a hand in the references.
    """
    content: Mapping[str, Any] = answer.content or {}
    labels: dict[str, str | None] = dict(content.get("labels", {}))
    options = {name: tuple(shown) for name, shown in content.get("options", {}).items()}
    failed = answer.status == "failed"
    if failed:
        labels = dict.fromkeys(options)
    faults: dict[str, Fault] = dict(content.get("faults", {}))
    return ResultRow(
        item=item.id,
        task=seat.task,
        mode=seat.mode,
        draw=seat.draw,
        repeat=seat.repeat,
        model=seat.model,
        set=set_fingerprint,
        scheme=scheme,
        case=item.case,
        arm=item.arm,
        scenario=item.scenario,
        category=item.category,
        tags=item.tags,
        turn=item.turn,
        goal=item.goal,
        strategy=item.strategy,
        generator=item.generator,
        split=item.split,
        marks=marks,
        max_tokens=content.get(LIMIT),
        reply=None if failed else content.get("reply"),
        status=answer.status,
        reason=answer.reason,
        labels=labels,
        raw=content.get("raw", {}),
        faults=dict.fromkeys(labels, "failed") if failed else faults,
        harmonised=tuple(content.get("harmonised", ())),
        options=options,
        references=item.references,
        right={} if failed else _right(labels, item.references),
    )


def marks_of(
    model: str, generator: str, judges: Iterable[str], *, offline_readers: Iterable[str] = ()
) -> tuple[Mark, ...]:
    """Return how a model had a hand in the references that it is held against.

    A model is the same whichever provider it is reached through.

    Args:
        model: ``provider/name``.
        generator: of the item.
        judges: those whose labels decided what is agreed.
        offline_readers: models that are programs of the same making as the offline generator.
    """
    marks: list[Mark] = []
    if any(_same(model, judge) for judge in judges):
        marks.append("its own judge")
    if generator and _same(model, generator):
        marks.append("its own generator")
    if generator.startswith("offline/") and model in offline_readers:
        marks.append("same grammar")
    return tuple(marks)


def _same(one: str, other: str) -> bool:
    return one.partition("/")[2].casefold() == other.partition("/")[2].casefold()


def _right(
    labels: Mapping[str, str | None], references: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, bool]]:
    """Return by reference and dimension whether a label that was asked for is right."""
    found = {
        name: {
            dimension: is_right(labels[dimension], right)
            for dimension, right in reference.items()
            if dimension in labels
        }
        for name, reference in references.items()
    }
    return {name: verdicts for name, verdicts in found.items() if verdicts}


def _is_refused(question: TaskQuestion, reply: Replied) -> bool:
    if reply.finish == REFUSAL:
        return True
    if any(found.fault != "unreadable" for found in question.found(reply.text)):
        return False
    return declined_in(reply.text) is not None


def _fault(found: FoundFault, reply: Replied) -> Fault:
    """Return why a label is missing: what a cut-off answer lacks, it may have been about to say."""
    if reply.finish == _CUT_OFF and found in ("", "unreadable"):
        return "cut off"
    return found or "unreadable"


def _status(
    labels: Mapping[str, str | None], faults: Mapping[str, Fault], replies: Sequence[Replied]
) -> tuple[AnswerStatus, str, str]:
    """Return status, code and reason of everything together."""
    found = set(faults.values())
    if any(label is not None for label in labels.values()):
        cut = "cut off" in found
        reason = "the answer was cut off before the last label" if cut else ""
        return "answered", TRUNCATED if cut else "", reason
    if found == {"refused"}:
        return "refused", REFUSAL, "the model declined to answer"
    if any(reply.finish == _CUT_OFF for reply in replies):
        return "unreadable", TRUNCATED, "the answer was cut off before a label"
    if not any(reply.text.strip() for reply in replies):
        return "unreadable", "empty", "the answer was empty"
    if found == {"unknown label"}:
        return "unreadable", "unknown_label", "no label of the answer is one of the scheme's"
    return "unreadable", "unparseable", "no label could be found in the answer"
