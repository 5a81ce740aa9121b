"""The answers of a speaker of a flow: words, and the labels that concern its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prompts.answer_fields import (
    SENTENCE_BOUND,
    AnswerField,
    Findings,
    LabelField,
    TextField,
    UtteranceField,
)
from prompts.responses import PLAN, ResponseFormat, response_format
from prompts.scheme_text import either
from prompts.speaker_scheme import NOT_APPLICABLE
from prompts.tolerant_json import Answer
from scenarios.dialogue import Draft, TacticLabel
from scenarios.schemes.dimension import Label
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.spoken import spoken_dimensions
from scenarios.terms import LabelValue, RoleKey

PLAN_ABOUT: Final = "a few words: the labels, and what you mean to achieve with the line"
Labels = Mapping[str, LabelValue | None]


def speaker_format(
    scheme: Scheme, role: RoleKey, *, plan: bool, words: int = 0
) -> ResponseFormat[Draft]:
    """Return the format of a labelled speaker's answer: plan, utterance, goal, labels with reasons.

    A label that its conditions rule out beside the others is refused, as an unknown one is; one
    that is not asked for is left out.

    Args:
        scheme: the labels.
        role: who speaks.
        plan: whether a plan comes first.
        words: so many are wanted at most; 0: one or two sentences.

    Raises:
        UsageError: a dimension of the scheme is called like another field of the answer.
    """
    utterance = UtteranceField(words=words)
    goal = LabelField(scheme.goal) if scheme.assigned else None
    asked = [_SpokenLabel.of(d, role) for d in spoken_dimensions(scheme, role)]

    def build(answer: Answer, findings: Findings) -> Draft:
        text = utterance.read(answer, findings)
        declared: LabelValue = goal.read(answer, findings)[0] if goal else ""
        known: dict[str, LabelValue | None] = {scheme.assigned: declared} if goal else {}
        tactic = []
        for one in asked:
            label = one.read(answer, findings, known)
            known[one.dimension.id] = label.value if label else None
            tactic += [label] if label else []
        return Draft(text, declared, tuple(tactic))

    fields: list[AnswerField] = [TextField(PLAN, PLAN_ABOUT, SENTENCE_BOUND)] if plan else []
    fields += [utterance, *([goal] if goal else [])]
    fields += [part for one in asked for part in (one.rationale, one.field)]
    return response_format("speaker", fields, build)


@dataclass(frozen=True, slots=True)
class _SpokenLabel:
    """One dimension that a role declares: the fields of the answer, and how they are read."""

    dimension: Dimension
    role: RoleKey
    rationale: TextField
    field: LabelField

    @classmethod
    def of(cls, dimension: Dimension, role: RoleKey) -> _SpokenLabel:
        about = f"one sentence: why the utterance has this {dimension.id}"
        rationale = TextField(f"{dimension.id}_rationale", about, SENTENCE_BOUND)
        labels = dimension.labels
        if dimension.when and labels:
            nothing = Label(id=NOT_APPLICABLE, definition="The condition does not hold.")
            labels = (*labels, nothing)
        field = LabelField(dimension.model_copy(update={"labels": labels}))
        return cls(dimension, role, rationale, field)

    def read(self, answer: Answer, findings: Findings, known: Labels) -> TacticLabel | None:
        """Return the label; None where it is not asked for beside the others, or is not readable."""
        value, raw = self.field.read(answer, findings)
        if value == "":
            return None
        if not all(known.get(name) in values for name, values in self.dimension.when.items()):
            return None
        fitting = [label.id for label in self.dimension.choices(self.role, known)]
        chosen = value if isinstance(value, tuple) else (value,)
        if self.dimension.labels and not set(chosen) <= set(fitting):
            findings.unknown(
                self.dimension.id, raw or value, f"beside the others {_listed(fitting)}"
            )
            return None
        return TacticLabel(self.dimension.id, value, self.rationale.read(answer), raw)


def _listed(labels: Sequence[str]) -> str:
    return either(tuple(labels)) if labels else "no label"
