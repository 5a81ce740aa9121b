"""The dialogues of a run or of a data set, as lines that are compared with other lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from outputs.contamination.comparable import Row
from outputs.contamination.contamination import RowSet
from outputs.selecting.selection import OpenSelection
from scenarios.errors import UsageError

LISTS: Final = ("turns", "messages", "conversations", "dialogue", "dialog", "utterances")
"""Columns of rows that hold the lines of a dialogue."""
_TEXTS: Final = ("text", "content", "value", "utterance")
_ROLES: Final = ("role", "from", "speaker")
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
    for number, row in enumerate(rows.rows(), start=1):
        listed = next((them for name in LISTS if isinstance(them := row.get(name), list)), None)
        if listed is None:
            raise UsageError(
                f"{rows.name}: row {number} holds no lines of a dialogue",
                f"a row is a dialogue, and its lines a list in {', '.join(LISTS[:-1])} or"
                f" {LISTS[-1]}; a run, or what hipo export --to dialogues writes, will do, too",
            )
        lines = tuple(
            line
            for place, said in enumerate(listed)
            if (line := _line(said, place)) is not None and line.role != "system"
        )
        traits = {name: value for name, value in row.items() if isinstance(value, str)}
        cluster = traits.get("scenario") or f"{rows.name}: row {number}"
        yield ComparedDialogue(cluster, lines, traits.get("language"), traits)


def _line(said: object, place: int) -> ComparedLine | None:
    """Return a line of a row; None for what holds no text, such as a call of a tool."""
    if isinstance(said, str):
        return ComparedLine("AB"[place % 2], said)
    if not isinstance(said, Mapping):
        return None
    text = _first(said, _TEXTS)
    if not text:
        return None
    labels = said.get("labels")
    named = labels.items() if isinstance(labels, Mapping) else ()
    return ComparedLine(
        _first(said, _ROLES) or "",
        text,
        {str(name): value for name, value in named if isinstance(value, str)},
        said.get("kind") == _FIXED,
    )


def _first(record: Row, names: Sequence[str]) -> str | None:
    return next((value for name in names if isinstance(value := record.get(name), str)), None)
