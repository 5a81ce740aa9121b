"""Read a prompt back into its parts by the headings that the shipped templates write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pipeline.chunks import marked_parts
from scenarios.errors import RunError

Task = Literal["initiator", "responder", "revise", "reflect"]
Kind = Literal["text", "label", "labels", "number", "flag"]

PRIVATE_HEADINGS = ("What only you know", "What you know together with some of the others")
_USER_HEADINGS = (
    "Situation", "You", "The other person", "The others", "Way of speaking", "Language", "To find out",
    "Your goal", *PRIVATE_HEADINGS, "Where you stand", "Acts open to you",
    "Conversation so far", "This part", "The draft", "Critique", "Now",
)  # fmt: skip
_HEADING = re.compile(r"^# ([^\n#]+?)[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r'^\s*"([^"\n]+)"\s*:\s*(\S.*?),?\s*$', re.MULTILINE)
_OPTIONS = re.compile(r"<(one|any) of: ([^<>]*)>")
_NUMBER = re.compile(r"<number from (-?[\d.]+) to (-?[\d.]+)(?:, or null)?>")
_SPOKEN = re.compile(r"^(INITIATOR|RESPONDER)(?: \(.*?\))?:[ \t]*(.*)$", re.MULTILINE)
_SPOKEN_BY_ANY = re.compile(r"^([A-Z][A-Z0-9 ]*?)(?: \(.*?\))?:[ \t]+(.*)$", re.MULTILINE)
_WANTED = re.compile(r"^Wanted ([^:\n]+):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_DECLARED = re.compile(r"^Declared ([^:\n]+):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"^([A-Z][A-Za-z ]{0,60}):[ \t]*(.*)$", re.MULTILINE)


class PromptNotUnderstood(RunError):
    """A prompt lacks a section that the rules need."""

    def __init__(self, missing: str, model: str = "offline/rules") -> None:
        """Name the missing section or key."""
        super().__init__(
            f"the prompt has no {missing}; {model} is no language model: it understands the shipped "
            "prompts of its part alone (offline/rules plays, offline/judge and offline/reader label, "
            "offline/reasoner weighs payoffs)"
        )
        self.missing = missing


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """One key of the answer that is asked for, and which values it may take."""

    name: str
    kind: Kind
    options: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class ActorRequest:
    """Everything a prompt says, apart from its static text."""

    task: Task
    fields: tuple[AnswerKey, ...]
    sections: Mapping[str, str]
    spoken: tuple[tuple[str, str], ...]
    """(who in capitals, e.g. ``INITIATOR``, and the text) of every utterance so far."""
    wanted: Mapping[str, str]
    told: str
    """The static text: what labels mean, and when they can be chosen."""
    corrections: int
    """How many answers to this prompt were handed back as unreadable."""

    def section(self, heading: str) -> str:
        """Return one section's text.

        Raises:
            PromptNotUnderstood: the prompt has no such section.
        """
        try:
            return self.sections[heading]
        except KeyError:
            raise PromptNotUnderstood(f"section '# {heading}'") from None

    def line(self, heading: str, key: str) -> str:
        """Return what follows ``key:`` in a section, without the lines after it.

        Raises:
            PromptNotUnderstood: the section or the line is missing.
        """
        value = lines_of(self.section(heading)).get(key)
        if not value:
            raise PromptNotUnderstood(f"line '{key}: ...' under '# {heading}'")
        return value

    def said_of(self, heading: str, key: str) -> str:
        """Return what follows ``key:`` in a section; nothing where either is not there."""
        return lines_of(self.sections.get(heading, "")).get(key, "")

    def last(self, who: str) -> str:
        """Return the last thing ``who`` said, or nothing."""
        return next((text for name, text in reversed(self.spoken) if name == who), "")

    def said_by(self, who: str) -> tuple[str, ...]:
        """Return all that ``who`` said, in order."""
        return tuple(text for name, text in self.spoken if name == who)

    @property
    def speaker(self) -> str:
        """Who is to speak in a conversation of any roles, in capitals; nothing in any other."""
        return self.said_of("You", "Speaker")

    @property
    def draft(self) -> str:
        """The utterance under revision, or nothing."""
        return lines_of(self.sections.get("The draft", "")).get("Utterance", "")

    @property
    def declared(self) -> dict[str, str]:
        """The labels the draft declares, by dimension."""
        return dict(_DECLARED.findall(self.sections.get("The draft", "")))


@lru_cache(maxsize=256)
def answer_fields(system: str) -> tuple[AnswerKey, ...]:
    """Return the keys of the answer skeleton under ``# Answer format``, in order.

    Raises:
        PromptNotUnderstood: there is no such section, or no key in it.
    """
    text = sections_of(system).get("Answer format")
    if text is None:
        raise PromptNotUnderstood("section '# Answer format'")
    fields = tuple(_field(name, value) for name, value in _FIELD.findall(text))
    if not fields:
        raise PromptNotUnderstood("key in the skeleton under '# Answer format'")
    return fields


def _field(name: str, value: str) -> AnswerKey:
    if match := _OPTIONS.search(value):
        listed = match[2].removesuffix(", or null")
        options = tuple(part.strip() for part in listed.split("|") if part.strip())
        if options:
            return AnswerKey(name, "label" if match[1] == "one" else "labels", options)
    if match := _NUMBER.search(value):
        return AnswerKey(name, "number", low=_number(match[1], 0.0), high=_number(match[2], 1.0))
    return AnswerKey(name, "flag" if "true or false" in value else "text")


def _number(text: str, default: float) -> float:
    try:
        return float(text)
    except ValueError:
        return default


@lru_cache(maxsize=512)
def lines_of(section: str) -> dict[str, str]:
    """Return the first ``Key: value`` line of each key in a section."""
    sections: dict[str, str] = {}
    for key, value in _LINE.findall(section):
        sections.setdefault(key, value.strip())
    return sections


def sections_of(text: str) -> dict[str, str]:
    """Split a text at its ``# Heading`` lines; the first of two equal headings counts."""
    values: dict[str, str] = {}
    for mark, section in marked_parts(text, _HEADING.finditer(text)):
        values.setdefault(mark[1], section.strip())
    return values


