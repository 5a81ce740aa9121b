"""Rows that teach all that people say of an utterance: one for each of them, with their labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from outputs.dataset.columns import Reading, Row, is_labelled
from outputs.dataset.manifest import Column
from outputs.rows.label_rows import LabelRows
from outputs.selecting.left_out import INCOMPLETE, UNLABELLED
from outputs.selecting.selection import SelectedDialogue
from scenarios.annotations import HUMAN
from scenarios.dialogue import TacticLabel, Turn
from scenarios.terms import LabelValue

_ANNOTATOR = Column(
    "annotator", "int", "Which of the people of this utterance it is, from 0; names are not told."
)
_ANNOTATORS = Column("annotators", "int", "How many rows of people this utterance has.")
_Labels = dict[str, LabelValue]


@dataclass
class PeopleRows:
    """What a task asks about an utterance, and as its answer the labels of one person.

    Of an utterance that three people labelled there are three rows, so that whoever learns from them
    learns the shares of people who gave each label (soft labels): the mean loss over the rows is the
    cross entropy of these shares.

    Source: CEI, sections 7 and 8.
    """

    label_rows: LabelRows
    """Makes the rows; keeps repeats, and has no rows of conversations, about which utterances say
    nothing."""
    subset: str = field(default="people", init=False)
    reading: Reading = field(default=Reading(settled=False), init=False)
    rows_left_out: Counter[str] = field(default_factory=Counter, init=False)
    """By reason."""

    _told: dict[tuple[str, str], SelectedDialogue] = field(default_factory=dict, init=False)
    """By case and arm, the dialogues of the latest batch with what everybody says."""

    def __post_init__(self) -> None:
        scheme = self.label_rows.scheme
        self._dimensions = {dimension.id for dimension in scheme.utterance_dimensions}
        self._is_labelled = is_labelled(scheme)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        return (*self.label_rows.columns, _ANNOTATOR, _ANNOTATORS)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield one row per aspect, utterance and person who gave it all its labels."""
        self._told.clear()
        for selected in batch:
            by_turn = self._of_people(selected)
            self._told[selected.key] = _told_by_all(selected, by_turn)
            for people in by_turn:
                for number, told in enumerate(people):
                    for row in self.label_rows.rows([_labelled(selected, told)]):
                        own = {"id": f"{row['id']}/{number}", "annotator": number}
                        yield {**row, **own, "annotators": len(people)}

    def labelled(self, selected: SelectedDialogue) -> SelectedDialogue:
        """Return a dialogue of the latest batch with every label that somebody gave in a row."""
        return self._told[selected.key]

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return why a dialogue gave no row."""
        return UNLABELLED

    def _of_people(self, selected: SelectedDialogue) -> list[list[Turn]]:
        """Return each turn as every person who labelled all of it has it."""
        given: defaultdict[int | None, defaultdict[tuple[str, str], _Labels]] = defaultdict(
            lambda: defaultdict(dict)
        )
        for label in selected.annotations((HUMAN,)):
            about, value = label.subject, label.value
            is_of_turn = about.turn is not None and not about.part
            if is_of_turn and value is not None and label.dimension in self._dimensions:
                given[about.turn][label.who, label.config][label.dimension] = value
        found = []
        for turn in selected.dialogue.turns:
            people = [
                replace(turn, tactic=tuple(TacticLabel(*one) for one in labels.items()))
                for _, labels in sorted(given[turn.index].items())
            ]
            whole = [own for own in people if self._is_labelled(own)]
            self.rows_left_out[INCOMPLETE] += len(people) - len(whole)
            found.append(whole)
        return found


def _told_by_all(selected: SelectedDialogue, by_turn: Sequence[Sequence[Turn]]) -> SelectedDialogue:
    """Return a dialogue whose turns have the labels of all people one after the other."""
    turns = tuple(
        replace(turn, tactic=tuple(label for told in people for label in told.tactic))
        for turn, people in zip(selected.dialogue.turns, by_turn, strict=True)
    )
    return replace(selected, dialogue=replace(selected.dialogue, turns=turns))


def _labelled(selected: SelectedDialogue, told: Turn) -> SelectedDialogue:
    """Return a dialogue in which one turn alone has labels, those of one person."""
    turns = tuple(
        told if turn.index == told.index else replace(turn, tactic=())
        for turn in selected.dialogue.turns
    )
    return replace(
        selected,
        dialogue=replace(selected.dialogue, turns=turns),
        people=frozenset({told.index}),
        adjudicated=frozenset(),
    )
