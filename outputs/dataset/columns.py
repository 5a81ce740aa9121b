"""The columns that every exported row has: provenance and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Protocol

from outputs.dataset.manifest import Column, ColumnKind
from outputs.selecting.people_labels import labelled_dimensions
from outputs.selecting.selection import SelectedDialogue
from scenarios.annotations import VERIFIER
from scenarios.dialogue import Turn
from scenarios.schemes.dimension import ROLE
from scenarios.schemes.model import Scheme
from scenarios.verdicts import Verdict

Row = dict[str, object]
"""One row, plain data; every row of a file has the same keys in the same order."""

EXPERT_GOAL = Column(
    "expert_goal",
    "text",
    "The goal that an expert decided on in review, which is the right label in place of the assigned"
    " one; null: no expert did.",
)
PROVENANCE: tuple[Column, ...] = (
    Column("id", "text", "Names the row; the same in every export of the same run."),
    Column(
        "fictional",
        "bool",
        "True: people, events and private facts are simulated; null: imported, so nobody here knows.",
    ),
    Column("run", "text", "The run that the dialogue is from."),
    Column("case", "text", "The case: scenario, fact, goal, length and seed, as a content hash."),
    Column("pair", "text", "The same hash without the goal: cases of a pair differ in it alone."),
    Column("arm", "text", "The arm: strategy, models and parameters, as a content hash."),
    Column("scenario", "text", "The scenario."),
    Column("category", "text", "The category of the scenario."),
    Column(
        "fact",
        "text",
        "The id of the private fact it is about; empty with a flow, where all know their own.",
    ),
    Column("goal", "text", "The goal that was assigned to whoever is labelled."),
    EXPERT_GOAL,
    Column("language", "text", "The language of the dialogue (BCP 47)."),
    Column("strategy", "text", "How the labelled utterances were generated."),
    Column("model", "text", "The model that spoke for whoever is labelled."),
    Column("verdict", "text", "What was decided on the dialogue; undecided where nothing was."),
)
TURN = Column("turn", "int", "Index of the utterance in its dialogue, from 0; null for all of it.")
LABELLED_BY = Column(
    "labelled_by",
    "text",
    "Whose labels: speaker (declared with the words), expert (decided in review; what the expert did"
    " not decide on is what most people say), people (what most of them say), verifier (a program that"
    " checked what was said); of a whole dialogue expert, where one decided on its goal; null: no labels,"
    " or the assigned goal.",
)
SOURCES: Final = "sources"
"""The column that says whose label each is."""
_KINDS: dict[str, ColumnKind] = {"interval": "float", "multi": "texts"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source of rows needs to be read with a dialogue."""

    traces: bool = False
    wanted: bool = False
    rationales: bool = False
    settled: bool = True
    """Whether turns have the labels that an expert decided on or most people gave; else those of
    speakers alone, and nothing is told of a set about the settled ones."""
    verdicts: tuple[Verdict, ...] = ("accepted",)
    """Taken where only accepted dialogues are selected."""


class RowSource(Protocol):
    """Something that makes rows of dialogues.

    It may have more, which is asked for with a default:

    - ``notes()``: what was left out so far, and why, in sentences.
    - ``why_none(selected)``: why it made no row of a dialogue of the batch whose rows were made last, as a
      key of ``outputs.selecting.left_out.WORDS`` or in plain words; empty: unknown.
    - ``repeats``: how many rows it has left out so far because they say what an earlier one says.
    - ``repeated``: how many rows so far say what an earlier one says, and stay.
    - ``rows_left_out``: how many rows it has left out so far for other reasons, by reason.
    - ``labelled(selected)``: a dialogue of that batch with the labels of its rows, where they are others.
    """

    @property
    def subset(self) -> str:
        """What the rows are for."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row, in order."""

    @property
    def reading(self) -> Reading:
        """What has to be read."""

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the rows of the dialogues of one case, one per arm that played it."""


def by_case(dialogues: Iterable[SelectedDialogue]) -> Iterator[list[SelectedDialogue]]:
    """Yield the dialogues of each case of a run together."""
    for _, batch in groupby(dialogues, key=_run_and_case):
        yield list(batch)


def provenance(selected: SelectedDialogue) -> Row:
    """Return where a dialogue comes from: the columns of :data:`PROVENANCE` but ``id``."""
    case = selected.dialogue.case
    return {
        "fictional": None if selected.arm.is_imported else True,
        "run": selected.source.name,
        "case": case.id,
        "pair": case.pair,
        "arm": selected.dialogue.arm,
        "scenario": case.scenario,
        "category": selected.scenario.category,
        "fact": case.fact,
        "goal": case.goal,
        EXPERT_GOAL.name: selected.expert_goal,
        "language": case.language,
        "strategy": selected.arm.strategy,
        "model": selected.arm.model,
        "verdict": selected.verdict or "undecided",
    }


def right_goal(row: Row) -> object:
    """Return the goal that a row is labelled with: the expert's, else the assigned one."""
    decided = row.get(EXPERT_GOAL.name)
    return row["goal"] if decided is None else decided


def label_columns(scheme: Scheme) -> tuple[Column, ...]:
    """Return one column per dimension of turns, for filtering and balancing, and whose they are.

    Runs of turns have labels of people alone.
    """
    return (
        *(
            Column(
                label_column(d.id),
                _KINDS.get(d.measurement, "text"),
                f"{(d.title or d.id).rstrip('.')} of the utterance; null where there is none.",
            )
            for d in labelled_dimensions(scheme)
        ),
        LABELLED_BY,
    )


