"""The dialogues of a run or of a data set, as lines that are compared with other lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from outputs.contamination.contamination import RowSet
from outputs.selecting.selection import OpenSelection
from scenarios.errors import UsageError
from scenarios.fingerprint import content_id

LISTS: Final = ("turns", "messages", "conversations", "dialogue", "dialog", "utterances")
"""Columns of rows that hold the lines of a dialogue."""
_TEXTS: Final = ("text", "content", "value", "utterance")
_ROLES: Final = ("role", "from", "speaker")
_NOBODY: Final = ("system", "tool")
"""Roles of messages that no one says."""
_FIXED: Final = "opening"
"""What the kind of a line is called whose words were fixed beforehand."""


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """What one person says at a time."""

    role: str
    text: str
    labels: Mapping[str, str] = field(default_factory=dict)
    """By dimension; of dimensions with several labels at once, and without any, none."""
    fixed: bool = False
    """Whether its words were given beforehand, so that nobody chose them."""


@dataclass(frozen=True, slots=True)
class ComparedDialogue:
    """One dialogue."""

    cluster: str
    """What it shares with others that are alike for that reason: its scenario, where it has one."""
    lines: tuple[ComparedLine, ...]
    language: str | None = None
    """None: nobody says."""
    traits: Mapping[str, str] = field(default_factory=dict)
    """What else is known of it, such as goal, strategy and model."""
    wordless: int = 0
    """What else is listed as its lines and holds no text, such as calls of tools."""


def dialogues_of_run(found: OpenSelection) -> Iterator[ComparedDialogue]:
    """Yield the dialogues of a run."""
    for selected in found.dialogues(rationales=False):
        case = selected.dialogue.case
        traits = {
            "goal": selected.goal, "scenario": case.scenario, "fact": case.fact,
            "category": selected.scenario.category, "language": case.language,
            "strategy": selected.strategy, "model": selected.arm.model,
            "verdict": selected.verdict or "undecided", **dict(case.variation),
        }  # fmt: skip
        lines = tuple(
            ComparedLine(
                turn.role,
                turn.text,
                {one.dimension: one.value for one in turn.tactic if isinstance(one.value, str)},
                turn.kind == _FIXED,
            )
            for turn in selected.dialogue.turns
        )
        yield ComparedDialogue(case.scenario, lines, case.language, traits)


def dialogues_of_rows(rows: RowSet) -> Iterator[ComparedDialogue]:
    """Yield the dialogues of rows that hold one each, in whatever of the usual formats.

    Raises:
        UsageError: a row has no lines of a dialogue.
    """
    alike: Counter[str] = Counter()
    for number, row in enumerate(rows.rows(), start=1):
        lists = [them for name in LISTS if isinstance(them := row.get(name), list)]
        if not lists:
            raise UsageError(
                f"{rows.name}: row {number} holds no lines of a dialogue",
                f"a row is a dialogue, and its lines a list in {', '.join(LISTS[:-1])} or"
                f" {LISTS[-1]}; a run, or what hipo export --to dialogues writes, will do, too",
            )
        listed = max(lists, key=bool)  # the first that is not empty
        read = [line for place, said in enumerate(listed) if (line := _line(said, place))]
        lines = tuple(line for line in read if line.role not in _NOBODY)
        traits = {name: value for name, value in row.items() if isinstance(value, str)}
        cluster = traits.get("scenario") or _own_cluster(rows.name, lines, traits, alike)
        wordless = len(listed) - len(read)
        yield ComparedDialogue(cluster, lines, traits.get("language") or None, traits, wordless)


def _own_cluster(
    name: str, lines: Iterable[ComparedLine], traits: Mapping[str, str], alike: Counter[str]
) -> str:
    """Return what a dialogue of no scenario is resampled as: itself, wherever its row stands.

    ``alike`` counts the dialogues that are the same in all, each of which is one of its own.
    """
    listed = [[line.role, line.text, dict(line.labels), line.fixed] for line in lines]
    said = content_id([listed, dict(traits)])
    alike[said] += 1
    return f"{name}: {said} {alike[said]}"


def _line(said: object, place: int) -> ComparedLine | None:
    """Return a line of a row; None for what holds no text, such as a call of a tool.

    Where nobody is named two people take turns.
    """
    record = said if isinstance(said, Mapping) else {_TEXTS[0]: said}
    text = next((text for name in _TEXTS if (text := _text(record.get(name))).strip()), None)
    if text is None:
        return None
    labels = record.get("labels")
    named = labels.items() if isinstance(labels, Mapping) else ()
    return ComparedLine(
        next((str(who) for name in _ROLES if _names(who := record.get(name))), "AB"[place % 2]),
        text,
        {str(name): value for name, value in named if isinstance(value, str)},
        record.get("kind") == _FIXED,
    )


def _text(value: object) -> str:
    """Return a text, or the texts of the parts that a message may consist of; else nothing."""
    if isinstance(value, list):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in value]
        return "\n".join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _names(who: object) -> bool:
    """Return whether this says who speaks: a name, or a number."""
    return bool(who) if isinstance(who, str) else type(who) is int
