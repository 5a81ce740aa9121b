"""Read a prompt that asks for labels back into its parts, by the headings that the templates write.

It may be a judge's or a task's: with the fact or without, about an utterance or a conversation, for
labels or for an explanation of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from pipeline.chunks import marked_parts
from pipeline.offline.reading import (
    AnswerKey,
    PromptNotUnderstood,
    answer_fields,
    sections_in_order,
)
from scenarios.quick_records import quickly_made

MODEL: Final = "offline/judge"
MESSAGES: Final = 1024
"""User messages of which the parts are kept: two judges of a dialogue are shown the same ones."""
_USER_HEADINGS: Final = (
    "Situation", "The people", "Language", "What only the responder knows",
    "What the fact makes false", "What the responder is after", "Conversation so far",
    "Standing question", "Utterances to judge", "Utterance to judge", "Utterance to label", "Declared", "Options",
    "What you said of it", "Now", "Answer format",
)  # fmt: skip
_HEADING = re.compile(r"^# ([^\n#]+?)[ \t]*$", re.MULTILINE)
_DIMENSION = re.compile(r"^## ([^:\n]+):.*$", re.MULTILINE)
_LABEL = re.compile(r"^- (.+?): (.*)$", re.MULTILINE)
_SAID = re.compile(r"^([A-Z][A-Z0-9 ]*):[ \t]*(.*)$", re.MULTILINE)
_DECLARED = re.compile(r"^Declared ([^:\n]+):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_FACT = re.compile(r"^Fact:[ \t]*(.*)\Z", re.MULTILINE | re.DOTALL)
_ABOUT = re.compile(r"^It concerns:[ \t]*(.*)$", re.MULTILINE)
_CLAIM = re.compile(r"^\* (.+?)[ \t]*$", re.MULTILINE)
_PERSON = re.compile(r"^(?:Initiator|Responder):[ \t]*(.*)$", re.MULTILINE)
_UTTERANCE = re.compile(r"\A(?:Said by:.*\n)?Utterance:[ \t]*(.*)\Z", re.DOTALL)
_TARGET = re.compile(r"^line_(\d+), ([A-Z][A-Z0-9 ]*):[ \t]*(.*)$", re.MULTILINE)
_FORM = re.compile(r"^## (Utterance|Dialogue)(?: of ([A-Z][A-Z0-9 ]*))?[ \t]*$", re.MULTILINE)
_OPTION = re.compile(r"^([A-Z])\. (.+?)[ \t]*$", re.MULTILINE)
_TITLED = re.compile(r"^## .*$", re.MULTILINE)


@quickly_made
@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Everything a judge's prompt says, apart from the rules for language models."""

    fields: tuple[AnswerKey, ...]
    labels: Mapping[str, Mapping[str, str]]
    """By dimension: every label with its definition and example, or every letter with its text."""
    situation: str
    about: str
    fact: str
    """What only the responder knows; empty where it is not told."""
    said: tuple[tuple[str, str], ...]
    """(role in capitals, text) of every utterance so far, e.g. ``RESPONDER``."""
    utterance: str
    """What is to be judged; nothing where it is the conversation."""
    declared: Mapping[str, str]
    false_claims: tuple[str, ...] = ()
    """Sentences that the fact makes false."""
    people: str = ""
    """What the two are called."""
    standing: str = ""
    """The question that the utterance answers, where it is shown apart from what was said."""
    remembers: bool = True
    """Whether the reader knows the stage lines by heart."""
    parts: tuple[tuple[str, JudgeRequest], ...] = ()
    """By key of the answer what is asked, where one prompt asks about a whole dialogue."""

    @property
    def question(self) -> str:
        """The question that stands apart, else the last thing the initiator said."""
        last = next((text for who, text in reversed(self.said) if who == "INITIATOR"), "")
        return self.standing or last

    @property
    def answers(self) -> tuple[str, ...]:
        """Everything the responder said before."""
        return tuple(text for who, text in self.said if who == "RESPONDER")


