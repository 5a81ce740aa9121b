"""Read the turns of many dialogues at once, with as much of their labels as is needed."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import orjson

from pipeline.store.annotation_schema import DECLARED_SOURCE, WANTED_SOURCE
from pipeline.store.sqlite import parsing
from pipeline.store.traces import label_from, trace_from
from scenarios.dialogue import TacticLabel, Trace, Turn
from scenarios.terms import LabelValue, RoleKey

Place = tuple[int, int]
"""Number of a dialogue, and index of a turn."""
Labels = dict[Place, tuple[TacticLabel, ...]]
DecidedLabels = Mapping[int, Mapping[str, LabelValue]]
"""What experts decided on a dialogue: by index of the turn, the label of each dimension."""
_NOTHING_DECIDED: Mapping[int, DecidedLabels] = {}

_OF = "dialogue in (select value from json_each(?))"
_TURNS = f"""
    select dialogue, turn, role, kind, text, declared_goal, labelled from turns
    where {_OF} order by dialogue, turn"""  # noqa: S608 - constants only
_LABELS = f"""
    select dialogue, turn, dimension, value, rationale, raw from annotations
    where source = {DECLARED_SOURCE} and {_OF} order by dialogue, turn, position"""  # noqa: S608
_LABELS_AS_TEXT = f"""
    select dialogue, turn, group_concat(dimension || quote(value)) from annotations
    where source = {DECLARED_SOURCE} and {_OF} group by dialogue, turn"""  # noqa: S608
_LABELS_OF_TURN = f"""
    select dimension, value from annotations
    where source = {DECLARED_SOURCE} and dialogue = ? and turn = ? order by position"""  # noqa: S608
_WANTED = f"""
    select dialogue, turn, dimension, value from annotations
    where source = {WANTED_SOURCE} and {_OF} order by dialogue, turn, position"""  # noqa: S608
_TRACES = f"select dialogue, turn, trace from traces where {_OF}"  # noqa: S608 - constants only
_CACHED = 10_000
"""Objects that occur again and again are kept, up to so many of a kind."""


class TurnReader:
    """Turns, labels and traces by number of the dialogue."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        """Read with the given connection."""
        self._reader = reader
        self._dimensions: dict[int, str] = {}
        self._known: dict[str, tuple[TacticLabel, ...]] = {}
        self._openings: dict[tuple[int, str], Turn] = {}

    def turns(
        self,
        dialogues: Sequence[int],
        *,
        traces: bool,
        wanted: bool,
        rationales: bool,
        labels: bool = True,
        decided: Mapping[int, DecidedLabels] = _NOTHING_DECIDED,
        undeclared: Collection[str] = (),
    ) -> defaultdict[int, list[Turn]]:
        """Return the turns of some hundreds of dialogues, by the number of the dialogue.

        Args:
            dialogues: the numbers.
            traces: whether turns come with how they were chosen.
            wanted: whether turns come with the labels they were asked for.
            rationales: whether labels come with their reasons, and with how they were spelled.
            labels: whether turns come with the labels that were declared.
            decided: by dialogue, labels that stand in place of those that were declared.
            undeclared: dimensions of which they also stand beside declared labels of others.
        """
        numbers = orjson.dumps(dialogues).decode()
        with parsing(self._reader, "a turn"):
            self._dimensions = dict(self._reader.execute("select seq, id from dimensions"))
            declared: Labels = {}
            if labels:
                declared = self._labels(numbers) if rationales else self._bare_labels(numbers)
            for seq in dialogues:
                for turn, settled in decided.get(seq, {}).items():
                    place = (seq, turn)
                    declared[place] = _corrected(declared.get(place, ()), settled, undeclared)
            asked = self._wanted(numbers) if wanted else {}
            how = self._traces(numbers) if traces else {}
            return self._read(numbers, declared, asked, how)

    def _read(
        self,
        numbers: str,
        labels: Labels,
        asked: Mapping[Place, tuple[tuple[str, str], ...]],
        how: Mapping[Place, Trace],
    ) -> defaultdict[int, list[Turn]]:
        """Join turns with what belongs to them."""
        turns: defaultdict[int, list[Turn]] = defaultdict(list)
        # At once: the page is small, and asking row by row is a call for each.
        rows = self._reader.execute(_TURNS, (numbers,)).fetchall()
        for seq, index, role, kind, text, goal, flag in rows:
            place, labelled = (seq, index), None if flag is None else bool(flag)
            tactic = labels.get(place)
            if tactic is None and goal is None and place not in asked and place not in how:
                turns[seq].append(  # most turns: nothing was declared
                    self._opening(index, role, text)
                    if kind == "opening" and labelled is None
                    else Turn(index, role, text, kind, labelled=labelled)
                )
                continue
            turns[seq].append(
                Turn(
                    index,
                    role,
                    text,
                    kind,
                    asked.get(place, ()),
                    None if goal is None else label_from(goal),
                    tactic or (),
                    how.get(place),
                    labelled,
                )
            )
        return turns

    def _opening(self, index: int, role: RoleKey, text: str) -> Turn:
        """Return an opening turn: a scenario has few, so each is made once."""
        turn = self._openings.get((index, text))
        if turn is None:
            if len(self._openings) >= _CACHED:
                self._openings.clear()
            turn = self._openings[index, text] = Turn(index, role, text, "opening")
        return turn if turn.role == role else Turn(index, role, text, "opening")

    def _labels(self, numbers: str) -> Labels:
        labels: defaultdict[Place, list[TacticLabel]] = defaultdict(list)
        rows = self._reader.execute(_LABELS, (numbers,)).fetchall()
        names = self._dimensions
        for seq, turn, dimension, value, rationale, raw in rows:
            label = TacticLabel(names[dimension], label_from(value), rationale, raw)
            labels[seq, turn].append(label)
        return {place: tuple(of_turn) for place, of_turn in labels.items()}

    def _bare_labels(self, numbers: str) -> Labels:
        """Return labels without reasons: the same few come again, so they are made only once."""
        labels: Labels = {}
        known, names = self._known, self._dimensions
        for seq, turn, text in self._reader.execute(_LABELS_AS_TEXT, (numbers,)).fetchall():
            tactic = known.get(text)
            if tactic is None:
                if len(known) >= _CACHED:
                    known.clear()
                rows = self._reader.execute(_LABELS_OF_TURN, (seq, turn))
                tactic = tuple(TacticLabel(names[d], label_from(v)) for d, v in rows)
                known[text] = tactic
            labels[seq, turn] = tactic
        return labels

    def _wanted(self, numbers: str) -> dict[Place, tuple[tuple[str, str], ...]]:
        wanted: defaultdict[Place, list[tuple[str, str]]] = defaultdict(list)
        for seq, turn, dimension, value in self._reader.execute(_WANTED, (numbers,)):
            wanted[seq, turn].append((self._dimensions[dimension], str(label_from(value))))
        return {place: tuple(of_turn) for place, of_turn in wanted.items()}

    def _traces(self, numbers: str) -> dict[Place, Trace]:
        rows = self._reader.execute(_TRACES, (numbers,))
        return {(seq, turn): trace_from(text) for seq, turn, text in rows}


def _corrected(
    tactic: Sequence[TacticLabel],
    decided: Mapping[str, LabelValue],
    undeclared: Collection[str],
) -> tuple[TacticLabel, ...]:
    """Return the labels of an utterance with those that were decided on in their place.

    A label that was replaced has no rationale: the speaker gave one for another label. Where nothing
    was declared, as in imported dialogues, what was decided is all there is.
    """
    if not tactic:
        return tuple(TacticLabel(dimension, value) for dimension, value in decided.items())
    declared = {label.dimension for label in tactic}
    return (
        *(
            TacticLabel(label.dimension, decided[label.dimension])
            if decided.get(label.dimension, label.value) != label.value
            else label
            for label in tactic
        ),
        *(TacticLabel(d, decided[d]) for d in decided if d in undeclared and d not in declared),
    )
