"""Choose the labels of an answer: the wanted ones, else a draw that suits the goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.offline.dice import Dice
from pipeline.offline.reading import ActorRequest, AnswerKey

Value = str | float | list[str]

INTENTION, VERACITY, ACT = "intention", "veracity", "illocutionary"
AFFECT, LIE, UNTOUCHED = "Affect", "Quality", "None"
_UNTRUE = "Of this your fact makes untrue"
_WEIGHTS: dict[str, dict[str, int]] = {
    INTENTION: {"Inform": 42, "Convince": 30, "Motivate": 15, "Affect": 13},
    ACT: {"Representatives": 62, "Commissives": 17, "Expressives": 11, "Directives": 10},
}
_TRUE = {"None": 34, "Quantity": 26, "Manner": 22, "Relevance": 18}
_VERACITY = {"d": {**_TRUE, LIE: 100}, "t": _TRUE}
"""Weights by goal mark. Representatives lead, nothing is declared; of what manipulates without a lie
Quantity leads and Relevance is rarest. Whoever deceives lies in every second answer and else does as the
truthful do, so that no other label tells a goal.

Source: HIPO, appendix B.2 (the order; the weights are ours).
"""
REPERTOIRE = {
    INTENTION: ("Inform", "Convince", "Motivate", "Affect"),
    VERACITY: ("Quantity", "Quality", "Relevance", "Manner", "None"),
    ACT: ("Representatives", "Directives", "Commissives", "Expressives", "Declarations"),
}
"""The labels the phrase books can realise."""


@dataclass(frozen=True, slots=True)
class Tactic:
    """What an utterance is to carry, in the terms of the phrase books."""

    intention: str
    veracity: str
    act: str
    mark: str
    """``d`` where the goal is to deceive, else ``t``: nothing false may be said."""

    @property
    def labels(self) -> dict[str, str]:
        """The labels by dimension."""
        return {INTENTION: self.intention, VERACITY: self.veracity, ACT: self.act}


def goal_mark(goal: str) -> str:
    """Return ``d`` for a goal whose name says that somebody is to be deceived, else ``t``."""
    low = goal.lower()
    return "d" if low.startswith(("decep", "deceiv")) else "t"


def labels_wanted(asked: ActorRequest, goal: str) -> dict[str, str]:
    """Return the labels that a prompt wants, and the lie that a deception is without them.

    How long a conversation will be nobody who speaks in it knows, so that the first answer lies: a
    hearer to whom nothing false is said is not deceived. After an opening that has lied it need not.
    """
    first = len(asked.said_by("RESPONDER")) <= 1
    lied = asked.said_of("Where you stand", _UNTRUE) not in ("", "nothing")
    lies = any(field.name == VERACITY and LIE in field.options for field in asked.fields)
    if goal_mark(goal) == "d" and first and lies and not lied:
        return {VERACITY: LIE, **asked.wanted}
    return dict(asked.wanted)


def draw_value(field: AnswerKey, wanted: str | None, dice: Dice) -> Value:
    """Return a value for a dimension of any scheme: the wanted one where the skeleton has it."""
    if field.kind == "number":
        return _number(field, wanted, dice)
    if field.kind == "labels":
        asked = [part.strip() for part in (wanted or "").split("|")]
        chosen = [option for option in field.options if option in asked]
        return chosen or [dice.pick(field.options)]
    if wanted in field.options:
        return wanted
    return dice.pick(field.options) if field.options else (wanted or "")


def _number(field: AnswerKey, wanted: str | None, dice: Dice) -> float:
    low, high = field.low, field.high
    if wanted is not None:
        try:
            value = float(wanted)
        except ValueError:
            value = float("nan")
        if low <= value <= high:
            return value
    return round(low + (high - low) * dice.below(1001) / 1000, 3)


def veracity_weights(mark: str, *, detailed: bool) -> dict[str, int]:
    """Return the weights of veracity; of Quantity only where there is a true detail to tell."""
    return {k: v for k, v in _VERACITY[mark].items() if detailed or k != "Quantity"}


def draw_tactic(
    fields: Sequence[AnswerKey],
    wanted: Mapping[str, str],
    *,
    mark: str,
    open_acts: Sequence[str],
    veracity: Mapping[str, int],
    steady: Dice,
    loose: Dice,
) -> Tactic:
    """Choose intention, veracity (by its weights) and act.

    ``steady`` depends on the prompt alone, ``loose`` on the seed too: most samples of one prompt
    agree on the tactic and some do not.
    """
    asked = {field.name: field.options for field in fields if field.kind == "label"}
    drawn: dict[str, str] = {}
    for dimension, known in REPERTOIRE.items():
        weights = veracity if dimension == VERACITY else _WEIGHTS[dimension]
        options = [o for o in asked.get(dimension, known) if o in known]
        if dimension == ACT and open_acts:
            options = [o for o in options if o in open_acts] or [o for o in known if o in open_acts]
        pairs = [(o, weights[o]) for o in options if o in weights]
        pairs = pairs or [(o, 1) for o in options] or list(weights.items())
        value = steady.weighted(pairs)
        other = loose.weighted(pairs)
        drawn[dimension] = other if loose.chance(20) else value
        label = wanted.get(dimension, "")
        if label in known:
            drawn[dimension] = label
    if mark == "t" and drawn[VERACITY] == "Quality":
        drawn[VERACITY] = "Quantity"
    return Tactic(drawn[INTENTION], drawn[VERACITY], drawn[ACT], mark)
