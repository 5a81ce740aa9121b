"""Read a judge's prompt back into its parts by the headings that the shipped templates write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pipeline.offline.reading import AnswerKey, PromptNotUnderstood, answer_fields

MODEL: Final = "offline/judge"
_USER_HEADINGS: Final = (
    "Situation", "The people", "Language", "What only the responder knows",
    "What the fact makes false", "Conversation so far",
    "Utterance to judge", "Declared", "Now",
)  # fmt: skip
_HEADING = re.compile(r"^# ([^\n#]+?)[ \t]*$", re.MULTILINE)
_DIMENSION = re.compile(r"^## ([^:\n]+):.*$", re.MULTILINE)
_LABEL = re.compile(r"^- (.+?): (.*)$", re.MULTILINE)
_SAID = re.compile(r"^(INITIATOR|RESPONDER):[ \t]*(.*)$", re.MULTILINE)
_DECLARED = re.compile(r"^Declared ([^:\n]+):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_FACT = re.compile(r"^Fact:[ \t]*(.*)\Z", re.MULTILINE | re.DOTALL)
_ABOUT = re.compile(r"^It concerns:[ \t]*(.*)$", re.MULTILINE)
_CLAIM = re.compile(r"^\* (.+?)[ \t]*$", re.MULTILINE)
_PERSON = re.compile(r"^(?:Initiator|Responder):[ \t]*(.*)$", re.MULTILINE)
_UTTERANCE = re.compile(r"\AUtterance:[ \t]*(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Everything a judge's prompt says, apart from the rules for language models."""

    fields: tuple[AnswerKey, ...]
    labels: Mapping[str, Mapping[str, str]]
    """By dimension: every label with its definition and example."""
    situation: str
    about: str
    fact: str
    said: tuple[tuple[str, str], ...]
    """(``INITIATOR`` or ``RESPONDER``, text) of every utterance so far."""
    utterance: str
    """What is to be judged; nothing where it is the conversation."""
    declared: Mapping[str, str]
    false_claims: tuple[str, ...] = ()
    """Sentences that the fact makes false."""
    people: str = ""
    """What the two are called."""

    @property
    def question(self) -> str:
        """The last thing the initiator said."""
        return next((text for who, text in reversed(self.said) if who == "INITIATOR"), "")

    @property
    def answers(self) -> tuple[str, ...]:
        """Everything the responder said before."""
        return tuple(text for who, text in self.said if who == "RESPONDER")


def read_prompt(messages: Sequence[tuple[str, str]]) -> JudgeRequest:
    """Read (role, content) messages.

    Raises:
        PromptNotUnderstood: a section that judging needs is missing.
    """
    system = "\n".join(content for role, content in messages if role == "system")
    user = [content for role, content in messages if role == "user"]
    if not user:
        raise PromptNotUnderstood("user message", MODEL)
    fields = answer_fields(system)
    sections = _sections(user[0])
    private = _needed(sections, "What only the responder knows")
    fact, about = _FACT.search(private), _ABOUT.search(private)
    if fact is None or not fact[1].strip():
        raise PromptNotUnderstood("line 'Fact: ...' under '# What only the responder knows'", MODEL)
    utterance = _UTTERANCE.search(sections.get("Utterance to judge", ""))
    if any(field.name.endswith("_carried") for field in fields) and utterance is None:
        raise PromptNotUnderstood("section '# Utterance to judge'", MODEL)
    labels = _labels(system)
    if not labels and not any(field.name.endswith("_carried") for field in fields):
        raise PromptNotUnderstood("section '# Labels'", MODEL)
    return JudgeRequest(
        fields=fields,
        labels=labels,
        situation=f"{sections.get('Situation', '')}\n{sections.get('The people', '')}",
        about=about[1].strip() if about else "",
        fact=fact[1].strip(),
        said=tuple(_SAID.findall(sections.get("Conversation so far", ""))),
        utterance=utterance[1].strip() if utterance else "",
        declared=dict(_DECLARED.findall(sections.get("Declared", ""))),
        false_claims=tuple(_CLAIM.findall(sections.get("What the fact makes false", ""))),
        people=" ".join(_PERSON.findall(sections.get("The people", ""))),
    )


def _needed(sections: Mapping[str, str], heading: str) -> str:
    if heading not in sections:
        raise PromptNotUnderstood(f"section '# {heading}'", MODEL)
    return sections[heading]


@lru_cache(maxsize=64)
def _labels(system: str) -> Mapping[str, Mapping[str, str]]:
    """Return the labels under ``# Labels`` with their texts, by dimension."""
    text = system.partition("\n# Labels")[2]
    end = _HEADING.search(text)
    text = text[: end.start()] if end else text
    marks = list(_DIMENSION.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    return {
        mark[1].strip(): dict(_LABEL.findall(text[mark.end() : end]))
        for mark, end in zip(marks, ends, strict=True)
    }


def _sections(text: str) -> dict[str, str]:
    """Split at the known headings in their fixed order, so that other ``# `` lines stay text."""
    rank = {heading: i for i, heading in enumerate(_USER_HEADINGS)}
    marks: list[re.Match[str]] = []
    for mark in _HEADING.finditer(text):
        if rank.get(mark[1], -1) > (rank[marks[-1][1]] if marks else -1):
            marks.append(mark)
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    return {mark[1]: text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}
