"""Foils: wrong labels that a judge is shown on trial, to see what its yes is worth."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.fingerprint import seed_from
from scenarios.schemes.model import Scheme
from scenarios.verdicts import Judgement

Key = tuple[str, str]
"""(case, arm) of a dialogue."""


@dataclass(frozen=True, slots=True)
class Foil:
    """A wrong label for one dimension of one answer."""

    turn: int
    dimension: str
    label: str

    def shown(self, declared: Iterable[TacticLabel]) -> tuple[TacticLabel, ...]:
        """Return the declared labels with this one in the place of its dimension's."""
        return tuple(
            TacticLabel(self.dimension, self.label) if known.dimension == self.dimension else known
            for known in declared
        )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """An answer that foils are drawn for."""

    key: Key
    goal: str
    turn: Turn


def foil_dimensions(scheme: Scheme) -> list[str]:
    """Return the dimensions that foils are drawn for: those with one label of several."""
    return [d.id for d in scheme.utterance_dimensions if d.measurement in ("nominal", "ordinal")]


def draw_foils(
    scheme: Scheme,
    dialogues: Iterable[Dialogue],
    answers: int,
    judgements: Callable[[Collection[Key]], Mapping[Key, Iterable[Judgement]]],
) -> dict[Key, tuple[Foil, ...]]:
    """Draw a foil for each nominal dimension of so many answers, the same ones each time.

    A foil is drawn from what other answers under the same goal declare, as often as they do. It is
    never the declared label, nor one of the first two that a blind judge named: such a label may
    be right.

    Args:
        scheme: the labels.
        dialogues: all of the run.
        answers: of how many answers; all of them where there are fewer.
        judgements: what was said of some dialogues by whom; read for those that are drawn.
    """
    usual: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def improvised() -> Iterable[tuple[int, str, int, _Chosen]]:
        for dialogue in dialogues:
            key = dialogue.key
            for turn in dialogue.answers():
                for label in turn.tactic:
                    if isinstance(label.value, str):
                        usual[dialogue.case.goal, label.dimension][label.value] += 1
                place = seed_from("foil", *key, turn.index)
                yield place, "/".join(key), turn.index, _Chosen(key, dialogue.case.goal, turn)

    chosen = [one for *_, one in heapq.nsmallest(answers, improvised(), key=lambda one: one[:3])]
    said = judgements({one.key for one in chosen})
    nominal = foil_dimensions(scheme)
    found: defaultdict[Key, list[Foil]] = defaultdict(list)
    for one in chosen:
        for label in one.turn.tactic:
            if label.dimension not in nominal:
                continue
            possible = {label.value} | {
                value
                for judgement in said.get(one.key, ())
                if (judgement.turn, judgement.dimension) == (one.turn.index, label.dimension)
                for value in (judgement.value, judgement.second)
            }
            wrong = _drawn(usual[one.goal, label.dimension], possible, one, label.dimension)
            if wrong is not None:
                found[one.key].append(Foil(one.turn.index, label.dimension, wrong))
    return {key: tuple(sorted(foils, key=lambda f: f.turn)) for key, foils in found.items()}


def _drawn(
    usual: Counter[str], possible: Collection[object], one: _Chosen, dimension: str
) -> str | None:
    """Draw a label that cannot be right, as often as others declare it; None: there is none."""
    left = sorted((label, n) for label, n in usual.items() if label not in possible)
    if not left:
        return None
    bounds = list(accumulate(n for _, n in left))
    place = seed_from("foil", *one.key, one.turn.index, dimension) % bounds[-1]
    return left[bisect(bounds, place)][0]
