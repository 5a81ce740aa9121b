"""Figures of answered questions: accuracy by speaker and face act, and preferred options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from quality.evaluation.positions import position_shares
from quality.evaluation.scores import PositionShare

BOTH = ""
"""Stands for all roles together, and for all face acts together."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """One question as somebody answered it."""

    role: str
    """Whose words it is about."""
    face_act: str
    options: int
    """How many are listed."""
    right: int
    """The place of the right option, from 0."""
    chosen: int | None
    """The place of the option that was chosen; None: no answer could be read, which is wrong."""
    question: str = ""
    """Its id."""
    choice: str = ""
    """The label of the option that was chosen, or its text; empty: no answer could be read."""


@dataclass(frozen=True, slots=True)
class AccuracyCell:
    """The share of right answers for one role and one face act, either of which may be all."""

    role: str
    face_act: str
    questions: int
    right: int

    @property
    def accuracy(self) -> float | None:
        """Of all questions of the cell; None where there are none."""
        return self.right / self.questions if self.questions else None


@dataclass(frozen=True, slots=True)
class ChoicePair:
    """How often two who answered the same questions made two choices."""

    first: str
    second: str
    questions: int


@dataclass(frozen=True, slots=True)
class ChoicesOfTwo:
    """What two chose who answered the same questions, whatever is right."""

    first: str
    second: str
    questions: int
    same: int
    choices: tuple[ChoicePair, ...]
    """The cells of the matrix that are not 0, the most frequent first."""


def choices_of_two(
    answered: Mapping[str, Sequence[AnsweredQuestion]],
) -> tuple[ChoicesOfTwo, ...]:
    """Return for every two who answered what they chose; of several answers the first counts.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, table 7.
    """
    chosen = {
        who: {answer.question: answer.choice for answer in reversed(answers)}
        for who, answers in answered.items()
    }
    found = []
    for one, other in combinations(chosen, 2):
        cells = Counter(
            (chosen[one][q], chosen[other][q]) for q in chosen[one] if q in chosen[other]
        )
        if cells:
            same = sum(n for (first, second), n in cells.items() if first == second)
            ordered = sorted(cells.items(), key=lambda cell: (-cell[1], cell[0]))
            pairs = tuple(ChoicePair(*choices, n) for choices, n in ordered)
            found.append(ChoicesOfTwo(one, other, cells.total(), same, pairs))
    return tuple(found)


def accuracy_table(
    answers: Sequence[AnsweredQuestion], roles: Sequence[str], face_acts: Sequence[str]
) -> tuple[AccuracyCell, ...]:
    """Return a cell for every role and all together, by every face act and all together.

    Args:
        answers: one for every question.
        roles: in the order of the table.
        face_acts: in the order of the table.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, table 4.
    """
    cells = []
    for face_act in (*face_acts, BOTH):
        for role in (*roles, BOTH):
            mine = [
                answer
                for answer in answers
                if role in (BOTH, answer.role) and face_act in (BOTH, answer.face_act)
            ]
            right = sum(answer.chosen == answer.right for answer in mine)
            cells.append(AccuracyCell(role, face_act, len(mine), right))
    return tuple(cells)


def option_shares(answers: Sequence[AnsweredQuestion]) -> tuple[PositionShare, ...]:
    """Return how often each place among the options is chosen, and is right."""
    chosen = [answer.chosen for answer in answers if answer.chosen is not None]
    size = max((answer.options for answer in answers), default=0)
    return position_shares(chosen, [answer.right for answer in answers], size)
