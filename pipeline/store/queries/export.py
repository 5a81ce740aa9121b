"""Read the dialogues of a run that pass a filter, with their verdicts, as they were at one moment."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from pipeline.store.cases import CASE_COLUMNS, case_from
from pipeline.store.corrections import Place, corrected, read_corrections
from pipeline.store.migrations import check_current
from pipeline.store.sqlite import DATABASE, connect_readonly
from pipeline.store.traces import label_from, trace_from
from scenarios.case import Case
from scenarios.dialogue import Dialogue, TacticLabel, Trace, Turn
from scenarios.spec import RoleKey
from scenarios.verdicts import Verdict

PAGE = 500
"""Dialogues read at once: no reader keeps the database from being tidied up for long."""
SAMPLE = 5_000
"""About so many dialogues are looked at where an estimate of how labels are spread will do."""

_CASE = ", ".join(f"c.{column.strip()}" for column in CASE_COLUMNS.split(","))
_ONE_OF = "(:{0} is null or {1} in (select value from json_each(:{0})))"
_NEWEST = (
    "(select verdict from decisions e where e.dialogue = d.seq and e.seq <= :decisions"
    " order by e.seq desc limit 1)"
)
_FILTERS = " and ".join(
    _ONE_OF.format(name, column)
    for name, column in (
        ("arms", "a.id"), ("scenarios", "c.scenario"), ("goals", "c.goal"),
        ("languages", "c.language"), ("verdicts", "verdict"),
    )
)  # fmt: skip
# Put together of constants; what is asked for is bound by name.
_PAGE_OF_DIALOGUES = f"""
    select d.seq, d.case_seq, d.arm_seq, a.id, {_NEWEST} as verdict, {_CASE}
    from dialogues d join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where (d.case_seq, d.arm_seq) > (:case_seq, :arm_seq) and d.status = 'generated'
        and d.seq <= :dialogues and {_FILTERS}
    order by d.case_seq, d.arm_seq limit {PAGE}"""  # noqa: S608
_TURNS = """
    select dialogue, turn, role, kind, text, declared_goal from turns
    where dialogue in (select value from json_each(?)) order by dialogue, turn"""
_OF_SOURCE = """
    from labels where dialogue in (select value from json_each(?)) and source = '{}'
    order by dialogue, turn, source, position"""
_LABELS = "select dialogue, turn, dimension, value, rationale, raw" + _OF_SOURCE.format("declared")
_LABELS_AS_TEXT = """
    select dialogue, turn, group_concat(dimension || quote(value)) from labels
    where dialogue in (select value from json_each(?)) and source = 'declared'
    group by dialogue, turn"""
_LABELS_OF_TURN = """
    select dimension, value from labels where dialogue = ? and turn = ? and source = 'declared'
    order by position"""
_ASKED = "select dialogue, turn, dimension, value" + _OF_SOURCE.format("wanted")
_TRACES = (
    "select dialogue, turn, trace from traces where dialogue in (select value from json_each(?))"
)
_GROUPS = """
    select c.scenario, c.fact, c.goal, count(*)
    from dialogues d join cases c on c.seq = d.case_seq
    where d.status = 'generated' and d.seq <= ? group by 1, 2, 3 order by 1, 2, 3"""
# Cross joins are done in the order in which they are written: few dialogues first.
_LABEL_GROUPS = """
    select c.scenario, c.fact, l.dimension, l.value, count(*)
    from dialogues d cross join cases c on c.seq = d.case_seq cross join labels l on l.dialogue = d.seq
    where d.status = 'generated' and d.seq <= ? and d.seq % ? = 0
        and l.source = 'declared' and typeof(l.value) = 'text'
    group by 1, 2, 3, 4 order by 1, 2, 3, 4"""

_NOBODY: frozenset[int] = frozenset()
_KNOWN = 10_000
"""Objects that occur again and again are kept, up to so many of a kind."""


@dataclass(frozen=True, slots=True)
class CorpusFilter:
    """Which dialogues are read; None leaves a field unrestricted."""

    verdicts: tuple[Verdict, ...] | None = None
    """Newest verdicts; None takes dialogues that nobody has decided on, too."""
    arms: tuple[str, ...] | None = None
    scenarios: tuple[str, ...] | None = None
    goals: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class CorpusEntry:
    """One dialogue, and the newest verdict on it."""

    dialogue: Dialogue
    verdict: Verdict | None
    adjudicated: frozenset[int] = frozenset()
    """Indices of turns with labels that an expert decided on; always empty if they were not read."""


@dataclass(frozen=True, slots=True)
class GroupTally:
    """How many dialogues, or labels of one kind, a scenario and fact have."""

    scenario: str
    fact: str
    dimension: str | None
    """None: ``label`` is the goal and dialogues are counted."""
    label: str
    n: int


class CorpusReader:
    """One run at the moment it was opened: what is added later is not seen."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        """Remember how far the run is."""
        self._reader = reader
        self._known: dict[str, tuple[TacticLabel, ...]] = {}
        self._openings: dict[tuple[int, str], Turn] = {}
        self._corrections = read_corrections(reader)
        (self._dialogues,) = reader.execute(
            "select coalesce(max(seq), 0) from dialogues"
        ).fetchone()
        (self._decisions,) = reader.execute(
            "select coalesce(max(seq), 0) from decisions"
        ).fetchone()

    def entries(
        self,
        kept: CorpusFilter,
        *,
        traces: bool = False,
        wanted: bool = False,
        rationales: bool = True,
        adjudicated: bool = False,
    ) -> Iterator[CorpusEntry]:
        """Yield the dialogues that pass, in the order of cases and arms, in constant memory.

        Args:
            kept: the filter.
            traces: whether turns come with how they were chosen.
            wanted: whether turns come with the labels they were asked for.
            rationales: whether labels come with their reasons, and with how they were spelled.
            adjudicated: whether labels an expert decided on stand in place of the declared ones.
        """
        place = {"case_seq": -1, "arm_seq": -1}
        fixed = {"dialogues": self._dialogues, "decisions": self._decisions, **_values(kept)}
        while True:
            rows = self._reader.execute(_PAGE_OF_DIALOGUES, fixed | place).fetchall()
            if not rows:
                return
            place = {"case_seq": rows[-1][1], "arm_seq": rows[-1][2]}
            numbers = orjson.dumps([row[0] for row in rows]).decode()
            labels = self._labels(numbers) if rationales else self._bare_labels(numbers)
            asked = self._asked(numbers) if wanted else {}
            how = self._traces(numbers) if traces else {}
            experts = self._correct(labels) if adjudicated and self._corrections else {}
            turns = self._turns(numbers, labels, asked, how)
            for row in rows:
                dialogue = Dialogue(_case(row[5:]), row[3], tuple(turns[row[0]]))
                yield CorpusEntry(dialogue, row[4], experts.get(row[0], _NOBODY))

    def _correct(self, labels: dict[Place, tuple[TacticLabel, ...]]) -> dict[int, frozenset[int]]:
        """Put what experts decided in place of declared labels; return whose turns that are."""
        turns: dict[int, frozenset[int]] = {}
        for place in self._corrections.keys() & labels.keys():
            labels[place] = corrected(labels[place], self._corrections[place])
            turns[place[0]] = turns.get(place[0], _NOBODY) | {place[1]}
        return turns

    def tallies(self) -> list[GroupTally]:
        """Count every generated dialogue by scenario, fact and goal, whatever the verdict."""
        rows = self._reader.execute(_GROUPS, (self._dialogues,))
        return [GroupTally(scenario, fact, None, goal, n) for scenario, fact, goal, n in rows]

    def label_tallies(self) -> list[GroupTally]:
        """Count declared labels by scenario and fact, in a sample evenly drawn where there are many."""
        step = max(1, self._dialogues // SAMPLE)
        rows = self._reader.execute(_LABEL_GROUPS, (self._dialogues, step))
        return [GroupTally(*row) for row in rows]

    def _turns(
        self,
        numbers: str,
        labels: Mapping[Place, tuple[TacticLabel, ...]],
        asked: Mapping[Place, Sequence[tuple[str, str]]],
        how: Mapping[Place, Trace],
    ) -> defaultdict[int, list[Turn]]:
        turns: defaultdict[int, list[Turn]] = defaultdict(list)
        for seq, index, role, kind, text, goal in self._reader.execute(_TURNS, (numbers,)):
            place = (seq, index)
            found = labels.get(place)
            if found is None and goal is None:  # most turns: nothing was declared
                turns[seq].append(
                    self._opening(index, role, text)
                    if kind == "opening"
                    else Turn(index, role, text, kind)
                )
                continue
            turns[seq].append(
                Turn(
                    index,
                    role,
                    text,
                    kind,
                    tuple(asked.get(place, ())),
                    None if goal is None else label_from(goal),
                    found or (),
                    how.get(place),
                )
            )
        return turns

    def _opening(self, index: int, role: RoleKey, text: str) -> Turn:
        """Return an opening turn: a scenario has few, so each is made once."""
        turn = self._openings.get((index, text))
        if turn is None:
            if len(self._openings) >= _KNOWN:
                self._openings.clear()
            turn = self._openings[index, text] = Turn(index, role, text, "opening")
        return turn if turn.role == role else Turn(index, role, text, "opening")

    def _labels(self, numbers: str) -> dict[Place, tuple[TacticLabel, ...]]:
        labels: defaultdict[Place, list[TacticLabel]] = defaultdict(list)
        rows = self._reader.execute(_LABELS, (numbers,))
        for seq, turn, dimension, value, rationale, raw in rows:
            label = TacticLabel(dimension, label_from(value), rationale, raw)
            labels[seq, turn].append(label)
        return {place: tuple(found) for place, found in labels.items()}

    def _bare_labels(self, numbers: str) -> dict[Place, tuple[TacticLabel, ...]]:
        """Return labels without reasons: the same few come again, so they are made only once."""
        labels: dict[Place, tuple[TacticLabel, ...]] = {}
        known = self._known
        for seq, turn, text in self._reader.execute(_LABELS_AS_TEXT, (numbers,)):
            found = known.get(text)
            if found is None:
                if len(known) >= _KNOWN:
                    known.clear()
                rows = self._reader.execute(_LABELS_OF_TURN, (seq, turn))
                found = known[text] = tuple(TacticLabel(d, label_from(v)) for d, v in rows)
            labels[seq, turn] = found
        return labels

    def _asked(self, numbers: str) -> dict[Place, list[tuple[str, str]]]:
        asked: dict[Place, list[tuple[str, str]]] = {}
        for seq, turn, dimension, value in self._reader.execute(_ASKED, (numbers,)):
            asked.setdefault((seq, turn), []).append((dimension, str(label_from(value))))
        return asked

    def _traces(self, numbers: str) -> dict[Place, Trace]:
        rows = self._reader.execute(_TRACES, (numbers,))
        return {(seq, turn): trace_from(text) for seq, turn, text in rows}


@contextmanager
def open_corpus(folder: Path) -> Iterator[CorpusReader]:
    """Open the corpus of a run for reading; nobody is kept from writing meanwhile.

    Raises:
        UsageError: the run was written by an older or newer hipo.
    """
    path = folder / DATABASE
    with closing(connect_readonly(path)) as connection:
        check_current(connection, path)
        yield CorpusReader(connection)


def _values(kept: CorpusFilter) -> dict[str, str | None]:
    """Return the filter as named values of the statement."""
    fields = {
        "verdicts": kept.verdicts,
        "arms": kept.arms,
        "scenarios": kept.scenarios,
        "goals": kept.goals,
        "languages": kept.languages,
    }
    return {k: None if v is None else orjson.dumps(v).decode() for k, v in fields.items()}


def _case(row: Sequence[Any]) -> Case:
    """Return the case whose columns these are; most have no variation to be parsed."""
    if row[8] != "[]":
        return case_from(row)
    case, scheme, scenario, mark, fact, goal, turns, language, _, repetition, seed = row
    return Case(case, scheme, scenario, mark, fact, goal, turns, language, (), repetition, seed)
