"""The answer of whoever writes a whole conversation: a list of its turns, in the planned order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from prompts.answer_fields import ABSENT, Findings, value_of
from prompts.prompt import role_tag
from prompts.responses import ResponseFormat, utterance_format
from prompts.script_view import ScriptTurn
from prompts.speaker_answers import speaker_format
from prompts.tolerant_json import Answer, squash
from scenarios.dialogue import Draft
from scenarios.plural import plural
from scenarios.schemes.model import Scheme
from scenarios.terms import RoleKey

Script = tuple[Draft, ...]
"""The words and labels of every turn that was to be written, in order."""
TURNS: Final = "turns"
_NUMBER, _SPEAKER = "turn", "speaker"
MOST_REASONS: Final = 12
"""Mistakes of one script that are told; a model that mends these can be told the others then."""


@dataclass(frozen=True, slots=True)
class ScriptForm:
    """The answers of one cast: what a turn of each role consists of."""

    base: ResponseFormat[Script]
    """Schema and skeleton; it reads nothing, since which turns there are is the case's."""
    labelled: Mapping[RoleKey, ResponseFormat[Draft]]
    plain: ResponseFormat[str]
    """Of those that are not labelled."""

    def of(self, turns: Sequence[ScriptTurn]) -> ResponseFormat[Script]:
        """Return the format that reads exactly these turns."""
        bounds = {**self.base.bounds, TURNS: len(turns)}
        build = partial(_read, self.labelled, self.plain, tuple(turns))
        return replace(self.base, build=build, bounds=bounds)


def script_form(scheme: Scheme, cast: Mapping[RoleKey, bool], words: int = 0) -> ScriptForm:
    """Return the form of the answers of a cast.

    Args:
        scheme: the labels.
        cast: by id of every role for which words are to be written: whether they are labelled.
        words: so many are wanted of a turn at most; 0: one or two sentences.

    Raises:
        UsageError: a dimension of the scheme is called like another field of the answer.
    """
    labelled = {
        role: speaker_format(scheme, role, plan=False, words=words)
        for role, has in cast.items()
        if has
    }
    plain = utterance_format(words)
    forms: dict[RoleKey, ResponseFormat[object]] = {
        role: labelled.get(role, plain) for role in cast
    }
    items = [_schema(role_tag(role), form) for role, form in forms.items()]
    schema = {
        "type": "object",
        "properties": {TURNS: {"type": "array", "items": {"anyOf": items}}},
        "required": [TURNS],
        "additionalProperties": False,
    }
    shapes = ",\n".join(_shape(role_tag(role), form) for role, form in forms.items())
    skeleton = f'{{\n  "{TURNS}": [\n{shapes}\n  ]\n}}'
    bounds = {key: bound for form in forms.values() for key, bound in form.bounds.items()}
    base = ResponseFormat(
        "script", schema, skeleton, (TURNS,), partial(_read, labelled, plain, ()), bounds
    )
    return ScriptForm(base, labelled, plain)


def _schema(speaker: str, form: ResponseFormat[object]) -> dict[str, object]:
    of_turn = form.schema["properties"]
    properties: dict[str, object] = {
        _NUMBER: {"type": "integer", "description": "the number of the turn"},
        _SPEAKER: {"type": "string", "enum": [speaker]},
        **(of_turn if isinstance(of_turn, dict) else {}),
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _shape(speaker: str, form: ResponseFormat[object]) -> str:
    own = [f'"{_NUMBER}": <number of the turn>,', f'"{_SPEAKER}": "{speaker}",']
    lines = [*own, *(line.strip() for line in form.skeleton.splitlines()[1:-1])]
    return "\n".join(["    {", *(f"      {line}" for line in lines), "    }"])


def _read(
    labelled: Mapping[RoleKey, ResponseFormat[Draft]],
    plain: ResponseFormat[str],
    turns: Sequence[ScriptTurn],
    answer: Answer,
    findings: Findings,
) -> Script:
    """Return the turns, where there are as many as planned and everybody speaks when planned."""
    listed = value_of(answer, TURNS)
    expected = f"a list of {plural(len(turns), 'turn')}, those without fixed words, in order"
    if listed is ABSENT or listed is None:
        findings.missing(TURNS, expected)
        return ()
    if not isinstance(listed, list):
        findings.wrong(TURNS, listed, expected)
        return ()
    if len(listed) != len(turns):
        findings.wrong(TURNS, plural(len(listed), "turn"), expected)
        return ()
    script = tuple(
        _turn(labelled.get(turn.key) if turn.labelled else None, plain, turn, item, findings)
        for turn, item in zip(turns, listed, strict=True)
    )
    if len(findings.reasons) > MOST_REASONS:
        more = len(findings.reasons) - MOST_REASONS
        findings.reasons[MOST_REASONS:] = [f"and {more} more of this kind"]
    return script


def _turn(
    form: ResponseFormat[Draft] | None,
    plain: ResponseFormat[str],
    turn: ScriptTurn,
    item: object,
    findings: Findings,
) -> Draft:
    where, nothing = f"turn {turn.number}", Draft("", "", ())
    if not isinstance(item, Mapping):
        findings.wrong(where, item, "an object with the keys of this speaker's turns")
        return nothing
    said_by = value_of(item, _SPEAKER)
    if not isinstance(said_by, str) or squash(said_by) != squash(turn.speaker):
        found = None if said_by is ABSENT else said_by
        findings.wrong(f"{where}, {_SPEAKER}", found, turn.speaker)
        return nothing
    own = Findings()
    draft = Draft(plain.build(item, own), "", ()) if form is None else form.build(item, own)
    if own.reasons:
        findings.kind = own.kind if not findings.reasons else "invalid"
        findings.reasons += [f"{where}, {reason}" for reason in own.reasons]
    return draft
