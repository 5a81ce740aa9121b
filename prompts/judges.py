"""The prompts of the judges: label an utterance anew, or say whether it carries declared labels.

All judges see the private fact: without it nobody can say whether words mislead about what the
speaker knows. None sees the goal, and those that label anew see no declared label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

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
from prompts.tasks.answers import BlindLabel
from prompts.tolerant_json import Answer
from scenarios.case import Case
from scenarios.dialogue import Critique, History, TacticLabel
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.graph import KnowledgeGraph
from scenarios.schemes.model import Dimension, Level, Scheme
from scenarios.spec import Scenario

Declared = Sequence[TacticLabel]
"""The labels an utterance was given; dimensions without one are not asked about."""

_KINDS: Final = ("judge_turn", "judge_dialogue", "verify_turn")
JUDGE_TEMPLATES: Final = (
    *(f"{kind}_{part}.j2" for kind in _KINDS for part in ("system", "user")),
    "answer_format.j2", "conversation.j2", "dimension.j2", "judge_labels.j2", "judge_rules.j2",
    "judge_scene.j2", "judge_task.j2", "repair.j2", "terms.j2",
)  # fmt: skip
"""The templates that a judgement depends on."""
ORDERS: Final = 4
"""In how many orders labels are listed: few, so that system messages stay in the caches of endpoints."""


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
    false_claims: tuple[str, ...] = ()
    """Sentences that are false because the fact is true, by the scenario's author."""


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """What a judge says about one utterance whose declared labels it was shown."""

    critiques: tuple[Critique, ...]
    """One per declared dimension."""
    readings: tuple[BlindLabel, ...]
    """One per dimension that only readers label."""


def label_order(case: str) -> int:
    """Return in which of the ``ORDERS`` orders judges of a case have labels listed.

    It follows from the id of the case, so that no label gains by its place in the whole corpus.
    """
    return seed_from("label order", case) % ORDERS


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
        false_claims=tuple(
            claim.text for claim in KnowledgeGraph.of(scenario).claims_against(fact.id)
        ),
    )


