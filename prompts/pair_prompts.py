"""The prompts of the two roles of question and answer: ask, answer, reflect on a draft, revise it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from prompts.drafts import draft_variables
from prompts.environment import Templates
from prompts.first_templates import are_first
from prompts.objections import against_draft, against_utterance
from prompts.prompt import Prompt, make_prompt, transcript
from prompts.question import Question
from prompts.responses import critique_format, tactic_format, utterance_format
from prompts.role_views import InitiatorView, ResponderView
from prompts.scheme_text import label_text, scheme_text
from scenarios.arms import AnswerOrder
from scenarios.dialogue import FIT, Critique, Draft, History, TacticLabel, Wanted
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue, RoleKey


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What the actors' answers hold besides utterance, goal and labels."""

    plan: bool = True
    """Whether a responder plans before it speaks."""
    fit: bool = True
    """Whether a reflection says if the line can be said at all."""

    @classmethod
    def of(cls, templates: Templates, order: AnswerOrder) -> AnswerForm:
        """Return the form that goes with templates: those of hipo 0.1 ask for neither."""
        first = are_first(templates)
        return cls(plan=order == "plan" and not first, fit=not first)


class PairPrompts:
    """All prompts of initiator and responder; every kind has one fixed system message."""

    def __init__(self, templates: Templates, scheme: Scheme, form: AnswerForm) -> None:
        """Render the system messages, and every prompt once so that mistakes show early.

        Args:
            templates: the texts.
            scheme: the labels; it assigns a goal.
            form: what answers hold.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self.templates = templates
        self._first = are_first(templates)
        self.form = form
        # An initiator that knew the labels could fish for them: its prompt holds no scheme.
        self._initiator = make_prompt("initiator", templates, utterance_format())
        static = {"scheme": scheme_text(scheme), "plan": self.form.plan}
        tactic = tactic_format(scheme, plan=self.form.plan)
        self._responder = make_prompt("responder", templates, tactic, static)
        self._reflect = make_prompt(
            "reflect", templates, critique_format(scheme, fit=self.form.fit), static
        )
        self._revise = make_prompt("revise", templates, tactic, static)
        self.prompts: tuple[Prompt[object], ...] = (
            self._initiator, self._responder, self._reflect, self._revise,
        )  # fmt: skip
        """All of them, to be hashed."""
        self._render_all(scheme)

    def initiator(self, view: InitiatorView, history: History) -> Question[str]:
        """Ask for the initiator's next utterance."""
        said = self._transcript(history, you="initiator", other=view.other_role)
        asked = sum(role == "initiator" for role, _ in history)
        variables = {"view": view, "history": said, "left": max(view.questions - asked, 0)}
        objections = partial(against_utterance, history=history)
        return self._initiator.render_line(variables, objections)

    def responder(
        self, view: ResponderView, history: History, wanted: Wanted = ()
    ) -> Question[Draft]:
        """Ask for the responder's next utterance and its labels."""
        variables = self._turn_variables(view, history, wanted)
        return self._responder.render_line(variables, partial(against_draft, history=history))

    def reflect(
        self, view: ResponderView, history: History, draft: Draft, wanted: Wanted = ()
    ) -> Question[tuple[Critique, ...]]:
        """Ask whether a draft carries the labels it declares, and whether it can be said.

        Source: HIPO, section 4.4.1 (2).
        """
        return self._reflect.render(
            {**self._turn_variables(view, history, wanted), **draft_variables(draft)}
        )

    def revise(
        self,
        view: ResponderView,
        history: History,
        draft: Draft,
        critiques: Sequence[Critique],
        wanted: Wanted = (),
    ) -> Question[Draft]:
        """Ask for a draft that mends what was criticised.

        Source: HIPO, section 4.4.1 (2).
        """
        variables = {
            **self._turn_variables(view, history, wanted),
            **draft_variables(draft),
            "critiques": tuple(critiques),
        }
        return self._revise.render_line(variables, partial(against_draft, history=history))

    def _turn_variables(
        self, view: ResponderView, history: History, wanted: Wanted
    ) -> dict[str, object]:
        said = self._transcript(history, you="responder", other=view.other_role)
        return {"view": view, "history": said, "wanted": wanted}

    def _transcript(
        self, history: History, *, you: RoleKey, other: str
    ) -> tuple[tuple[str, str], ...]:
        """Return the conversation with a word at each line on who that is: oneself, or whom."""
        if self._first:
            return transcript(history)
        them: RoleKey = "initiator" if you == "responder" else "responder"
        return transcript(history, {you: "you", them: other})

    def _render_all(self, scheme: Scheme) -> None:
        """Render each user message with and without its optional parts."""
        goal = scheme.goal.labels[0]
        tactic = tuple(TacticLabel(d.id, _any_value(d), "why") for d in scheme.utterance_dimensions)
        draft = Draft("Words.", goal.id, tactic)
        history: History = (("initiator", "A question?"), ("responder", "An answer."))
        for full in (False, True):
            view = _sample_view(scheme, full=full)
            wanted = tuple((t.dimension, label_text(t.value)) for t in tactic) if full else ()
            critiques = [Critique(t.dimension, not full, "reason") for t in tactic]
            critiques += [Critique(FIT, full, "reason")] if self.form.fit else []
            so_far = history if full else ()
            self.initiator(_public(view), so_far)
            self.responder(view, so_far, wanted)
            self.reflect(view, so_far, draft, wanted)
            question = self.revise(view, so_far, draft, critiques, wanted)
            question.repair("", ["utterance: missing"])
            question.reframed()


def _any_value(dimension: Dimension) -> LabelValue:
    if dimension.range is not None and dimension.measurement == "interval":
        return dimension.range[0]
    first = dimension.labels[0].id
    return (first,) if dimension.measurement == "multi" else first


def _sample_view(scheme: Scheme, *, full: bool) -> ResponderView:
    goal = scheme.goal.labels[0]
    open_labels = scheme.dimension(scheme.felicity).values if full and scheme.felicity else ()
    return ResponderView(
        situation="Two people talk.",
        role="seller",
        description="A seller.",
        aim="sell",
        other_role="buyer",
        other_description="A buyer.",
        language="en (English)",
        goal=goal.id,
        goal_definition=goal.definition,
        about="the thing",
        fact="It is broken.",
        manner=("Style: brisk",) if full else (),
        felicity=scheme.felicity or "",
        open_labels=open_labels,
        voice="calm" if full else "",
        claimed=("The thing works.",) if full else (),
        believed=("The thing is new.",) if full else (),
    )


def _public(view: ResponderView) -> InitiatorView:
    angle, questions = ("Does it work?", 2) if view.voice else ("", 3)
    return InitiatorView(
        view.situation, view.role, view.description, view.aim, view.other_role,
        view.other_description, view.language, view.manner, view.voice, angle, questions,
    )  # fmt: skip
