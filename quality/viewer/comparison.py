"""Two dialogues of one case side by side: of two strategies or models, or of two runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quality.viewer.listing import arm_names
from quality.viewer.shown_dialogue import ShownDialogue, ShownTurn, shown_dialogue
from quality.viewer.viewed_run import ViewedRun


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """A dialogue that can be put on one side."""

    key: str
    """``RUN:case/arm``, the number of the run being that of its address."""
    name: str
    run: int


@dataclass(frozen=True, slots=True)
class ComparedDialogues:
    """Two dialogues, utterance by utterance."""

    left: ShownDialogue
    right: ShownDialogue
    rows: tuple[tuple[ShownTurn | None, ShownTurn | None, bool], ...]
    """(left, right, whether the texts are the same)."""


def sides(runs: Sequence[ViewedRun], number: int, case: str) -> list[ComparedSide]:
    """Return every dialogue of a case: of all arms of its run, then of the other runs.

    In another run it is the dialogues of the same case, or, where that has none, of a case that
    differs in the seed or in the state of the scenario alone.

    Args:
        runs: that are looked at.
        number: of the run that the case is taken from, from 1.
        case: its id.
    """
    kind = runs[number - 1].reader.kind_of(case)
    if kind is None:
        return []
    found = []
    order = [number, *(n for n in range(1, len(runs) + 1) if n != number)]
    for other in order:
        run = runs[other - 1]
        there = run.reader.arms_of(case)
        if not there and other != number:
            there = run.reader.alike(kind)
        names = arm_names(run.arms)
        for one, arm in there:
            name = names.get(arm, arm)
            title = f"{run.name}: {name}" if len(runs) > 1 else name
            found.append(ComparedSide(f"{other}:{one}/{arm}", title, other))
    return found


def side_by_side(
    runs: Sequence[ViewedRun], left: ComparedSide, right: ComparedSide
) -> ComparedDialogues:
    """Put two dialogues side by side; the turns of the longer one go on alone."""
    first, second = (_shown(runs, side) for side in (left, right))
    rows = []
    for place in range(max(len(first.turns), len(second.turns))):
        one = first.turns[place] if place < len(first.turns) else None
        other = second.turns[place] if place < len(second.turns) else None
        same = one is not None and other is not None and one.text == other.text
        rows.append((one, other, same))
    return ComparedDialogues(first, second, tuple(rows))


def _shown(runs: Sequence[ViewedRun], side: ComparedSide) -> ShownDialogue:
    run = runs[side.run - 1]
    return shown_dialogue(run, run.store.dialogue(side.key.partition(":")[2]))
