"""Read the dialogues of a run that pass a filter, with their verdicts, as they were at one moment."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from pipeline.store.annotation_schema import DECLARED_SOURCE
from pipeline.store.annotations import sent
from pipeline.store.case_rows import CASE_COLUMNS, case_from
from pipeline.store.migrations import check_current
from pipeline.store.queries.turns import DecidedLabels, TurnReader
from pipeline.store.sqlite import DATABASE, connect_readonly, parsing
from pipeline.store.traces import label_from
from scenarios.annotations import IMPORT
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.terms import LabelValue
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
_FILTERS += (
    " and (:outdated is null"
    " or c.scenario_fingerprint not in (select value from json_each(:outdated)))"
)
# Put together of constants; what is asked for is bound by name.
_PAGE_OF_DIALOGUES = f"""
    select d.seq, d.case_seq, d.arm_seq, a.id, {_NEWEST} as verdict, d.config_epoch, {_CASE}
    from dialogues d join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where (d.case_seq, d.arm_seq) > (:case_seq, :arm_seq) and d.status = 'generated'
        and d.seq <= :dialogues and {_FILTERS}
    order by d.case_seq, d.arm_seq limit {PAGE}"""  # noqa: S608
_VERDICTS = f"""
    select {_NEWEST} as verdict, count(*)
    from dialogues d join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where d.status = 'generated' and d.seq <= :dialogues and {_FILTERS} group by 1 order by 1"""  # noqa: S608
_GROUPS = """
    select c.scenario, {part}, c.goal, count(*), c.language
    from dialogues d join cases c on c.seq = d.case_seq
    where d.status = 'generated' and d.seq <= ? group by 1, 2, 3, 5 order by 1, 2, 3, 5"""
_LANGUAGES = """
    select distinct c.language from dialogues d join cases c on c.seq = d.case_seq
    where d.status = 'generated' and d.seq <= ? order by 1"""
# Cross joins are done in the order in which they are written: few dialogues first. The plus keeps the
# bound on d.seq from being looked up in place of the equality, which would go through every label.
# Labels are those of speakers and, where dialogues were imported with them, of annotators and gold:
# they are there from the first export on, as those of later reviews are not.
_LABEL_GROUPS = f"""
    select c.scenario, {{part}}, x.id, l.value, count(*)
    from dialogues d cross join cases c on c.seq = d.case_seq
        cross join annotations l on l.dialogue = +d.seq and l.source in (
            select seq from label_sources where seq = {DECLARED_SOURCE}
                or kind in ('human', 'adjudicated') and config like '{IMPORT}%')
        cross join dimensions x on x.seq = l.dimension
    where d.status = 'generated' and d.seq <= ? and d.seq % ? = 0 and typeof(l.value) = 'text'
    group by 1, 2, 3, 4 order by 1, 2, 3, 4"""  # noqa: S608 - constants only

# Quizzes are answered without the private fact, which veracity has no meaning without.
_REVIEWED = f"""(g.config like '{IMPORT}%'
    or g.config in (select id from studies where mode = 'review'))"""  # noqa: S608 - constants only
_DECIDED = f"""
    select g.dialogue, g.turn, x.id, g.value
    from newest_annotations g join dimensions x on x.seq = g.dimension
    where g.kind = 'adjudicated' and {_REVIEWED} order by g.pass"""  # noqa: S608 - constants only
_PEOPLE = f"""
    select g.dialogue, g.turn, x.id, g.value
    from newest_annotations g join dimensions x on x.seq = g.dimension
    where g.kind = 'human' and {_REVIEWED} and g.turn >= 0 and g.part is null and g.value is not null
        and {sent("g")}
        and not exists (select 1 from annotations l where l.source = {DECLARED_SOURCE}
            and l.dialogue = g.dialogue and l.turn = g.turn and l.dimension = g.dimension)
    order by g.pass, g.turn, g.position"""  # noqa: S608 - constants only
_WHOLE = -1
"""Stands for the turn in labels of the dialogue as a whole."""
Readings = Mapping[str, tuple[LabelValue, ...]]
"""By dimension, the labels that people gave to one turn."""
Wanted = Callable[[Case, str], bool]
"""Says of a case and an arm whether their dialogue is to be read."""


@dataclass(frozen=True, slots=True)
class CorpusFilter:
    """Which dialogues are read; None leaves a field unrestricted."""

    verdicts: tuple[Verdict, ...] | None = None
    """Newest verdicts; None takes dialogues that nobody has decided on, too."""
    arms: tuple[str, ...] | None = None
    scenarios: tuple[str, ...] | None = None
    goals: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    outdated: tuple[str, ...] | None = None
    """Fingerprints of scenarios of which no dialogues are read."""


@dataclass(frozen=True, slots=True)
class CorpusEntry:
    """One dialogue, and the newest verdict on it."""

    dialogue: Dialogue
    verdict: Verdict | None
    adjudicated: frozenset[int] = frozenset()
    """Indices of turns with labels that an expert decided on; always empty if they were not read."""
    decided: DecidedLabels = field(default_factory=dict)
    """By index of the turn what an expert decided on; empty if it was not read."""
    settled: Mapping[str, LabelValue] = field(default_factory=dict)
    """By dimension, what an expert decided on the dialogue as a whole; empty if it was not read."""
    people: Mapping[int, Readings] = field(default_factory=dict)
    """By index of the turn, what people said on dimensions that no speaker declared; empty if it was
    not read."""

    def expert_goal(self, assigned: str) -> str | None:
        """Return what an expert decided on the dimension that is assigned; None: nothing."""
        goal = self.settled.get(assigned)
        return goal if isinstance(goal, str) else None


@dataclass(frozen=True, slots=True)
class GroupTally:
    """How many dialogues, or labels of one kind, a scenario and fact have, or a case."""

    scenario: str
    part: str
    """Of the scenario: a fact, or a case where cases are counted."""
    dimension: str | None
    """None: ``label`` is the goal and dialogues are counted."""
    label: str
    n: int
    language: str = ""
    """Of the dialogues; labels are counted in all languages."""


class CorpusReader:
    """One run at the moment it was opened: what is added later is not seen."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        """Remember how far the run is."""
        self._reader = reader
        self._turns = TurnReader(reader)
        self._decided = _read_decided(reader)
        self._people = _read_people(reader)
        (self._dialogues,) = reader.execute(
            "select coalesce(max(seq), 0) from dialogues"
        ).fetchone()
        (self._decisions,) = reader.execute(
            "select coalesce(max(seq), 0) from decisions"
        ).fetchone()
        # A case that is played again keeps its number.
        self._failed = {
            seq for (seq,) in reader.execute("select seq from dialogues where status = 'failed'")
        }

    def entries(
        self,
        kept: CorpusFilter,
        *,
        traces: bool = False,
        wanted: bool = False,
        labels: bool = True,
        rationales: bool = True,
        adjudicated: bool = False,
        undeclared: Collection[str] = (),
        only: Wanted | None = None,
    ) -> Iterator[CorpusEntry]:
        """Yield the dialogues that pass, in the order of cases and arms, in constant memory.

        Args:
            kept: the filter.
            traces: whether turns come with how they were chosen.
            wanted: whether turns come with the labels they were asked for.
            labels: whether turns come with the labels that were declared.
            rationales: whether labels come with their reasons, and with how they were spelled.
            adjudicated: whether labels an expert decided on stand in place of the declared ones, and
                what people said is read.
            undeclared: dimensions of which an expert's label stands beside declared ones of others.
            only: is asked about each that passes, in that order; None reads all of them.
        """
        place = {"case_seq": -1, "arm_seq": -1}
        fixed = {"dialogues": self._dialogues, "decisions": self._decisions, **_values(kept)}
        while True:
            rows = self._reader.execute(_PAGE_OF_DIALOGUES, fixed | place).fetchall()
            if not rows:
                return
            place = {"case_seq": rows[-1][1], "arm_seq": rows[-1][2]}
            with parsing(self._reader, "a case"):
                read = [
                    (row[0], case_from(row[6:]), row[3], row[4], row[5])
                    for row in rows
                    if row[0] not in self._failed
                ]
            page = [one for one in read if only is None or only(one[1], one[2])]
            turns = self._turns.turns(
                [seq for seq, *_ in page],
                traces=traces,
                wanted=wanted,
                labels=labels,
                rationales=rationales,
                decided=self._decided if adjudicated else {},
                undeclared=undeclared,
            )
            for seq, case, arm, verdict, config_epoch in page:
                dialogue = Dialogue(case, arm, tuple(turns[seq]), config_epoch)
                yield self._entry(seq, dialogue, verdict, adjudicated=adjudicated)

    def _entry(
        self, seq: int, dialogue: Dialogue, verdict: Verdict | None, *, adjudicated: bool
    ) -> CorpusEntry:
        if not adjudicated:
            return CorpusEntry(dialogue, verdict)
        by_turn = self._decided.get(seq, {})
        experts = frozenset(
            turn.index for turn in dialogue.turns if turn.tactic and turn.index in by_turn
        )
        settled, people = by_turn.get(_WHOLE, {}), self._people.get(seq, {})
        return CorpusEntry(dialogue, verdict, experts, by_turn, settled, people)

    def verdict_counts(self, kept: CorpusFilter) -> Counter[Verdict | None]:
        """Count the dialogues that pass by their newest verdict; None: nobody has decided."""
        fixed = {"dialogues": self._dialogues, "decisions": self._decisions, **_values(kept)}
        return Counter(dict(self._reader.execute(_VERDICTS, fixed).fetchall()))

    def tallies(self, *, by_case: bool = False) -> list[GroupTally]:
        """Count generated dialogues by scenario, fact (or case), goal and language, whatever the verdict."""
        rows = self._reader.execute(_GROUPS.format(part=_part(by_case)), (self._dialogues,))
        return [GroupTally(scenario, part, None, *rest) for scenario, part, *rest in rows]

    def languages(self) -> list[str]:
        """Return the codes of the languages that there are dialogues in."""
        rows = self._reader.execute(_LANGUAGES, (self._dialogues,))
        return [code for (code,) in rows]

    def every_tally(self, *, by_case: bool = False) -> list[GroupTally]:
        """Count dialogues and labels; see :meth:`tallies` and :meth:`label_tallies`."""
        return [*self.tallies(by_case=by_case), *self.label_tallies(by_case=by_case)]

    def label_tallies(self, *, by_case: bool = False) -> list[GroupTally]:
        """Count declared and imported labels by scenario and fact (or case), many in an even sample."""
        step = max(1, self._dialogues // SAMPLE)
        statement = _LABEL_GROUPS.format(part=_part(by_case))
        return [
            GroupTally(*row) for row in self._reader.execute(statement, (self._dialogues, step))
        ]


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


def _part(by_case: bool) -> str:
    return "c.id" if by_case else "c.fact"


def _values(kept: CorpusFilter) -> dict[str, str | None]:
    """Return the filter as named values of the statement."""
    fields = {
        "verdicts": kept.verdicts,
        "arms": kept.arms,
        "scenarios": kept.scenarios,
        "goals": kept.goals,
        "languages": kept.languages,
        "outdated": kept.outdated,
    }
    return {k: None if v is None else orjson.dumps(v).decode() for k, v in fields.items()}


def _read_decided(reader: sqlite3.Connection) -> Mapping[int, DecidedLabels]:
    """Return what experts decided, by dialogue; people are slow, so there is little."""
    decided: dict[int, dict[int, dict[str, LabelValue]]] = {}
    for dialogue, turn, dimension, value in reader.execute(_DECIDED):
        with parsing(reader, "a label"):
            of_dialogue = decided.setdefault(dialogue, {})
            of_dialogue.setdefault(turn, {})[dimension] = label_from(value)
    return decided


def _read_people(reader: sqlite3.Connection) -> dict[int, dict[int, Readings]]:
    """Return what people said where no speaker did, by dialogue and turn."""
    given: defaultdict[tuple[int, int, str], list[LabelValue]] = defaultdict(list)
    for dialogue, turn, dimension, value in reader.execute(_PEOPLE):
        with parsing(reader, "a label"):
            given[dialogue, turn, dimension].append(label_from(value))
    people: defaultdict[int, dict[int, dict[str, tuple[LabelValue, ...]]]] = defaultdict(dict)
    for (dialogue, turn, dimension), values in given.items():
        people[dialogue].setdefault(turn, {})[dimension] = tuple(values)
    return dict(people)  # type: ignore[arg-type]  # only read from here on
