"""The prompts of the judges: label an utterance anew, or say whether it carries declared labels.

To label anew is a task like those of models under evaluation (``judge-turn``, ``judge-dialogue``);
only judges are shown declared labels. All judges see the private fact: without it nobody can say
whether words mislead about what the speaker knows. None sees the goal, and those that label anew
see no declared label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from prompts.answer_fields import THOUGHTS_BOUND, AnswerField, Findings, FlagField, TextField
from prompts.environment import Templates
from prompts.prompt import Prompt, make_prompt, prompts_fingerprint, transcript
from prompts.question import Question
from prompts.responses import ResponseFormat, response_format
from prompts.scheme_text import label_text, reader_text
from prompts.tasks.answers import BlindLabel, LabelForm
from prompts.tasks.items import FactView, SceneView, TaskItem, fact_view, plain_view, scene_view
from prompts.tasks.model import READERS, Task
from prompts.tasks.option_order import label_order, reordered
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from prompts.tolerant_json import Answer
from scenarios.case import Case
from scenarios.dialogue import Critique, History, TacticLabel
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
_TASKS: Final = {"utterance": "judge-turn", "dialogue": "judge-dialogue"}


@dataclass(frozen=True, slots=True)
class JudgeView:
    """What a judge knows of a case: the scene, and the private fact."""

    case: str
    """The id of the case: the order of labels follows from it."""
    scene: SceneView
    fact: FactView

    def turn(self, history: History, utterance: str) -> TaskItem:
        """Return an utterance of the responder after what was said before it."""
        turns: History = (*history, ("responder", utterance))
        return TaskItem(self.case, self.scene, turns, target=len(history), fact=self.fact)

    def dialogue(self, history: History) -> TaskItem:
        """Return a whole dialogue."""
        return TaskItem(self.case, self.scene, history, fact=self.fact)


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
    scene = scene_view(scenario, case.language)
    return JudgeView(case.id, scene, fact_view(scenario, case.fact))


class JudgePrompts:
    """All prompts of the judges for one scheme: few system messages, each for many questions."""

    def __init__(self, templates: Templates, scheme: Scheme) -> None:
        """Render every prompt once, so that mistakes show early.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self.templates = templates
        self._scheme = scheme
        self._blind: dict[tuple[Level, bool], TaskPrompts] = {}
        self._verify: dict[tuple[tuple[str, ...], int], Prompt[TurnVerdict]] = {}
        whole = tuple(d.id for d in scheme.utterance_dimensions)
        (turn,) = self._task("utterance", readers=True).parts
        (dialogue,) = self._task("dialogue", readers=True).parts
        prompts = (turn.prompt, dialogue.prompt, self._verify_prompt(whole, 0))
        self.fingerprint = prompts_fingerprint(templates, JUDGE_TEMPLATES, scheme, prompts)
        self._render_verify()

    def asked(self, level: Level, *, readers: bool) -> tuple[Dimension, ...]:
        """Return what judges who see no labels are asked about an utterance, or a whole dialogue.

        Args:
            level: what the dimensions are of.
            readers: whether those are among them that only readers label.
        """
        return self._task(level, readers=readers).dimensions

    def turn(
        self, view: JudgeView, history: History, utterance: str, *, readers: bool = False
    ) -> Question[tuple[BlindLabel, ...]]:
        """Ask for the labels of an utterance without showing the declared ones.

        Args:
            view: what the judge knows.
            history: what was said before.
            utterance: what is to be labelled.
            readers: whether dimensions are asked about that only readers label.
        """
        task = self._task("utterance", readers=readers)
        return task.questions(view.turn(history, utterance))[0].question

    def dialogue(
        self, view: JudgeView, history: History, *, readers: bool = False
    ) -> Question[tuple[BlindLabel, ...]]:
        """Ask for the labels of a whole conversation without showing its goal; see :meth:`turn`."""
        task = self._task("dialogue", readers=readers)
        return task.questions(view.dialogue(history))[0].question

    def verify_turn(
        self, view: JudgeView, history: History, utterance: str, declared: Declared
    ) -> Question[TurnVerdict]:
        """Ask whether an utterance carries the labels that are shown.

        Source: HIPO, external evaluation.
        """
        pairs = tuple((label.dimension, label_text(label.value)) for label in declared)
        shown = tuple(dimension for dimension, _ in pairs)
        return self._verify_prompt(shown, label_order(view.case)).render(
            {
                "view": plain_view(view.scene, view.fact),
                "history": transcript(history),
                "utterance": utterance,
                "declared": pairs,
            }
        )

    def _task(self, level: Level, *, readers: bool) -> TaskPrompts:
        key = (level, readers)
        if key not in self._blind:
            task = load_task(_TASKS[level])
            asked = task if readers else _without_readers(task)
            self._blind[key] = TaskPrompts(self.templates, self._scheme, asked)
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

    def _render_verify(self) -> None:
        """Render the question with declared labels with and without its optional parts."""
        declared = [
            TacticLabel(d.id, d.labels[0].id if d.labels else 0.0)
            for d in self._scheme.utterance_dimensions
        ]
        scene = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
        histories: tuple[History, ...] = ((), (("initiator", "Why?"), ("responder", "So.")))
        for history, claims in zip(histories, ((), ("It is well.",)), strict=True):
            view = JudgeView("case", scene, FactView("a thing", "It is so.", claims))
            self.verify_turn(view, history, "So.", declared)
            self.verify_turn(view, history, "So.", ())


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
