"""Write a whole conversation: each of its turns as the role would speak, one after the other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pipeline.offline.reading import (
    ActorRequest,
    AnswerKey,
    PromptNotUnderstood,
    answer_fields,
    sections_of,
)
from pipeline.offline.speaking import speak_in_flow

_TURN = re.compile(
    r"^Turn (?P<number>\d+): (?P<speaker>[A-Z][A-Z0-9 ]*), (?P<part>[^,\n]*), "
    r"round (?P<round>\d+ of \d+)(?:; fixed words: (?P<text>.*?))?(?:; wanted: (?P<wanted>.*))?$",
    re.MULTILINE,
)
_WANTED = re.compile(r"([^=,]+?) = ([^,]+)")
_PERSON = re.compile(r"^## (.+)$", re.MULTILINE)
_OF_SPEAKER = re.compile(r'^\s*"speaker": "([^"]+)",?$', re.MULTILINE)
_TURNS, _ANSWER, _LABELS = "The turns", "Answer format", "Labels of "


def is_screenplay(messages: Sequence[tuple[str, str]]) -> bool:
    """Whether a prompt asks for all turns of a conversation."""
    return any(role == "user" and f"\n# {_TURNS}\n" in text for role, text in messages)


def write_screenplay(
    messages: Sequence[tuple[str, str]], state: int, seed: int
) -> dict[str, object]:
    """Answer with every turn that has no fixed words, in order.

    Args:
        messages: the (role, content) messages.
        state: a hash of the prompt.
        seed: of the sample.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    system = "\n".join(content for role, content in messages if role == "system")
    user = next(content for role, content in messages if role == "user")
    told, asked = sections_of(system), sections_of(user)
    if "Situation" not in asked:
        raise PromptNotUnderstood("section '# Situation'")
    fields, people = _fields_by_speaker(told), _people(asked.get("The people", ""))
    goal = asked.get("The goal", "")
    said: list[tuple[str, str]] = []
    turns: list[object] = []
    for found in _TURN.finditer(asked[_TURNS]):
        speaker = found["speaker"]
        if found["text"] is not None:
            said.append((speaker, found["text"]))
            continue
        request = ActorRequest(
            task="responder",
            fields=fields.get(speaker, ()),
            sections={
                "Situation": asked["Situation"],
                "You": f"Speaker: {speaker}\n{people.get(speaker, '')}",
                "This part": f"Part: {found['part']}\nRound: {found['round']}",
                "Your goal": goal,
            },
            spoken=tuple(said),
            wanted=dict(_WANTED.findall(found["wanted"] or "")),
            told=_labels_of(speaker, told),
            corrections=0,
        )
        spoken = speak_in_flow(request, state + len(turns), seed)
        said.append((speaker, str(spoken["utterance"])))
        turns.append({"turn": int(found["number"]), "speaker": speaker, **spoken})
    return {"turns": turns}


def _people(text: str) -> Mapping[str, str]:
    """Return what the prompt says of each person, by the name before their lines."""
    parts = _PERSON.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _fields_by_speaker(told: Mapping[str, str]) -> Mapping[str, tuple[AnswerKey, ...]]:
    """Return the keys of each speaker's turns besides number and name.

    Raises:
        PromptNotUnderstood: the prompt does not say what a turn consists of.
    """
    parts = _OF_SPEAKER.split(told.get(_ANSWER, ""))
    if len(parts) == 1:
        raise PromptNotUnderstood("key \"speaker\" in the skeleton under '# Answer format'")
    return {
        speaker: tuple(
            field
            for field in answer_fields(f"# {_ANSWER}\n{keys}")
            if field.name not in ("turn", "speaker")
        )
        for speaker, keys in zip(parts[1::2], parts[2::2], strict=True)
    }


def _labels_of(speaker: str, told: Mapping[str, str]) -> str:
    """Return what is said of the labels of one speaker."""
    for heading, text in told.items():
        if heading.startswith(_LABELS) and speaker in heading.removeprefix(_LABELS).split(", "):
            return text
    return ""
