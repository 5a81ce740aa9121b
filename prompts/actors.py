"""The prompts of whoever speaks in a dialogue: of question and answer, and of the roles of a flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from prompts.environment import Templates
from prompts.first_templates import ADDED, FIRST_TEMPLATES, are_first
from prompts.pair_prompts import AnswerForm, PairPrompts
from prompts.prompt import Prompt, prompts_fingerprint
from prompts.question import Question
from prompts.role_views import InitiatorView, ResponderView, initiator_view, responder_view
from prompts.screenplays import SCREENPLAY_TEMPLATES, ScreenplayPrompts
from prompts.script_answers import Script
from prompts.script_view import ScriptView
from prompts.speaker_view import SpeakerView
from prompts.speakers import SPEAKER_TEMPLATES, SpeakerPrompts
from prompts.turn_views import AnsweringView, AskingView
from scenarios.arms import AnswerOrder
from scenarios.dialogue import Critique, Draft, History, Wanted
from scenarios.schemes.model import Scheme

__all__ = ["ActorPrompts", "InitiatorView", "ResponderView", "initiator_view", "responder_view"]

ACTOR_TEMPLATES: Final = (*FIRST_TEMPLATES, *ADDED)
"""The templates that a dialogue of question and answer depends on."""
CLAIMS_TEMPLATES: Final = ("claims_system.j2", "claims_user.j2")
"""Those by which the claims of a draft are found."""


class ActorPrompts:
    """All prompts of those who speak, for one scheme.

    Strategies and critics hand on the view they were given: which prompts it belongs to is decided
    here alone.
    """

    def __init__(
        self,
        templates: Templates,
        scheme: Scheme,
        order: AnswerOrder = "plan",
        *,
        flow: bool = False,
        script: bool = False,
        claims: bool = False,
    ) -> None:
        """Render the system messages, and every prompt once so that mistakes show early.

        Args:
            templates: the texts.
            scheme: the labels.
            order: what a labelled answer begins with; templates that a run of hipo 0.1 stored know
                the paper's order alone.
            flow: whether some scenario has a flow. Under a scheme that assigns nothing all have
                one, and so they may where stored templates are those of flows.
            script: whether somebody writes whole conversations; known of stored templates, too.
            claims: whether a model finds the claims of drafts, which a program then checks; known
                of stored templates, too.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self.templates = templates
        self.scheme = scheme
        self.form = AnswerForm.of(templates, order)
        stored = templates.stored_names or frozenset()
        self.flow = flow or not scheme.assigned or SPEAKER_TEMPLATES[0] in stored
        """Whether the templates of flows are among those that dialogues depend on."""
        self._pair = PairPrompts(templates, scheme, self.form) if scheme.assigned else None
        self._speakers: SpeakerPrompts | None = None
        self._screenplays: ScreenplayPrompts | None = None
        self.script = script or SCREENPLAY_TEMPLATES[0] in stored
        """Whether the templates of screenplays are among those that dialogues depend on."""
        self.claims = claims or CLAIMS_TEMPLATES[0] in stored
        """Whether the templates that ask for claims are among those that dialogues depend on."""
        names = FIRST_TEMPLATES if are_first(templates) else ACTOR_TEMPLATES
        own = names if self._pair else ()
        speaking = SPEAKER_TEMPLATES if self.flow else ()
        self.names = (
            *own,
            *speaking,
            *(SCREENPLAY_TEMPLATES if self.script else ()),
            *(CLAIMS_TEMPLATES if self.claims else ()),
        )
        """The templates that dialogues of these prompts depend on."""
        prompts: tuple[Prompt[object], ...] = self._pair.prompts if self._pair else ()
        if self.flow:
            prompts = (*prompts, *self.speakers.samples)
        if self.script:
            prompts = (*prompts, self.screenplays.sample)
        self.fingerprint = prompts_fingerprint(templates, self.names, scheme, prompts)

    @property
    def pair(self) -> PairPrompts:
        """Those of question and answer.

        Raises:
            ValueError: the scheme assigns no goal, which a responder needs.
        """
        if self._pair is None:
            raise ValueError(
                f"scheme {self.scheme.id!r} assigns nothing: its scenarios need a flow"
            )
        return self._pair

    @property
    def speakers(self) -> SpeakerPrompts:
        """Those of the roles of a flow; made when the first of them is asked."""
        if self._speakers is None:
            self._speakers = SpeakerPrompts(self.templates, self.scheme, plan=self.form.plan)
        return self._speakers

    @property
    def screenplays(self) -> ScreenplayPrompts:
        """Those of whole conversations of a flow; made when the first of them is asked."""
        if self._screenplays is None:
            self._screenplays = ScreenplayPrompts(self.templates, self.scheme)
        return self._screenplays

    def screenplay(self, view: ScriptView) -> Question[Script]:
        """Ask for every turn of a conversation that nobody has fixed, with its labels."""
        return self.screenplays.write(view)

    def initiator(self, view: AskingView, history: History) -> Question[str]:
        """Ask for the next utterance of somebody whose words are not labelled."""
        if isinstance(view, SpeakerView):
            return self.speakers.say(view, history)
        return self.pair.initiator(view, history)

    def responder(
        self, view: AnsweringView, history: History, wanted: Wanted = ()
    ) -> Question[Draft]:
        """Ask for the next utterance of somebody whose words are labelled, and its labels."""
        if isinstance(view, SpeakerView):
            return self.speakers.answer(view, history, wanted)
        return self.pair.responder(view, history, wanted)

    def reflect(
        self, view: AnsweringView, history: History, draft: Draft, wanted: Wanted = ()
    ) -> Question[tuple[Critique, ...]]:
        """Ask whether a draft carries the labels it declares, and whether it can be said.

        Source: HIPO, section 4.4.1 (2).
        """
        if isinstance(view, SpeakerView):
            return self.speakers.reflect(view, history, draft, wanted)
        return self.pair.reflect(view, history, draft, wanted)

    def revise(
        self,
        view: AnsweringView,
        history: History,
        draft: Draft,
        critiques: Sequence[Critique],
        wanted: Wanted = (),
    ) -> Question[Draft]:
        """Ask for a draft that mends what was criticised.

        Source: HIPO, section 4.4.1 (2).
        """
        if isinstance(view, SpeakerView):
            return self.speakers.revise(view, history, draft, critiques, wanted)
        return self.pair.revise(view, history, draft, critiques, wanted)
