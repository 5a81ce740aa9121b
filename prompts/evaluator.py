"""The prompts of a model under evaluation: label an utterance or a conversation from outside.

An evaluator sees what both roles know, and never the private fact, what it concerns, or the goal:
its view has no field for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args

import orjson

from prompts.answer_fields import AnswerField, Findings, LabelField, TextField
from prompts.environment import MultilineText, Templates, as_data
from prompts.languages import described_language
from prompts.prompt import Prompt, make_prompt, transcript
from prompts.question import Question
from prompts.responses import ResponseFormat, response_format
from prompts.scheme_text import reader_text
from prompts.tolerant_json import Answer
from scenarios.dialogue import History, TacticLabel
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spec import Scenario

Aspect = Literal["utterance", "cumulative", "conversation"]
ASPECTS: Final[tuple[Aspect, ...]] = get_args(Aspect)
"""One utterance alone; one utterance after all that was said before; the whole conversation.

Source: HIPO, section 5 (benchmark).
"""
EVALUATOR_TEMPLATES: Final = (
    *(f"evaluator_{aspect}_{part}.j2" for aspect in ASPECTS for part in ("system", "user")),
    "answer_format.j2", "conversation.j2", "evaluator_rules.j2", "evaluator_scene.j2",
    "dimension.j2", "evaluator_task.j2", "judge_labels.j2", "terms.j2",
)  # fmt: skip
"""The templates that an evaluation depends on."""

LabelQuestion = Question[tuple[TacticLabel, ...]]

_SCENES = 1024
"""Rendered scenes that are kept: about as many as there are scenarios and languages."""


_MARK, _OTHER_MARK = "An utterance\uf8ff.", "something \uf8fe altogether different"


@dataclass(frozen=True, slots=True)
class EvaluatorView:
    """What an evaluator knows: the situation and the people, nothing private."""

    situation: str
    initiator: str
    initiator_description: str
    responder: str
    responder_description: str
    language: str
    """A BCP 47 code with its English name."""


def evaluator_view(scenario: Scenario, language: str) -> EvaluatorView:
    """Return what an evaluator of a dialogue of this scenario knows.

    Args:
        scenario: with its placeholders filled as in the dialogue.
        language: the code of the language it is in.
    """
    initiator, responder = scenario.roles["initiator"], scenario.roles["responder"]
    return EvaluatorView(
        situation=scenario.background,
        initiator=initiator.name,
        initiator_description=initiator.description,
        responder=responder.name,
        responder_description=responder.description,
        language=described_language(language),
    )


class EvaluatorPrompts:
    """The prompts of the three aspects for one scheme; every aspect has one fixed system message."""

    def __init__(self, templates: Templates, scheme: Scheme, *, reasoned: bool = False) -> None:
        """Render the system messages, and every prompt once so that mistakes show early.

        Args:
            templates: where the texts come from.
            scheme: the labels that are asked for.
            reasoned: whether a reason is asked for before each label.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self._templates = templates
        self.reasoned = reasoned
        dimensions = {aspect: asked_dimensions(scheme, aspect) for aspect in ASPECTS}
        self.formats: Mapping[Aspect, ResponseFormat[tuple[TacticLabel, ...]]] = {
            aspect: evaluation_format(asked, _reasoned(scheme, aspect) if reasoned else ())
            for aspect, asked in dimensions.items()
        }
        self._prompts: dict[Aspect, Prompt[tuple[TacticLabel, ...]]] = {
            aspect: make_prompt(
                f"evaluator_{aspect}",
                templates,
                self.formats[aspect],
                {**reader_text(scheme, asked), "reasoned": reasoned},
            )
            for aspect, asked in dimensions.items()
        }
        self._scene = lru_cache(maxsize=_SCENES)(self._render_scene)
        self._frame = lru_cache(maxsize=_SCENES)(self._find_frame)
        self.fingerprint: str = fingerprint(
            [
                templates.fingerprint_of(EVALUATOR_TEMPLATES),
                scheme.content,
                [[self._prompts[a].system, self.formats[a].schema] for a in ASPECTS],
            ]
        )
        self._render_all()

    def system(self, aspect: Aspect) -> str:
        """Return the system message of an aspect: the task, the labels, the form of the answer."""
        return self._prompts[aspect].system

    def utterance(self, view: EvaluatorView, utterance: str) -> LabelQuestion:
        """Ask for the labels of an utterance that stands alone."""
        frame = self._frame(view)
        if frame is None:
            return self._alone(view, utterance)
        before, after = frame
        return self._prompts["utterance"].question(f"{before}{as_data(utterance)}{after}")

    def cumulative(self, view: EvaluatorView, history: History, utterance: str) -> LabelQuestion:
        """Ask for the labels of an utterance after all that was said before it."""
        return self._render("cumulative", view, history, utterance)

    def conversation(self, view: EvaluatorView, history: History) -> LabelQuestion:
        """Ask for the goal behind a whole conversation."""
        return self._render("conversation", view, history)

    def _alone(self, view: EvaluatorView, utterance: str) -> LabelQuestion:
        return self._render("utterance", view, (), utterance)

    def _render(
        self, aspect: Aspect, view: EvaluatorView, history: History, utterance: str = ""
    ) -> LabelQuestion:
        return self._prompts[aspect].render(
            {"scene": self._scene(view), "history": transcript(history), "utterance": utterance}
        )

    def _find_frame(self, view: EvaluatorView) -> tuple[str, str] | None:
        """Return what stands before and after the utterance in the prompts of one view.

        Pasting takes a tenth of the time of rendering, which is most of the time that rows take.
        None where the user's own template does more to the utterance than to show it once.
        """
        before, mark, after = self._alone(view, _MARK).messages[1].content.partition(_MARK)
        pasted = f"{before}{_OTHER_MARK}{after}"
        same = self._alone(view, _OTHER_MARK).messages[1].content == pasted
        return (before, after) if mark and same else None

    def _render_scene(self, view: EvaluatorView) -> MultilineText:
        return MultilineText(self._templates.render("evaluator_scene.j2", {"view": view}))

    def _render_all(self) -> None:
        view = EvaluatorView("Two talk.", "a", "A.", "b", "B.", "en (English)")
        self.utterance(view, "So.")
        histories: tuple[History, ...] = ((), (("initiator", "Why?"), ("responder", "So.")))
        for history in histories:
            self.cumulative(view, history, "So.")
            self.conversation(view, history)


