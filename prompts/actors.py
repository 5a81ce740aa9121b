"""The prompts of the two people: speak, answer, reflect on a draft, revise it, repair an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prompts.environment import Templates
from prompts.prompt import PromptMessage, Rendered, make_prompt
from prompts.responses import ResponseFormat, critique_format, tactic_format, utterance_format
from prompts.role_views import InitiatorView, ResponderView, initiator_view, responder_view
from prompts.scheme_text import label_text, scheme_text
from scenarios.dialogue import Critique, Draft, History, TacticLabel
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Dimension, LabelValue, Scheme

__all__ = ["ActorPrompts", "InitiatorView", "ResponderView", "initiator_view", "responder_view"]

Wanted = Sequence[tuple[str, str]]
"""(dimension, label) pairs the responder is asked for; empty where it is free."""

_SHARED: Final = (
    "answer_format.j2", "conversation.j2", "draft.j2", "labels.j2", "private.j2", "rules.j2",
    "scene.j2", "speech.j2", "wanted.j2",
)  # fmt: skip
_KINDS: Final = ("initiator", "responder", "reflect", "revise")
ACTOR_TEMPLATES: Final = (
    *(f"{kind}_{part}.j2" for kind in _KINDS for part in ("system", "user")),
    "repair.j2",
    *_SHARED,
)
"""The templates that a generated dialogue depends on."""

_LONGEST_ECHO = 4_000
"""Characters of an unreadable answer that are shown back to the model."""


@dataclass(frozen=True, slots=True)
class Speaking:
    """What the initiator's next utterance is made from."""

    view: InitiatorView
    history: History


@dataclass(frozen=True, slots=True)
class Answering:
    """What the responder's next utterance is made from."""

    view: ResponderView
    history: History
    wanted: Wanted = ()


@dataclass(frozen=True, slots=True)
class Reflecting:
    """What a reflection on a draft is made from."""

    view: ResponderView
    history: History
    draft: Draft
    wanted: Wanted = ()


@dataclass(frozen=True, slots=True)
class Revising:
    """What a revision of a draft is made from."""

    view: ResponderView
    history: History
    draft: Draft
    critiques: tuple[Critique, ...]
    wanted: Wanted = ()


class ActorPrompts:
    """All prompts of the actors for one scheme; every kind has one fixed system message."""

    def __init__(self, templates: Templates, scheme: Scheme) -> None:
        """Render the system messages, and rehearse every prompt once so that mistakes show early.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self._templates = templates
        self.utterance: ResponseFormat[str] = utterance_format()
        self.tactic: ResponseFormat[Draft] = tactic_format(scheme)
        self.critique: ResponseFormat[tuple[Critique, ...]] = critique_format(scheme)
        # An initiator that knew the labels could fish for them: it is told nothing of the scheme.
        self.speaking = make_prompt("initiator", templates, _speaking, self.utterance, {})
        static = {"scheme": scheme_text(scheme)}
        self.answering = make_prompt("responder", templates, _answering, self.tactic, static)
        self.reflecting = make_prompt("reflect", templates, _reflecting, self.critique, static)
        self.revising = make_prompt("revise", templates, _revising, self.tactic, static)
        self.fingerprint: str = fingerprint(
            [
                templates.fingerprint_of(ACTOR_TEMPLATES),
                scheme.model_dump(mode="json"),
                [
                    [prompt.system, prompt.answer.name, prompt.answer.schema]
                    for prompt in (self.speaking, self.answering, self.reflecting, self.revising)
                ],
            ]
        )
        self._rehearse(scheme)

    def initiator(self, view: InitiatorView, history: History) -> Rendered:
        """Ask for the initiator's next utterance; the answer is read by ``utterance``."""
        return self.speaking.render(Speaking(view, history))

    def responder(self, view: ResponderView, history: History, wanted: Wanted = ()) -> Rendered:
        """Ask for the responder's next utterance and its labels; read by ``tactic``."""
        return self.answering.render(Answering(view, history, wanted))

    def reflect(
        self, view: ResponderView, history: History, draft: Draft, wanted: Wanted = ()
    ) -> Rendered:
        """Ask whether a draft carries the labels it declares; read by ``critique``.

        Source: HIPO, section 4.4.1 (2).
        """
        return self.reflecting.render(Reflecting(view, history, draft, wanted))

    def revise(
        self,
        view: ResponderView,
        history: History,
        draft: Draft,
        critiques: Sequence[Critique],
        wanted: Wanted = (),
    ) -> Rendered:
        """Ask for a draft that mends what was criticised; read by ``tactic``.

        Source: HIPO, section 4.4.1 (2).
        """
        return self.revising.render(Revising(view, history, draft, tuple(critiques), wanted))

    def repair(self, previous: Rendered, answer: str, reasons: Sequence[str]) -> Rendered:
        """Hand an unreadable answer back, with the reasons why it could not be used."""
        correction = self._templates.render("repair.j2", {"reasons": tuple(reasons)})
        echo = _echo(answer)
        return Rendered(
            (
                *previous.messages,
                PromptMessage("assistant", echo),
                PromptMessage("user", correction),
            )
        )

    def _rehearse(self, scheme: Scheme) -> None:
        """Render each user message with and without its optional parts."""
        goal = scheme.goal.labels[0]
        tactic = tuple(TacticLabel(d.id, _any_value(d), "why") for d in scheme.utterance_dimensions)
        draft = Draft("Words.", goal.id, tactic)
        history: History = (("initiator", "A question?"), ("responder", "An answer."))
        for full in (False, True):
            view = _sample_view(scheme, full=full)
            wanted = tuple((t.dimension, label_text(t.value)) for t in tactic) if full else ()
            critiques = [Critique(t.dimension, not full, "reason") for t in tactic]
            said = history if full else ()
            self.initiator(_public(view), said)
            self.responder(view, said, wanted)
            self.reflect(view, said, draft, wanted)
            rendered = self.revise(view, said, draft, critiques, wanted)
            self.repair(rendered, "", ["utterance: missing"])


def _speaking(inputs: Speaking) -> Mapping[str, object]:
    return {"view": inputs.view, "history": _lines(inputs.history)}


def _answering(inputs: Answering) -> Mapping[str, object]:
    return {
        "view": inputs.view,
        "history": _lines(inputs.history),
        "wanted": tuple(inputs.wanted),
    }


def _reflecting(inputs: Reflecting) -> Mapping[str, object]:
    return {
        "view": inputs.view,
        "history": _lines(inputs.history),
        "wanted": tuple(inputs.wanted),
        "draft": inputs.draft.text,
        "declared": _declared(inputs.draft),
    }


def _revising(inputs: Revising) -> Mapping[str, object]:
    return {
        "view": inputs.view,
        "history": _lines(inputs.history),
        "wanted": tuple(inputs.wanted),
        "draft": inputs.draft.text,
        "declared": _declared(inputs.draft),
        "critiques": inputs.critiques,
    }


def _lines(history: History) -> tuple[tuple[str, str], ...]:
    return tuple((role.upper(), text) for role, text in history)


def _declared(draft: Draft) -> tuple[tuple[str, str, str], ...]:
    """Return (dimension, label, rationale) of each declared label."""
    return tuple((t.dimension, label_text(t.value), t.rationale) for t in draft.tactic)


def _echo(answer: str) -> str:
    """Return an unreadable answer as it can be sent back: never empty, and not at any length."""
    text = answer.encode("utf-8", "replace").decode().replace("\0", "").strip()
    if not text:
        return "(no answer)"
    return text if len(text) <= _LONGEST_ECHO else text[:_LONGEST_ECHO].rstrip() + " ..."


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
