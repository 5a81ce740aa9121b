"""Answer formats built from a scheme: JSON schema, skeleton for the prompt, and tolerant reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from prompts.answer_fields import (
    SENTENCE_BOUND,
    AnswerField,
    Findings,
    FlagField,
    Kind,
    LabelField,
    TextField,
    UtteranceField,
    list_bounds,
    object_schema,
    skeleton,
    text_bounds,
)
from prompts.scheme_text import label_text
from prompts.tolerant_json import Answer, find_object, is_beyond_repair
from scenarios.dialogue import FIT, Critique, Draft, TacticLabel
from scenarios.errors import RunError, UsageError
from scenarios.schemes.model import Dimension, Scheme

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

PLAN: Final = "plan"
"""The key of a responder's answer under which it says what it is going to do."""
PLAN_ABOUT: Final = "a few words: the labels, and what of the fact is told, changed or left out"


class Unreadable(RunError):
    """An answer that cannot be used: not JSON, a label nobody knows, or something missing."""

    def __init__(self, kind: Kind, reasons: Sequence[str]) -> None:
        """Keep the reasons, one per field, each fit to be handed back to the model."""
        super().__init__("; ".join(reasons))
        self.kind = kind
        self.reasons = tuple(reasons)

    def __reduce__(self) -> tuple[type[Unreadable], tuple[Kind, tuple[str, ...]]]:
        return (type(self), (self.kind, self.reasons))


@dataclass(frozen=True, slots=True)
class ResponseFormat(Generic[T_co]):
    """How an answer has to look, and how it is read. Build it with :func:`response_format`."""

    name: str
    schema: Mapping[str, object]
    """JSON schema: an object without further properties, every property required."""
    skeleton: str
    """The object with placeholders for values, one key per line."""
    keys: tuple[str, ...]
    build: Callable[[Answer, Findings], T_co]
    """Turns the parsed object into the result and notes what is wrong with it."""
    bounds: Mapping[str, int] = field(default_factory=dict)
    """Characters each text may have, and values each list, by key. They are no part of the schema:
    endpoints that take ``maxLength`` and ``maxItems`` get them along with it, so that a model cannot
    go round in a string, or repeat one value, for ever. What
    an answer means is the same without them, and so are the keys under which answers are stored."""

    def read(self, text: str) -> T_co:
        """Return what the answer says.

        Raises:
            Unreadable: there is no JSON object in it, or a value is missing, unknown or impossible.
        """
        answer = find_object(text, self.keys)
        if answer is None:
            what = "nothing" if not text.strip() else "no JSON object with the keys asked for"
            if is_beyond_repair(text):
                what += " in a text with too many characters, brackets or quotes to be repaired"
            keys = ", ".join(f'"{key}"' for key in self.keys)
            raise Unreadable("unparseable", [f"answer: found {what}, expected one with {keys}"])
        findings = Findings()
        result = self.build(answer, findings)
        if findings.reasons:
            raise Unreadable(findings.kind, findings.reasons)
        return result


def response_format(
    name: str, fields: Sequence[AnswerField], build: Callable[[Answer, Findings], T]
) -> ResponseFormat[T]:
    """Describe an answer made of ``fields``.

    Raises:
        UsageError: two fields have the same key, because a dimension is called like one of ours.
    """
    keys = tuple(f.key for f in fields)
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise UsageError(
            f"the answer format {name!r} has the key {twice[0]!r} twice",
            "a dimension of the scheme is called like a field of the answer: rename the dimension",
        )
    return ResponseFormat(
        name,
        object_schema(fields),
        skeleton(fields),
        keys,
        build,
        text_bounds(fields) | list_bounds(fields),
    )


def utterance_format(words: int = 0) -> ResponseFormat[str]:
    """Return the format of an initiator's answer: the utterance alone.

    ``words`` are wanted at most; 0: it is one or two sentences.
    """
    utterance = UtteranceField(words=words)
    return response_format("utterance", [utterance], utterance.read)


def tactic_format(scheme: Scheme, *, plan: bool = True) -> ResponseFormat[Draft]:
    """Return the format of a responder's answer: plan, utterance, goal, each label with its reason.

    The plan names the labels before there are words for them: a model that cannot think in secret
    decides in what it writes first. It is not read. The rationale stands before its label, so that
    a model looks at its words once more before it declares.

    Args:
        scheme: the labels.
        plan: whether a plan comes first; the paper's answers begin with the utterance.

    Raises:
        UsageError: a dimension of the scheme is called like another field of the answer.

    Source: HIPO, appendix G (fields of the actor's output; the plan is ours).
    """
    utterance = UtteranceField()
    goal = LabelField(scheme.goal)
    pairs = [
        (
            TextField(
                f"{d.id}_rationale",
                f"one sentence: why the utterance has this {d.id}",
                SENTENCE_BOUND,
            ),
            LabelField(d),
        )
        for d in scheme.utterance_dimensions
    ]

    def build(answer: Answer, findings: Findings) -> Draft:
        text = utterance.read(answer, findings)
        declared, _ = goal.read(answer, findings)
        tactic = []
        for rationale, label in pairs:
            value, raw = label.read(answer, findings)
            why = rationale.read(answer)
            tactic.append(TacticLabel(label.dimension.id, value, why, raw))
        return Draft(text, declared, tuple(tactic))

    fields: list[AnswerField] = [TextField(PLAN, PLAN_ABOUT, SENTENCE_BOUND)] if plan else []
    fields += [utterance, goal]
    fields += [part for pair in pairs for part in pair]
    return response_format("tactic", fields, build)


def planned(tactic: Sequence[TacticLabel]) -> str:
    """Return a plan that names labels, as answers begin with one that are made and not asked for."""
    return ", ".join(f"{label.dimension} {label_text(label.value)}" for label in tactic)


def critique_format(
    scheme: Scheme, *, fit: bool = True, dimensions: Sequence[Dimension] | None = None
) -> ResponseFormat[tuple[Critique, ...]]:
    """Return the format of a reflection: a reason and a verdict per dimension, then on the fit.

    Whether the line can be said at all is a verdict of its own: a bad line may carry its labels.

    Args:
        scheme: the labels.
        fit: whether the fit is asked for; hipo 0.1 did not.
        dimensions: those that were declared; None: every utterance dimension.

    Raises:
        UsageError: the names of two dimensions make the same key, or one is called ``fit``.
    """
    verdicts = [
        (
            d.id,
            TextField(f"{d.id}_reason", f"one sentence: which {d.id} the words have, and why"),
            FlagField(f"{d.id}_carried", f"whether the words carry the declared {d.id}"),
        )
        for d in (scheme.utterance_dimensions if dimensions is None else dimensions)
    ]
    if fit:
        reason = TextField(f"{FIT}_reason", "one sentence: whether the line can be said, and why")
        verdicts.append((FIT, reason, FlagField(FIT, "whether the line can be said as it is")))

    def build(answer: Answer, findings: Findings) -> tuple[Critique, ...]:
        return tuple(
            Critique(about, verdict.read(answer, findings), reason.read(answer))
            for about, reason, verdict in verdicts
        )

    fields: list[AnswerField] = [f for _, reason, verdict in verdicts for f in (reason, verdict)]
    return response_format("critique", fields, build)