def sections_in_order(text: str, headings: Sequence[str]) -> dict[str, str]:
    """Split at the known headings in their fixed order, so that other ``# `` lines stay text."""
    rank = {heading: i for i, heading in enumerate(headings)}
    marks: list[re.Match[str]] = []
    reached = -1
    for mark in _HEADING.finditer(text):
        if rank.get(mark[1], -1) > reached:
            reached = rank[mark[1]]
            marks.append(mark)
    return {mark[1]: section.strip() for mark, section in marked_parts(text, marks)}


def read_prompt(messages: Sequence[tuple[str, str]]) -> ActorRequest:
    """Read (role, content) messages.

    Raises:
        PromptNotUnderstood: the system message or the task message is not laid out as expected.
    """
    system = "\n".join(content for role, content in messages if role == "system")
    user = [content for role, content in messages if role == "user"]
    tasks = [content for content in user if not content.lstrip().startswith("# Correction")]
    if not tasks:
        raise PromptNotUnderstood("user message")
    fields = answer_fields(system)
    sections = sections_in_order(tasks[0], _USER_HEADINGS)
    names = {field.name for field in fields}
    of_flow = "Speaker" in lines_of(sections.get("You", ""))
    who = _SPOKEN_BY_ANY if of_flow else _SPOKEN
    return ActorRequest(
        task=_task(names, sections),
        fields=fields,
        sections=sections,
        spoken=tuple(who.findall(sections.get("Conversation so far", ""))),
        told=system,
        wanted=dict(_WANTED.findall(sections.get("Now", ""))),
        corrections=len(user) - len(tasks),
    )


def _task(names: set[str], sections: Mapping[str, str]) -> Task:
    if names == {"utterance"}:
        return "initiator"
    if "utterance" not in names:
        if "fit" in names or any(name.endswith("_carried") for name in names):
            return "reflect"
        raise PromptNotUnderstood("\"utterance\" key in the skeleton under '# Answer format'")
    return "revise" if "Critique" in sections else "responder"
