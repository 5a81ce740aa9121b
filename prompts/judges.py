"""The prompts of the judges: label an utterance anew, or say whether it carries declared labels.

To label anew is a task like those of models under evaluation (``judge-turn``, ``judge-dialogue``);
only judges are shown declared labels. All judges see what is private: without it nobody can say
whether words mislead about what the speaker knows. None sees the goal, and those that label anew
see no declared label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from prompts.answer_fields import THOUGHTS_BOUND, AnswerField, Findings, FlagField, TextField
from prompts.environment import MultilineText, Templates
from prompts.prompt import Prompt, make_prompt, prompts_fingerprint, role_tag, transcript
from prompts.question import Question
from prompts.responses import ResponseFormat, response_format
from prompts.scheme_text import label_text, reader_text
from prompts.tasks.answers import BlindLabel, LabelForm
from prompts.tasks.asked import misfits
from prompts.tasks.items import (
    FactView,
    PersonView,
    SceneView,
    TaskItem,
    asks_and_answers,
    fact_view,
    fact_views,
    plain_view,
    scene_view,
)
from prompts.tasks.model import READERS, Task
from prompts.tasks.option_order import label_order, reordered
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from prompts.tasks.stems import PEOPLE_TEMPLATES, is_listed, stem_for
from prompts.tolerant_json import Answer
from prompts.whole_dialogue import WholePrompts
from scenarios.case import Case
from scenarios.dialogue import Critique, History, TacticLabel
from scenarios.fingerprint import fingerprint
from scenarios.quick_records import quickly_made
from scenarios.schemes.model import Dimension, Level, Scheme
from scenarios.spec import Scenario
from scenarios.terms import RESPONDER, RoleKey

Declared = Sequence[TacticLabel]
"""The labels an utterance was given; dimensions without one are not asked about."""

_KINDS: Final = ("judge_turn", "judge_dialogue", "verify_turn")
JUDGE_TEMPLATES: Final = (
    *(f"{kind}_{part}.j2" for kind in _KINDS for part in ("system", "user")),
    "answer_format.j2", "conversation.j2", "dimension.j2", "judge_labels.j2", "judge_rules.j2",
    "judge_scene.j2", "judge_task.j2", "repair.j2", "terms.j2",
)  # fmt: skip
"""The templates that a judgement depends on."""
_TASKS: Final[dict[Level, str]] = {"utterance": "judge-turn", "dialogue": "judge-dialogue"}


@dataclass(frozen=True, slots=True)
class _VerifyKey:
    """What decides the system message of a question that shows declared labels."""

    declared: tuple[str, ...]
    order: int
    role: RoleKey
    """Empty where who speaks decides nothing."""
    listed: bool


@quickly_made
@dataclass(frozen=True, slots=True)
class JudgeView:
    """What a judge knows of a case: the scene, and what is private."""

    case: str
    """The id of the case: the order of labels follows from it."""
    scene: SceneView
    fact: FactView | None
    """What the responder alone knows; None where the scene lists its people."""
    facts: tuple[FactView, ...] = ()
    """What each of the people alone knows, where the scene lists them."""

    def turn(self, history: History, utterance: str, role: RoleKey = RESPONDER) -> TaskItem:
        """Return an utterance of a role after what was said before it."""
        turns: History = (*history, (role, utterance))
        return TaskItem(
            self.case, self.scene, turns, len(history), fact=self.fact, facts=self.facts
        )

    def dialogue(self, history: History) -> TaskItem:
        """Return a whole dialogue."""
        return TaskItem(self.case, self.scene, history, fact=self.fact, facts=self.facts)


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """What a judge says about one utterance whose declared labels it was shown."""

    critiques: tuple[Critique, ...]
    """One per declared dimension."""
    readings: tuple[BlindLabel, ...]
    """One per dimension that only readers label."""


def judge_view(scenario: Scenario, case: Case) -> JudgeView:
    """Return what a judge of this case knows, with the names the dialogue was made with.

    Raises:
        UsageError: the scenario has no such fact.
    """
    if asks_and_answers(scenario) and case.fact:
        scene = scene_view(scenario, case.language)
        return JudgeView(case.id, scene, fact_view(scenario, case.fact))
    listed = scene_view(scenario, case.language, listed=True)
    return JudgeView(case.id, listed, None, fact_views(scenario) if scenario.flow else ())


class JudgePrompts:
    """All prompts of the judges for one scheme: few system messages, each for many questions."""

    def __init__(
        self,
        templates: Templates,
        scheme: Scheme,
        *,
        listed: bool | None = None,
        told: Mapping[str, str] | None = None,
    ) -> None:
        """Render every prompt once, so that mistakes show early.

        Args:
            templates: where the texts come from.
            scheme: the labels.
            listed: whether scenes that list their people are judged; see :class:`TaskPrompts`.
            told: what scenes say beside their background, see :func:`scenarios.variation.told_axes`.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self.templates = templates
        self._scheme = scheme
        self._listed = scheme.is_for_any_people if listed is None else listed
        self._asks: dict[tuple[Level, bool], bool] = {}
        self._blind: dict[tuple[Level, bool], TaskPrompts] = {}
        self._whole: dict[bool, WholePrompts] = {}
        self._verify: dict[_VerifyKey, Prompt[TurnVerdict]] = {}
        whole = tuple(d.id for d in scheme.utterance_dimensions)
        parts = [
            part
            for level in _TASKS
            if self.asks(level, readers=True)
            for part in self._task(level, readers=True).parts
        ]
        verify = self._verify_prompt(_VerifyKey(whole, 0, "", self._listed))
        prompts = (*(part.prompt for part in parts), verify)
        names = (*JUDGE_TEMPLATES, *PEOPLE_TEMPLATES) if self._listed else JUDGE_TEMPLATES
        asked = prompts_fingerprint(templates, names, scheme, prompts)
        self.fingerprint = fingerprint([asked, dict(told)]) if told else asked
        self._render_verify()

    def asks(self, level: Level, *, readers: bool) -> bool:
        """Whether the scheme has anything to ask judges about an utterance, or a whole dialogue."""
        key = (level, readers)
        if key not in self._asks:
            task = load_task(_TASKS[level])
            asked = task if readers else _without_readers(task)
            self._asks[key] = not any(misfits(asked, self._scheme))
        return self._asks[key]

    def asked(self, level: Level, *, readers: bool, role: RoleKey = "") -> tuple[Dimension, ...]:
        """Return what judges who see no labels are asked about an utterance, or a whole dialogue.

        Args:
            level: what the dimensions are of.
            readers: whether those are among them that only readers label.
            role: who says the utterance; empty: whoever does.
        """
        if not self.asks(level, readers=readers):
            return ()
        dimensions = self._task(level, readers=readers).dimensions
        return tuple(d for d in dimensions if not role or d.concerns(role))

    def turn(
        self,
        view: JudgeView,
        history: History,
        utterance: str,
        *,
        readers: bool = False,
        role: RoleKey = RESPONDER,
    ) -> Question[tuple[BlindLabel, ...]]:
        """Ask for the labels of an utterance without showing the declared ones.

        Args:
            view: what the judge knows.
            history: what was said before.
            utterance: what is to be labelled.
            readers: whether dimensions are asked about that only readers label.
            role: who says it; something is asked about words of this role (see :meth:`asked`).
        """
        task = self._task("utterance", readers=readers)
        return task.questions(view.turn(history, utterance, role))[0].question

    def dialogue(
        self, view: JudgeView, history: History, *, readers: bool = False
    ) -> Question[tuple[BlindLabel, ...]]:
        """Ask for the labels of a whole conversation without showing its goal; see :meth:`turn`."""
        task = self._task("dialogue", readers=readers)
        return task.questions(view.dialogue(history))[0].question

    def verify_turn(
        self,
        view: JudgeView,
        history: History,
        utterance: str,
        declared: Declared,
        *,
        role: RoleKey = RESPONDER,
    ) -> Question[TurnVerdict]:
        """Ask whether an utterance carries the labels that are shown.

        Source: HIPO, external evaluation.
        """
        pairs = tuple((label.dimension, label_text(label.value)) for label in declared)
        shown = tuple(dimension for dimension, _ in pairs)
        listed = is_listed(view.scene)
        whose = role if self._depends_on_role else ""
        plain = plain_view(view.scene, view.fact)
        variables: dict[str, object] = {
            "view": plain,
            "history": transcript(history),
            "utterance": utterance,
            "declared": pairs,
        }
        if listed:
            scene = self.templates.render("people_scene.j2", {"view": plain})
            variables |= {
                "scene": MultilineText(scene), "speaker": role_tag(role), "facts": view.facts,
                "goal": None,
            }  # fmt: skip
        key = _VerifyKey(shown, label_order(view.case), whose, listed)
        return self._verify_prompt(key).render(variables)

    def whole(self, *, readers: bool = False) -> WholePrompts:
        """Return what asks once about a dialogue for all that :meth:`turn` and :meth:`dialogue` do.

        Raises:
            UsageError: a template cannot be rendered.
        """
        if readers not in self._whole:
            self._whole[readers] = WholePrompts(
                self.templates,
                self._scheme,
                self.asked("utterance", readers=readers),
                self.asked("dialogue", readers=readers),
            )
        return self._whole[readers]

    @property
    def _depends_on_role(self) -> bool:
        return any(d.depends_on_role for d in self._scheme.dimensions)

    def read_of(self, role: RoleKey) -> tuple[Dimension, ...]:
        """Return what of an utterance no speaker declares: what is asked beside declared labels."""
        read = self._scheme.read_dimensions("utterance")
        return tuple(d for d in read if not role or d.concerns(role))

    def _task(self, level: Level, *, readers: bool) -> TaskPrompts:
        key = (level, readers)
        if key not in self._blind:
            task = load_task(_TASKS[level])
            asked = task if readers else _without_readers(task)
            self._blind[key] = TaskPrompts(self.templates, self._scheme, asked, listed=self._listed)
        return self._blind[key]

    def _verify_prompt(self, key: _VerifyKey) -> Prompt[TurnVerdict]:
        """Return the prompt that shows labels of these dimensions, built when first needed."""
        if key not in self._verify:
            known = [self._scheme.dimension(name) for name in key.declared]
            asked = [*known, *self.read_of(key.role)]
            limited = [d.limited_to(key.role) for d in asked] if key.role else asked
            ordered = [reordered(d, key.order) for d in limited]
            shown, read = ordered[: len(known)], ordered[len(known) :]
            self._verify[key] = make_prompt(
                stem_for("verify_turn", listed=key.listed),
                self.templates,
                verdict_format(shown, read),
                {
                    **reader_text(self._scheme, ordered),
                    "shown": key.declared,
                    "fact_shown": True,
                },
            )
        return self._verify[key]

    def _render_verify(self) -> None:
        """Render the question with declared labels with and without its optional parts."""
        declared = [
            TacticLabel(d.id, d.labels[0].id if d.labels else 0.0)
            for d in self._scheme.utterance_dimensions
        ]
        scene = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
        if self._listed:
            people = (PersonView("initiator", "a", "A."), PersonView(RESPONDER, "b", "B."))
            scene = replace(scene, people=people)
        histories: tuple[History, ...] = ((), (("initiator", "Why?"), ("responder", "So.")))
        for history, claims in zip(histories, ((), ("It is well.",)), strict=True):
            fact = FactView("a thing", "It is so.", claims)
            view = JudgeView("case", scene, fact, (replace(fact, owner=RESPONDER),))
            self.verify_turn(view, history, "So.", declared, role="")
            self.verify_turn(view, history, "So.", (), role="")


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
    own = LabelForm(tuple(read), frozenset(d.id for d in read), runner_up=True)

    def build(answer: Answer, findings: Findings) -> TurnVerdict:
        critiques = tuple(
            Critique(dimension, carried.read(answer, findings), reason.read(answer))
            for dimension, reason, carried in pairs
        )
        return TurnVerdict(critiques, own.build(answer, findings))

    fields: list[AnswerField] = [reasoning]
    fields += [f for _, reason, carried in pairs for f in (reason, carried)]
    return response_format("turn_verdict", [*fields, *own.fields], build)


def _without_readers(task: Task) -> Task:
    asks = tuple(asked for asked in task.asks if asked != READERS)
    return task.model_copy(update={"asks": asks})