class JudgePrompts:
    """All prompts of the judges for one scheme: few system messages, each for many questions."""

    def __init__(self, templates: Templates, scheme: Scheme) -> None:
        """Render every prompt once, so that mistakes show early.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self.templates = templates
        self._scheme = scheme
        self._blind: dict[tuple[str, bool, int], Prompt[tuple[BlindLabel, ...]]] = {}
        self._verify: dict[tuple[tuple[str, ...], int], Prompt[TurnVerdict]] = {}
        whole = tuple(d.id for d in scheme.utterance_dimensions)
        prompts = (
            self._blind_prompt("turn", readers=True, order=0),
            self._blind_prompt("dialogue", readers=True, order=0),
            self._verify_prompt(whole, 0),
        )
        self.fingerprint = prompts_fingerprint(templates, JUDGE_TEMPLATES, scheme, prompts)
        self._render_all()

    def asked(self, level: Level, *, readers: bool) -> tuple[Dimension, ...]:
        """Return what judges who see no labels are asked about an utterance, or a whole dialogue.

        Args:
            level: what the dimensions are of.
            readers: whether those are among them that only readers label.
        """
        scheme = self._scheme
        declared = scheme.utterance_dimensions if level == "utterance" else (scheme.goal,)
        return (*declared, *(scheme.read_dimensions(level) if readers else ()))

    def turn(
        self,
        view: JudgeView,
        history: History,
        utterance: str,
        *,
        readers: bool = False,
        order: int = 0,
    ) -> Question[tuple[BlindLabel, ...]]:
        """Ask for the labels of an utterance without showing the declared ones.

        Args:
            view: what the judge knows.
            history: what was said before.
            utterance: what is to be labelled.
            readers: whether dimensions are asked about that only readers label.
            order: in which order labels are listed, see :func:`label_order`.
        """
        prompt = self._blind_prompt("turn", readers=readers, order=order)
        return prompt.render(_variables(view, history, utterance))

    def dialogue(
        self, view: JudgeView, history: History, *, readers: bool = False, order: int = 0
    ) -> Question[tuple[BlindLabel, ...]]:
        """Ask for the labels of a whole conversation without showing its goal; see :meth:`turn`."""
        prompt = self._blind_prompt("dialogue", readers=readers, order=order)
        return prompt.render(_variables(view, history))

    def verify_turn(
        self,
        view: JudgeView,
        history: History,
        utterance: str,
        declared: Declared,
        *,
        order: int = 0,
    ) -> Question[TurnVerdict]:
        """Ask whether an utterance carries the labels that are shown.

        Source: HIPO, external evaluation.
        """
        pairs = tuple((label.dimension, label_text(label.value)) for label in declared)
        prompt = self._verify_prompt(tuple(dimension for dimension, _ in pairs), order)
        return prompt.render(_variables(view, history, utterance, pairs))

    def _blind_prompt(
        self, about: Literal["turn", "dialogue"], *, readers: bool, order: int
    ) -> Prompt[tuple[BlindLabel, ...]]:
        key = (about, readers, order)
        if key not in self._blind:
            level: Level = "utterance" if about == "turn" else "dialogue"
            asked = self.asked(level, readers=readers)
            listed = [reordered(dimension, order) for dimension in asked]
            self._blind[key] = make_prompt(
                f"judge_{about}",
                self.templates,
                readings_format(about, listed),
                reader_text(self._scheme, listed),
            )
        return self._blind[key]

    def _verify_prompt(self, declared: tuple[str, ...], order: int) -> Prompt[TurnVerdict]:
        """Return the prompt that shows labels of these dimensions, built when first needed."""
        key = (declared, order)
        if key not in self._verify:
            shown = [reordered(self._scheme.dimension(name), order) for name in declared]
            read = [reordered(d, order) for d in self._scheme.read_dimensions("utterance")]
            self._verify[key] = make_prompt(
                "verify_turn",
                self.templates,
                verdict_format(shown, read),
                {**reader_text(self._scheme, [*shown, *read]), "shown": declared},
            )
        return self._verify[key]

    def _render_all(self) -> None:
        """Render each user message with and without its optional parts."""
        declared = [
            TacticLabel(d.id, d.labels[0].id if d.labels else 0.0)
            for d in self._scheme.utterance_dimensions
        ]
        histories: tuple[History, ...] = ((), (("initiator", "Why?"), ("responder", "So.")))
        for history, claims in zip(histories, ((), ("It is well.",)), strict=True):
            view = JudgeView(
                "Two talk.", "a", "A.", "b", "B.", "en (English)", "a thing", "It is so.", claims
            )
            self.turn(view, history, "So.")
            self.verify_turn(view, history, "So.", declared)
            self.verify_turn(view, history, "So.", ())
            question = self.dialogue(view, history)
            question.repair("", ["reading: missing"])


def reordered(dimension: Dimension, order: int) -> Dimension:
    """Return a dimension with its labels listed in another order; order 0 is the scheme's.

    Every second order is the reverse of the one before, and later ones begin in the middle, so
    that over all orders labels share the first places. Ordinal labels keep theirs.
    """
    labels = dimension.labels
    if dimension.measurement != "nominal":
        return dimension
    middle = len(labels) // 2 if order // 2 % 2 else 0
    turned = (*labels[middle:], *labels[:middle])
    return dimension.model_copy(update={"labels": turned[::-1] if order % 2 else turned})


def readings_format(
    name: str, dimensions: Sequence[Dimension]
) -> ResponseFormat[tuple[BlindLabel, ...]]:
    """Return the format of labels given blind: thoughts, then by dimension reason, label, runner-up.

    Raises:
        UsageError: the names of two dimensions make the same key, or one that the format has.
    """
    thoughts = TextField("reading", "what the words claim, held against the fact")
    pairs = [_reading_fields(dimension) for dimension in dimensions]

    def build(answer: Answer, findings: Findings) -> tuple[BlindLabel, ...]:
        return tuple(_reading(fields, answer, findings) for fields in pairs)

    fields: list[AnswerField] = [thoughts, *(f for some in pairs for f in some if f is not None)]
    return response_format(name, fields, build)


_ReadingFields = tuple[TextField, LabelField, LabelField | None]


def _reading_fields(dimension: Dimension) -> _ReadingFields:
    has_rivals = dimension.measurement in ("nominal", "ordinal") and len(dimension.labels) > 2
    return (
        TextField(f"{dimension.id}_reason", f"one or two sentences: why this {dimension.id}"),
        LabelField(dimension),
        LabelField(dimension, f"{dimension.id}_second") if has_rivals else None,
    )


def _reading(fields: _ReadingFields, answer: Answer, findings: Findings) -> BlindLabel:
    reason, best, rival = fields
    value, _ = best.read(answer, findings)
    second = None
    if rival is not None:
        # A label is worth more than the one it was weighed against: that one may be missing.
        named, _ = rival.read(answer, Findings())
        second = named if named not in ("", value) else None
    return BlindLabel(best.dimension.id, value, second, reason.read(answer))


def verdict_format(
    shown: Sequence[Dimension], read: Sequence[Dimension]
) -> ResponseFormat[TurnVerdict]:
    """Return the format of a verdict on labels that are shown, and of the readers' own labels.

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
        for d in shown
    ]
    own = [_reading_fields(dimension) for dimension in read]

    def build(answer: Answer, findings: Findings) -> TurnVerdict:
        return TurnVerdict(
            tuple(
                Critique(dimension, carried.read(answer, findings), reason.read(answer))
                for dimension, reason, carried in pairs
            ),
            tuple(_reading(fields, answer, findings) for fields in own),
        )

    fields: list[AnswerField] = [reasoning]
    fields += [f for _, reason, carried in pairs for f in (reason, carried)]
    fields += [f for some in own for f in some if f is not None]
    return response_format("turn_verdict", fields, build)


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
