"""The prompts of the judges: label an utterance anew, or say whether it carries declared labels.

Both kinds of judge see the private fact: without it nobody can say whether words mislead about what
the speaker knows. Neither sees the goal, and the self-judge sees no declared label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from prompts.answer_fields import (
    THOUGHTS_BOUND,
    AnswerField,
    Findings,
    FlagField,
    LabelField,
    TextField,
)
from prompts.environment import Templates
from prompts.languages import described_language
from prompts.prompt import Prompt, make_prompt, prompts_fingerprint, transcript
from prompts.question import Question
from prompts.responses import ResponseFormat, response_format
from prompts.scheme_text import label_text, reader_text
from prompts.tolerant_json import Answer
from scenarios.case import Case
from scenarios.dialogue import Critique, History, TacticLabel
from scenarios.errors import UsageError
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spec import Scenario

Declared = Sequence[TacticLabel]
"""The labels an utterance was given; dimensions without one are not asked about."""

COHERENCE: Final = "coherence"
MISLED: Final = "misled"

_KINDS: Final = ("self_turn", "self_goal", "external_turn", "external_dialogue")
JUDGE_TEMPLATES: Final = (
    *(f"{kind}_{part}.j2" for kind in _KINDS for part in ("system", "user")),
    "answer_format.j2", "conversation.j2", "dimension.j2", "judge_labels.j2", "judge_scene.j2",
    "judge_task.j2", "repair.j2", "terms.j2",
)  # fmt: skip
"""The templates that a judgement depends on."""


@dataclass(frozen=True, slots=True)
class JudgeView:
    """What a judge knows: the situation, the people, and the private fact."""

    situation: str
    initiator: str
    initiator_description: str
    responder: str
    responder_description: str
    language: str
    """A BCP 47 code with its English name."""
    about: str
    """What the fact concerns."""
    fact: str


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """What an external judge says about one utterance."""

    reasoning: str
    critiques: tuple[Critique, ...]
    """One per declared dimension."""
    coherent: bool
    coherence_reason: str


@dataclass(frozen=True, slots=True)
class DialogueVerdict:
    """What an external judge says about a whole conversation."""

    reasoning: str
    misled: bool
    reason: str


def judge_view(scenario: Scenario, case: Case) -> JudgeView:
    """Return what a judge of this case knows, with the names the dialogue was made with.

    Raises:
        UsageError: the scenario has no such fact.
    """
    try:
        fact = scenario.fact(case.fact)
    except KeyError:
        raise UsageError(f"scenario {scenario.id!r} has no fact {case.fact!r}") from None
    initiator, responder = scenario.roles["initiator"], scenario.roles["responder"]
    return JudgeView(
        situation=scenario.background,
        initiator=initiator.name,
        initiator_description=initiator.description,
        responder=responder.name,
        responder_description=responder.description,
        language=described_language(case.language),
        about=fact.about,
        fact=fact.text,
    )


class JudgePrompts:
    """All prompts of the judges for one scheme; every kind has one fixed system message."""

    def __init__(self, templates: Templates, scheme: Scheme) -> None:
        """Render the system messages, and every prompt once so that mistakes show early.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self.templates = templates
        self._scheme = scheme
        labels = labels_format("labels", scheme.utterance_dimensions)
        self._self_turn = make_prompt(
            "self_turn", templates, labels, _asked_about(scheme, scheme.utterance_dimensions)
        )
        self._self_goal = make_prompt(
            "self_goal",
            templates,
            labels_format("goal", [scheme.goal]),
            _asked_about(scheme, [scheme.goal]),
        )
        self._dialogue = make_prompt("external_dialogue", templates, dialogue_format())
        self._turns: dict[tuple[str, ...], Prompt[TurnVerdict]] = {}
        whole = self._turn_prompt(tuple(d.id for d in scheme.utterance_dimensions))
        prompts = (self._self_turn, self._self_goal, whole, self._dialogue)
        self.fingerprint = prompts_fingerprint(templates, JUDGE_TEMPLATES, scheme, prompts)
        self._render_all()

    def self_turn(
        self, view: JudgeView, history: History, utterance: str
    ) -> Question[tuple[TacticLabel, ...]]:
        """Ask for the labels of an utterance without showing the declared ones.

        Source: HIPO, internal self-judgement.
        """
        return self._self_turn.render(_variables(view, history, utterance))

    def self_goal(self, view: JudgeView, history: History) -> Question[tuple[TacticLabel, ...]]:
        """Ask for the goal behind a whole conversation without showing it; one label comes back."""
        return self._self_goal.render(_variables(view, history))

    def external_turn(
        self, view: JudgeView, history: History, utterance: str, declared: Declared
    ) -> Question[TurnVerdict]:
        """Ask whether an utterance carries its labels and is coherent.

        Source: HIPO, external evaluation.
        """
        pairs = tuple((label.dimension, label_text(label.value)) for label in declared)
        prompt = self._turn_prompt(tuple(dimension for dimension, _ in pairs))
        return prompt.render(_variables(view, history, utterance, pairs))

    def external_dialogue(self, view: JudgeView, history: History) -> Question[DialogueVerdict]:
        """Ask whether the initiator has been misled."""
        return self._dialogue.render(_variables(view, history))

    def _turn_prompt(self, dimensions: tuple[str, ...]) -> Prompt[TurnVerdict]:
        """Return the prompt that asks about these dimensions, built when first needed."""
        if dimensions not in self._turns:
            asked = [self._scheme.dimension(dimension) for dimension in dimensions]
            self._turns[dimensions] = make_prompt(
                "external_turn",
                self.templates,
                turn_format(asked),
                _asked_about(self._scheme, asked),
            )
        return self._turns[dimensions]

    def _render_all(self) -> None:
        """Render each user message with and without its optional parts."""
        view = JudgeView("Two talk.", "a", "A.", "b", "B.", "en (English)", "a thing", "It is so.")
        declared = [
            TacticLabel(d.id, d.labels[0].id if d.labels else 0.0)
            for d in self._scheme.utterance_dimensions
        ]
        histories: tuple[History, ...] = ((), (("initiator", "Why?"), ("responder", "So.")))
        for history in histories:
            self.self_turn(view, history, "So.")
            self.self_goal(view, history)
            self.external_turn(view, history, "So.", declared)
            self.external_turn(view, history, "So.", ())
            question = self.external_dialogue(view, history)
            question.repair("", ["misled: missing"])


