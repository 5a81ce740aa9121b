"""The prompts of the roles of a flow: speak, and where words are labelled, reflect and revise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from prompts.drafts import draft_variables
from prompts.environment import Templates
from prompts.objections import against_draft, against_utterance
from prompts.prompt import Prompt, make_prompt, role_tag, transcript
from prompts.question import Question
from prompts.responses import critique_format, utterance_format
from prompts.speaker_answers import speaker_format
from prompts.speaker_scheme import speaker_scheme
from prompts.speaker_view import SpeakerView
from scenarios.dialogue import Critique, Draft, History, Wanted
from scenarios.schemes.model import Scheme
from scenarios.schemes.spoken import spoken_dimensions
from scenarios.terms import RoleKey

SPEAKER_TEMPLATES: Final = (
    "speaker_system.j2", "speaker_user.j2", "speaker_reflect_system.j2", "speaker_reflect_user.j2",
    "speaker_revise_system.j2", "speaker_revise_user.j2", "speaker_form.j2", "speaker_labels.j2",
    "speaker_part.j2", "speaker_rules.j2", "speaker_scene.j2", "speaker_speech.j2",
    "answer_format.j2", "conversation.j2", "dimension.j2", "draft.j2", "reframe.j2", "repair.j2",
    "terms.j2", "wanted.j2",
)  # fmt: skip
"""The templates that a dialogue of a flow depends on."""


@dataclass(frozen=True, slots=True)
class _LabelledSpeaker:
    """The prompts of one role whose words are labelled; each with its fixed system message."""

    speak: Prompt[Draft]
    reflect: Prompt[tuple[Critique, ...]]
    revise: Prompt[Draft]


class SpeakerPrompts:
    """All prompts of the roles of flows under one scheme; made for a role when it first speaks."""

    def __init__(self, templates: Templates, scheme: Scheme, *, plan: bool) -> None:
        """Render the system messages of some labelled role, so that mistakes show early.

        Args:
            templates: the texts.
            scheme: the labels.
            plan: whether answers with labels begin with a plan.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self._templates = templates
        self._scheme = scheme
        self._plan = plan
        self._words: dict[int, Prompt[str]] = {}
        self._labelled: dict[tuple[RoleKey, int], _LabelledSpeaker] = {}
        some = self._prompts_of(_SOME_ROLE, 0, plan=plan)
        self.samples: tuple[Prompt[object], ...] = (
            self._unlabelled(0), some.speak, some.reflect, some.revise,
        )  # fmt: skip
        """What is hashed of the prompts besides the templates: those of one role.

        They plan even where it declares nothing, as they always have: runs are known by the hash.
        """

    def say(self, view: SpeakerView, history: History) -> Question[str]:
        """Ask for the next utterance of somebody whose words are not labelled."""
        objections = partial(against_utterance, history=history)
        variables = _variables(view, history, (), declares=False)
        return self._unlabelled(view.words).render_line(variables, objections)

    def answer(self, view: SpeakerView, history: History, wanted: Wanted) -> Question[Draft]:
        """Ask for the next utterance of a labelled role, and its labels."""
        objections = partial(against_draft, history=history)
        variables = _variables(view, history, wanted, declares=self._declares(view.key))
        return self._of(view.key, view.words).speak.render_line(variables, objections)

    def reflect(
        self, view: SpeakerView, history: History, draft: Draft, wanted: Wanted
    ) -> Question[tuple[Critique, ...]]:
        """Ask whether a draft carries the labels it declares, and whether it can be said."""
        declares = bool(spoken_dimensions(self._scheme, view.key))  # a goal is no label of a line
        variables = {
            **_variables(view, history, wanted, declares=declares),
            **draft_variables(draft),
        }
        return self._of(view.key, view.words).reflect.render(variables)

    def revise(
        self,
        view: SpeakerView,
        history: History,
        draft: Draft,
        critiques: Sequence[Critique],
        wanted: Wanted,
    ) -> Question[Draft]:
        """Ask for a draft that mends what was criticised."""
        variables = {
            **_variables(view, history, wanted, declares=self._declares(view.key)),
            **draft_variables(draft),
            "critiques": tuple(critiques),
        }
        objections = partial(against_draft, history=history)
        return self._of(view.key, view.words).revise.render_line(variables, objections)

    def _declares(self, role: RoleKey) -> bool:
        """Whether an answer of the role has labels; readers alone give those of some schemes."""
        return bool(self._scheme.assigned or spoken_dimensions(self._scheme, role))

    def _unlabelled(self, words: int) -> Prompt[str]:
        if words not in self._words:
            static = {"scheme": None, "plan": False}
            self._words[words] = make_prompt(
                "speaker", self._templates, utterance_format(words), static
            )
        return self._words[words]

    def _of(self, role: RoleKey, words: int) -> _LabelledSpeaker:
        """Return the prompts of a role for turns of so many words at most."""
        if (role, words) not in self._labelled:
            plan = self._plan and self._declares(role)
            self._labelled[role, words] = self._prompts_of(role, words, plan=plan)
        return self._labelled[role, words]

    def _prompts_of(self, role: RoleKey, words: int, *, plan: bool) -> _LabelledSpeaker:
        static = {"scheme": speaker_scheme(self._scheme, role), "plan": plan}
        spoken = speaker_format(self._scheme, role, plan=plan, words=words)
        critiques = critique_format(self._scheme, dimensions=spoken_dimensions(self._scheme, role))
        return _LabelledSpeaker(
            make_prompt("speaker", self._templates, spoken, static),
            make_prompt("speaker_reflect", self._templates, critiques, static),
            make_prompt("speaker_revise", self._templates, spoken, static),
        )


_SOME_ROLE: Final = "speaker"


def _variables(
    view: SpeakerView, history: History, wanted: Wanted, *, declares: bool
) -> Mapping[str, object]:
    spoken = tuple((role_tag(role), text) for role, text in history)
    said = transcript(spoken, view.names)
    goes_on = bool(history) and history[-1][0] == view.key
    return {
        "view": view, "history": said, "wanted": wanted, "declares": declares, "goes_on": goes_on,
    }  # fmt: skip