def read_prompt(
    messages: Sequence[tuple[str, str]], *, model: str = MODEL, remembers: bool = True
) -> JudgeRequest:
    """Read (role, content) messages, for a reader that may know the stage lines by heart.

    Raises:
        PromptNotUnderstood: a section that judging needs is missing.
    """
    system = "\n".join(content for role, content in messages if role == "system")
    user = next((content for role, content in messages if role == "user"), None)
    if user is None:
        raise PromptNotUnderstood("user message", model)
    sections, shown = _shown(user, model)
    form = sections.get("Answer format")
    if "Utterances to judge" in sections:
        base = replace(shown, labels=_labels(system), remembers=remembers)
        parts = tuple(_parts(sections["Utterances to judge"], system, base))
        if any(not part.fields for _, part in parts):
            raise PromptNotUnderstood("section '## Utterance' under '# Answer format'", model)
        return replace(base, parts=parts)
    fields = answer_fields(system if form is None else f"# Answer format\n{form}")
    carried = any(field.name.endswith("_carried") for field in fields)
    if carried and _utterance(sections) is None:
        raise PromptNotUnderstood("section '# Utterance to judge'", model)
    labels = {**_labels(system), **_lettered(sections.get("Options", ""), fields)}
    if not labels and not carried:
        raise PromptNotUnderstood("section '# Labels'", model)
    return replace(shown, fields=fields, labels=labels, remembers=remembers)


def _parts(text: str, system: str, base: JudgeRequest) -> Iterator[tuple[str, JudgeRequest]]:
    """Yield what is asked about each line after those before it, and at last about the whole."""
    forms = _forms(system)
    for line, speaker, said in _TARGET.findall(text):
        fields = forms.get(("Utterance", speaker)) or forms.get(("Utterance", ""), ())
        before = base.said[: int(line) - 1]
        yield f"line_{line}", replace(base, fields=fields, said=before, utterance=said.strip())
    if fields := forms.get(("Dialogue", ""), ()):
        yield "dialogue", replace(base, fields=fields)


@lru_cache(maxsize=64)
def _forms(system: str) -> Mapping[tuple[str, str], tuple[AnswerKey, ...]]:
    """Return the keys of each object under ``# Answer format``, by what and whose it is."""
    text = system.partition("\n# Answer format")[2]
    return {
        (mark[1], mark[2] or ""): answer_fields(f"# Answer format\n{form}")
        for mark, form in marked_parts(text, _FORM.finditer(text))
    }


@lru_cache(maxsize=MESSAGES)
def _shown(user: str, model: str) -> tuple[Mapping[str, str], JudgeRequest]:
    """Return the sections of a user message, and all that follows from it alone."""
    sections = sections_in_order(user, _USER_HEADINGS)
    fact, about = _private(sections, model)
    asked = _SAID.search(sections.get("Standing question", ""))
    return sections, JudgeRequest(
        fields=(),
        labels={},
        situation=f"{sections.get('Situation', '')}\n{sections.get('The people', '')}",
        about=about,
        fact=fact,
        said=tuple(_SAID.findall(sections.get("Conversation so far", ""))),
        utterance=_utterance(sections) or "",
        declared=dict(_DECLARED.findall(sections.get("Declared", ""))),
        false_claims=tuple(_CLAIM.findall(sections.get("What the fact makes false", ""))),
        people=" ".join(_PERSON.findall(sections.get("The people", ""))),
        standing=asked[2].strip() if asked else "",
    )


def _utterance(sections: Mapping[str, str]) -> str | None:
    """Return what is to be judged; None where the prompt is about the conversation."""
    found = _UTTERANCE.search(
        sections.get("Utterance to judge", "") or sections.get("Utterance to label", "")
    )
    return None if found is None else found[1].strip()


def _private(sections: Mapping[str, str], model: str) -> tuple[str, str]:
    """Return the fact and what it concerns; nothing where the prompt tells neither."""
    private = sections.get("What only the responder knows")
    if private is None:
        return "", ""
    fact, about = _FACT.search(private), _ABOUT.search(private)
    if fact is None or not fact[1].strip():
        raise PromptNotUnderstood("line 'Fact: ...' under '# What only the responder knows'", model)
    return fact[1].strip(), about[1].strip() if about else ""


def _lettered(text: str, fields: Sequence[AnswerKey]) -> dict[str, dict[str, str]]:
    """Return by dimension the options that stand under letters, in the order of the answer."""
    if not text:
        return {}
    listed = [dict(found) for part in _TITLED.split(text) if (found := _OPTION.findall(part))]
    keys = [f.name for f in fields if f.options and all(len(name) == 1 for name in f.options)]
    return dict(zip(keys, listed, strict=False))


@lru_cache(maxsize=64)
def _labels(system: str) -> Mapping[str, Mapping[str, str]]:
    """Return the labels under ``# Labels`` with their texts, by dimension."""
    text = system.partition("\n# Labels")[2]
    end = _HEADING.search(text)
    text = text[: end.start()] if end else text
    return {
        mark[1].strip(): dict(_LABEL.findall(labels))
        for mark, labels in marked_parts(text, _DIMENSION.finditer(text))
    }
