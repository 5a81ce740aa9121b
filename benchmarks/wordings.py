"""How many wordings of refusals and of goals the gates find, and how many like words of people they flag."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.report import Goal, Row
from prompts.refusals import refusal_in
from quality.gates.goal_stated import goal_in
from scenarios.schemes.registry import load_scheme

FOLDER = Path(__file__).parent / "data" / "wordings"
AFTERWARDS = "afterwards"
"""The folder of lines that were written after what models missed or flagged in vain: every model is
trained with them, and no rate of lines that it does not know counts them."""
LISTS = ("seen", "unseen")
"""Folders of lines: those that the gates were trained with, and those that nobody trains them with."""
GATES_OF = {
    "refusal": ("refusal",),
    "goal_stated": ("goal_stated",),
    "clean_refusal": ("refusal", "goal_stated"),
    "clean_goal": ("refusal", "goal_stated"),
}
"""Files of lines, and the gates that look at them; nothing in those of the clean ones is to be found."""
FEWEST_FOUND = 0.9
MOST_FALSE = 0.02


def authors() -> list[str]:
    """Return the folders of lines that the gates were trained with, one an author."""
    folders = (path.name for path in (FOLDER / "seen").iterdir() if path.is_dir())
    return sorted(name for name in folders if name != AFTERWARDS)


def lines(listed: str, name: str) -> list[str]:
    """Return the lines of all files of a name in a folder and those below; none where there are none."""
    return [
        json.loads(line)["text"]
        for path in sorted((FOLDER / listed).rglob(f"{name}.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def is_flagged(gate: str, text: str) -> bool:
    """Tell whether a gate flags a line under the goals of ``hipo``."""
    if gate == "refusal":
        return refusal_in(text) is not None
    return goal_in(text, load_scheme("hipo")) is not None


def rate(listed: str, name: str, gate: str) -> float:
    """Return the share of the lines of a file that a gate flags."""
    some = lines(listed, name)
    return sum(is_flagged(gate, text) for text in some) / len(some)


def bound(name: str) -> Goal:
    """Return what the rate of a file has to keep."""
    return Goal.below(MOST_FALSE) if name.startswith("clean") else Goal.above(FEWEST_FOUND)


def rows() -> list[Row]:
    """Return the rates of all files that are there."""
    return [
        Row(f"gates: {gate} in {listed} lines of {name}", rate(listed, name, gate), "", bound(name))
        for listed in LISTS
        for name, gates in GATES_OF.items()
        if lines(listed, name)
        for gate in gates
    ]