def asked_dimensions(scheme: Scheme, aspect: Aspect) -> tuple[Dimension, ...]:
    """Return the dimensions that an aspect asks for; the goal always comes last.

    Source: HIPO, section 5: the labels of an utterance and the goal, or the goal alone.
    """
    if aspect == "conversation":
        return (scheme.goal,)
    return (*scheme.utterance_dimensions, scheme.goal)


def evaluation_format(
    dimensions: Sequence[Dimension], reasoned: Sequence[str] = ()
) -> ResponseFormat[tuple[TacticLabel, ...]]:
    """Return the format of an evaluation: one label per dimension, a reason before some of them.

    Args:
        dimensions: what is asked for, in order.
        reasoned: ids of the dimensions a reason is asked for.

    Raises:
        UsageError: the names of two dimensions make the same key.
    """
    fields: list[tuple[TextField | None, LabelField]] = [
        (
            TextField(reason_key(d.id), f"one or two sentences: why this {d.id}")
            if d.id in reasoned
            else None,
            LabelField(d),
        )
        for d in dimensions
    ]

    def build(answer: Answer, findings: Findings) -> tuple[TacticLabel, ...]:
        labels = []
        for reason, label in fields:
            value, raw = label.read(answer, findings)
            why = reason.read(answer) if reason is not None else ""
            labels.append(TacticLabel(label.dimension.id, value, why, raw))
        return tuple(labels)

    keys: list[AnswerField] = [f for pair in fields for f in pair if f is not None]
    return response_format("evaluation", keys, build)


def reason_key(dimension: str) -> str:
    """Return the key under which the reason for a label stands."""
    return f"{dimension}_reason"


def evaluation_answer(labels: Sequence[TacticLabel], *, reasoned: bool = False) -> str:
    """Return the answer that gives these labels.

    Args:
        labels: in the order of the format.
        reasoned: whether the rationale of a label, if it has one, stands before it.
    """
    answer: dict[str, object] = {}
    for label in labels:
        if reasoned and label.rationale:
            answer[reason_key(label.dimension)] = label.rationale
        answer[label.dimension] = label.value
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()


def chosen_aspects(names: Sequence[str]) -> tuple[Aspect, ...]:
    """Return the named aspects in their usual order.

    Raises:
        UsageError: there is no such aspect.
    """
    unknown = [name for name in names if name not in ASPECTS]
    if unknown:
        raise UsageError(f"unknown aspect {unknown[0]!r}", f"choose of: {', '.join(ASPECTS)}")
    return tuple(aspect for aspect in ASPECTS if aspect in names)


def _reasoned(scheme: Scheme, aspect: Aspect) -> tuple[str, ...]:
    """Return the dimensions that get a reason: what the aspect is about, not the goal beside it."""
    if aspect == "conversation":
        return (scheme.assigned,)
    return tuple(d.id for d in scheme.utterance_dimensions)