def label_column(dimension: str) -> str:
    """Return the name of the column that holds the labels of an utterance dimension."""
    return f"label_{dimension}"


class LabelValues:
    """The values of the label columns."""

    def __init__(self, scheme: Scheme) -> None:
        """Name the columns once."""
        self._columns = {d.id: label_column(d.id) for d in labelled_dimensions(scheme)}
        self._nothing: Row = dict.fromkeys((*self._columns.values(), LABELLED_BY.name))

    def of(self, selected: SelectedDialogue, turn: Turn | None) -> Row:
        """Return the labels of an utterance by column, nulls where it has none.

        Of a dialogue as a whole, for which ``turn`` is None, the goal alone may be labelled.
        """
        values = self._nothing.copy()
        if turn is None and selected.expert_goal is not None:
            values["labelled_by"] = "expert"
        if turn is not None and turn.tactic:
            for label in turn.tactic:
                if label.dimension in self._columns:
                    values[self._columns[label.dimension]] = label.value
            values["labelled_by"] = _labelled_by(selected, turn)
        return values


def sources_column(scheme: Scheme) -> Column:
    """Return the column that says of every label of an utterance whose it is."""
    return Column(
        SOURCES,
        "record",
        f"By dimension whose label it is, in the words of {LABELLED_BY.name}; null: there is none.",
        tuple(Column(d.id, "text", "Whose label.") for d in labelled_dimensions(scheme)),
    )


class LabelSources:
    """The values of :func:`sources_column`."""

    def __init__(self, scheme: Scheme) -> None:
        """Name the dimensions once."""
        self._nothing: Row = dict.fromkeys(d.id for d in labelled_dimensions(scheme))

    def of(self, selected: SelectedDialogue, turn: Turn | None) -> Row:
        """Return whose label each is; nulls where no utterance is labelled.

        Of an utterance on which an expert decided, others may have given the rest of the labels.
        """
        found = self._nothing.copy()
        if turn is None:
            return found
        whose = _labelled_by(selected, turn)
        decided = selected.decided.get(turn.index, ())
        for label in turn.tactic:
            if label.dimension in found:
                found[label.dimension] = whose
                if whose == "expert" and label.dimension not in decided:
                    by_people = label.dimension in selected.beside.get(turn.index, ())
                    found[label.dimension] = "people" if by_people else "speaker"
        return found


def _labelled_by(selected: SelectedDialogue, turn: Turn) -> str:
    if turn.index in selected.adjudicated:
        return "expert"
    if turn.index in selected.verified:
        return VERIFIER
    return "people" if turn.index in selected.people else "speaker"


def is_labelled(scheme: Scheme) -> Callable[[Turn], bool]:
    """Return a test for improvised utterances of labelled roles that lack no label.

    There has to be one on every dimension that concerns the role, but for those that are not asked
    beside the others.

    Source: HIPO, section 4.2: these are the benchmark utterances, the others are context.
    """
    dimensions = scheme.utterance_dimensions
    needed = len(dimensions)

    names = frozenset(dimension.id for dimension in dimensions)

    def test(turn: Turn) -> bool:
        # The labels first: most turns have none. Experts decide on more than speakers declare.
        more = len(turn.tactic) - needed
        return turn.is_answer and (
            more == 0 or (more > 0 and names <= {label.dimension for label in turn.tactic})
        )

    def test_by_role(turn: Turn) -> bool:
        found = {label.dimension: label.value for label in turn.tactic}
        known = {**found, ROLE: turn.role}
        return (
            bool(found)
            and turn.is_answer
            and all(
                d.id in found for d in dimensions if d.concerns(turn.role) and d.is_asked(known)
            )
        )

    conditional = any(d.when or d.of for d in dimensions) or bool(scheme.read_dimensions("span"))
    return test_by_role if conditional else test


def is_target(scheme: Scheme) -> Callable[[SelectedDialogue, Turn], bool]:
    """Return a test for turns that become items: as :func:`is_labelled`, or labelled by people.

    What people label may lack a dimension: nobody was asked for it, or they are split on it. Where a
    scheme has neither labels that speakers declare nor a goal, people's labels are all there are.
    """
    complete, is_known = is_labelled(scheme), bool(scheme.utterance_dimensions or scheme.assigned)
    names = frozenset(d.id for d in labelled_dimensions(scheme))

    def test(selected: SelectedDialogue, turn: Turn) -> bool:
        return (is_known and complete(turn)) or (
            turn.is_answer
            and turn.index in selected.read
            and any(label.dimension in names for label in turn.tactic)
        )

    return test


REPLACED = "utterances left out with a declared label that an expert replaced"
"""What is noted of utterances that :func:`was_replaced`."""


def left_out_notes(left_out: Mapping[str, int]) -> tuple[str, ...]:
    """Return what was left out with how often, as ``notes`` of :class:`RowSource` say it."""
    return tuple(f"{what}: {n:,}" for what, n in sorted(left_out.items()))


def was_replaced(selected: SelectedDialogue, turn: Turn) -> bool:
    """Return whether an expert put a label in place of a declared one, which has no rationale.

    Its speaker did not do what it said it did: that is nothing to learn speaking from. Labels of
    runs of turns are nobody's to declare and replace none.
    """
    declared = {d.id for d in selected.scheme.utterance_dimensions}
    return turn.index in selected.read and not all(
        x.rationale for x in turn.tactic if x.dimension in declared
    )


def _run_and_case(selected: SelectedDialogue) -> tuple[str, str]:
    return selected.source.name, selected.dialogue.case.id