def labels_format(
    name: str, dimensions: Sequence[Dimension]
) -> ResponseFormat[tuple[TacticLabel, ...]]:
    """Return the format of labels given anew: per dimension a reason, then the label.

    Raises:
        UsageError: the names of two dimensions make the same key.
    """
    pairs = [
        (TextField(f"{d.id}_reason", f"one or two sentences: why this {d.id}"), LabelField(d))
        for d in dimensions
    ]

    def build(answer: Answer, findings: Findings) -> tuple[TacticLabel, ...]:
        labels = []
        for reason, label in pairs:
            value, raw = label.read(answer, findings)
            labels.append(TacticLabel(label.dimension.id, value, reason.read(answer), raw))
        return tuple(labels)

    return response_format(name, [field for pair in pairs for field in pair], build)


def turn_format(dimensions: Sequence[Dimension]) -> ResponseFormat[TurnVerdict]:
    """Return the format of an external verdict on a turn: thoughts, dimensions, coherence.

    Raises:
        UsageError: a dimension is called like another field of the answer.
    """
    reasoning = TextField(
        "reasoning", "step by step, what the words do and how they fit", THOUGHTS_BOUND
    )
    pairs = [
        (
            d.id,
            TextField(f"{d.id}_reason", f"which {d.id} the words have, and why"),
            FlagField(f"{d.id}_carried", f"whether the words carry the declared {d.id}"),
        )
        for d in dimensions
    ]
    why = TextField(f"{COHERENCE}_reason", "how the utterance goes with the conversation")
    coherent = FlagField(COHERENCE, "whether the utterance goes with the conversation")

    def build(answer: Answer, findings: Findings) -> TurnVerdict:
        return TurnVerdict(
            reasoning.read(answer),
            tuple(
                Critique(dimension, carried.read(answer, findings), reason.read(answer))
                for dimension, reason, carried in pairs
            ),
            coherent.read(answer, findings),
            why.read(answer),
        )

    fields: list[AnswerField] = [reasoning]
    fields += [f for _, reason, carried in pairs for f in (reason, carried)]
    return response_format("turn_verdict", [*fields, why, coherent], build)


def dialogue_format() -> ResponseFormat[DialogueVerdict]:
    """Return the format of an external verdict on a conversation: thoughts, reason, misled."""
    reasoning = TextField(
        "reasoning", "step by step, what the INITIATOR is led to believe", THOUGHTS_BOUND
    )
    reason = TextField(f"{MISLED}_reason", "the words that decide, and why")
    misled = FlagField(MISLED, "whether the INITIATOR has been misled")

    def build(answer: Answer, findings: Findings) -> DialogueVerdict:
        return DialogueVerdict(
            reasoning.read(answer), misled.read(answer, findings), reason.read(answer)
        )

    return response_format("dialogue_verdict", [reasoning, reason, misled], build)


def _asked_about(scheme: Scheme, dimensions: Sequence[Dimension]) -> dict[str, object]:
    return reader_text(scheme, dimensions)


def _variables(
    view: JudgeView,
    history: History,
    utterance: str = "",
    declared: tuple[tuple[str, str], ...] = (),
) -> dict[str, object]:
    return {
        "view": view,
        "history": transcript(history),
        "utterance": utterance,
        "declared": declared,
    }
