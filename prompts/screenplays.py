"""The prompts of whoever writes a whole conversation in one answer, as a screenplay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from prompts.environment import Templates
from prompts.objections import against_draft
from prompts.prompt import Prompt, make_prompt, role_tag
from prompts.question import Question
from prompts.scheme_text import DimensionText, scheme_rules
from prompts.script_answers import Script, ScriptForm, script_form
from prompts.script_view import ScriptView
from prompts.speaker_scheme import speaker_scheme
from scenarios.schemes.model import Scheme
from scenarios.terms import RoleKey

SCREENPLAY_TEMPLATES: Final = ("screenplay_system.j2", "screenplay_user.j2")
"""The templates of screenplays, besides those that the roles of a flow share with them."""
_SAMPLE: Final = {"speaker": True, "other": False}


@dataclass(frozen=True, slots=True)
class _RoleLabels:
    """The dimensions that some roles declare alike."""

    speakers: tuple[str, ...]
    dimensions: tuple[DimensionText, ...]


class ScreenplayPrompts:
    """The prompts of screenplays under one scheme; made for a cast when it first comes."""

    def __init__(self, templates: Templates, scheme: Scheme) -> None:
        """Render the system message of some cast, so that mistakes show early.

        Raises:
            UsageError: a template cannot be rendered, or a dimension is called like an answer key.
        """
        self._templates = templates
        self._scheme = scheme
        self._casts: dict[
            tuple[tuple[tuple[RoleKey, bool], ...], int], tuple[Prompt[Script], ScriptForm]
        ] = {}
        self.sample: Prompt[object] = self._of(_SAMPLE, 0)[0]
        """What is hashed of the prompts besides the templates."""

    def write(self, view: ScriptView) -> Question[Script]:
        """Ask for all turns that are to be written, and the labels of those that have some."""
        labelled = {turn.key: turn.labelled for turn in view.written}
        # In the order of the people, so that a family's requests have one system message.
        keys = (one.view.key for one in view.people)
        cast = {key: labelled[key] for key in keys if key in labelled}
        prompt, form = self._of(cast, max((turn.words for turn in view.written), default=0))
        question = prompt.render({"view": view})
        return replace(
            question, answer=form.of(view.written), objections=partial(_objections, view)
        )

    def _of(self, cast: Mapping[RoleKey, bool], words: int) -> tuple[Prompt[Script], ScriptForm]:
        """Return the prompt for a cast whose longest turns are to have so many words."""
        key = tuple(cast.items()), words
        if key not in self._casts:
            form = script_form(self._scheme, cast, words)
            told = _told(self._scheme, [role for role, labelled in cast.items() if labelled])
            prompt = make_prompt("screenplay", self._templates, form.base, told)
            self._casts[key] = (prompt, replace(form, base=prompt.answer))
        return self._casts[key]


def _told(scheme: Scheme, labelled: Sequence[RoleKey]) -> dict[str, object]:
    """Return what the system message says of a scheme: the labels of each role, equal ones once."""
    groups: dict[tuple[DimensionText, ...], list[str]] = {}
    of_any = speaker_scheme(scheme, labelled[0] if labelled else "")
    for role in labelled:
        dimensions = speaker_scheme(scheme, role).dimensions
        if dimensions:
            groups.setdefault(dimensions, []).append(role_tag(role))
    return {
        "goal": of_any.goal if labelled else None,
        "terms": of_any.terms,
        "labels": tuple(_RoleLabels(tuple(names), told) for told, names in groups.items()),
        "rules": scheme_rules(scheme, subject="a speaker says in the conversation"),
        "conventions": of_any.conventions,
    }


def _objections(view: ScriptView, script: Script) -> tuple[str, ...]:
    """Object to turns that say again what was said, are no words of a person, or are a label."""
    found: list[str] = []
    said: list[tuple[RoleKey, str]] = []
    drafts = iter(script)
    for turn in view.turns:
        if turn.text is not None:
            said.append((turn.key, turn.text))
            continue
        draft = next(drafts)
        reasons = against_draft(draft, tuple(said))
        found += [f"turn {turn.number}, {reason}" for reason in reasons]
        said.append((turn.key, draft.text))
    return tuple(found)
