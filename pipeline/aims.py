"""Aims: which cell of a quota a case was drawn for, recorded in the case itself.

A case says what it asks for, and so the wanted labels of its turns are the same whichever process
plays it, in whatever order, and however often the run is interrupted in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from scenarios.case import AIM, Case, make_case
from scenarios.schemes.model import Scheme

CATEGORY: Final = "category"
"""In place of a dimension: the category of the scenario."""

CellKey = tuple[tuple[str, str], ...]
"""What makes a cell: (dimension, label) in the scheme's order, the goal and the category last."""


@dataclass(frozen=True, slots=True)
class Aim:
    """One cell, and which of the labelled turns of a case are asked for its labels."""

    cell: CellKey
    turns: tuple[int, ...] = ()
    """Counted from 0 among the turns that are improvised and labelled; none where the cell names no
    label of an utterance."""

    @property
    def text(self) -> str:
        """How it is recorded: ``goal=deception&veracity=Quality#0,2``."""
        cell = urlencode(self.cell, safe=" ", quote_via=quote)
        return f"{cell}#{','.join(map(str, self.turns))}"

    @classmethod
    def of(cls, case: Case) -> Aim | None:
        """Return what a case was drawn for; None: for no quota.

        Raises:
            ValueError: something else is recorded there.
        """
        text = dict(case.variation).get(AIM)
        if text is None:
            return None
        cell, _, turns = text.rpartition("#")
        places = tuple(int(turn) for turn in turns.split(",") if turn)
        return cls(tuple(parse_qsl(cell, strict_parsing=True)), places)


def asked_of(case: Case, turn: int, scheme: Scheme) -> dict[str, str]:
    """Return the labels that the aim of a case asks of one labelled turn, by dimension.

    Args:
        case: it has an aim, or none.
        turn: which of its labelled turns, from 0.
        scheme: tells dimensions of an utterance from others.
    """
    aim = Aim.of(case)
    if aim is None or turn not in aim.turns:
        return {}
    named = {dimension.id for dimension in scheme.utterance_dimensions}
    return {name: label for name, label in aim.cell if name in named}


def aimed(case: Case, aim: Aim) -> Case:
    """Return a case like this one that asks for something; its id is another one."""
    return _with_variation(case, {**dict(case.variation), AIM: aim.text})


def unaimed(case: Case) -> Case:
    """Return the case of the plan that a case with an aim was made from."""
    return _with_variation(case, {k: v for k, v in case.variation if k != AIM})


def _with_variation(case: Case, variation: dict[str, str]) -> Case:
    drawn = tuple(sorted(variation.items()))
    if drawn == case.variation:
        return case
    return make_case(
        scheme=case.scheme,
        scenario=case.scenario,
        scenario_fingerprint=case.scenario_fingerprint,
        fact=case.fact,
        goal=case.goal,
        turns=case.turns,
        language=case.language,
        variation=variation,
        repetition=case.repetition,
        seed=case.seed,
    )
