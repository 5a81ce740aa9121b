"""The prompts of the two roles: ask, answer, reflect on a draft, revise it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from prompts.environment import Templates
from prompts.objections import against_draft, against_utterance
from prompts.prompt import make_prompt, prompts_fingerprint, transcript
from prompts.question import Question
from prompts.responses import critique_format, tactic_format, utterance_format
from prompts.role_views import InitiatorView, ResponderView, initiator_view, responder_view
from prompts.scheme_text import label_text, scheme_text
from scenarios.dialogue import Critique, Draft, History, TacticLabel, Wanted
from scenarios.schemes.model import Dimension, LabelValue, Scheme

__all__ = ["ActorPrompts", "InitiatorView", "ResponderView", "initiator_view", "responder_view"]

_SHARED: Final = (
    "answer_format.j2", "conversation.j2", "dimension.j2", "draft.j2", "labels.j2", "private.j2",
    "rules.j2", "scene.j2", "speech.j2", "terms.j2", "wanted.j2",
)  # fmt: skip
_KINDS: Final = ("initiator", "responder", "reflect", "revise")
ACTOR_TEMPLATES: Final = (
    *(f"{kind}_{part}.j2" for kind in _KINDS for part in ("system", "user")),
    "repair.j2",
    *_SHARED,
)
"""The templates that a generated dialogue depends on."""


class ActorPrompts:
    """All prompts of the actors for one scheme; every kind has one fixed system message."""

    def __init__(self, templates: Templates, scheme: Scheme) -> None:
        """Render the system messages, and every prompt once so that mistakes show early.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self.templates = templates
        self._scheme = scheme
        # An initiator that knew the labels could fish for them: its prompt holds no scheme.
        self._initiator = make_prompt("initiator", templates, utterance_format())
        static = {"scheme": scheme_text(scheme)}
        tactic = tactic_format(scheme)
        self._responder = make_prompt("responder", templates, tactic, static)
        self._reflect = make_prompt("reflect", templates, critique_format(scheme), static)
        self._revise = make_prompt("revise", templates, tactic, static)
        prompts = (self._initiator, self._responder, self._reflect, self._revise)
        self.fingerprint = prompts_fingerprint(templates, ACTOR_TEMPLATES, scheme, prompts)
        self._render_all(scheme)

    def __reduce__(self) -> tuple[type[ActorPrompts], tuple[Templates, Scheme]]:
        # compiled templates do not travel: they are remade
        return ActorPrompts, (self.templates, self._scheme)

    def initiator(self, view: InitiatorView, history: History) -> Question[str]:
        """Ask for the initiator's next utterance."""
        question = self._initiator.render({"view": view, "history": transcript(history)})
        return replace(question, objections=partial(against_utterance, history=history))

    def responder(
        self, view: ResponderView, history: History, wanted: Wanted = ()
    ) -> Question[Draft]:
        """Ask for the responder's next utterance and its labels."""
        question = self._responder.render(_turn_variables(view, history, wanted))
        return replace(question, objections=partial(against_draft, history=history))

    def reflect(
        self, view: ResponderView, history: History, draft: Draft, wanted: Wanted = ()
    ) -> Question[tuple[Critique, ...]]:
        """Ask whether a draft carries the labels it declares.

        Source: HIPO, section 4.4.1 (2).
        """
        return self._reflect.render(
            {**_turn_variables(view, history, wanted), **_draft_variables(draft)}
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
        question = self._revise.render(
            {
                **_turn_variables(view, history, wanted),
                **_draft_variables(draft),
                "critiques": tuple(critiques),
            }
        )
        return replace(question, objections=partial(against_draft, history=history))

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
            so_far = history if full else ()
            self.initiator(_public(view), so_far)
            self.responder(view, so_far, wanted)
            self.reflect(view, so_far, draft, wanted)
            question = self.revise(view, so_far, draft, critiques, wanted)
            question.repair("", ["utterance: missing"])


def _turn_variables(view: ResponderView, history: History, wanted: Wanted) -> dict[str, object]:
    return {"view": view, "history": transcript(history), "wanted": wanted}


def _draft_variables(draft: Draft) -> dict[str, object]:
    """Return the draft's text, and (dimension, label, rationale) of each label it declares."""
    declared = tuple((t.dimension, label_text(t.value), t.rationale) for t in draft.tactic)
    return {"draft": draft.text, "declared": declared}


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
    )


def _public(view: ResponderView) -> InitiatorView:
    return InitiatorView(
        view.situation, view.role, view.description, view.aim,
        view.other_role, view.other_description, view.language, view.manner,
    )  # fmt: skip
