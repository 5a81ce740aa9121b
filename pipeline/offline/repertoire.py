"""Find the labels nearest to those that are wanted for which there are words that carry them.

The grammar has words for those that somebody would say together. A true detail answers a part of the question, which only
authored lines and the details written for a scene do, and the truthful have no words for a lie. Who
cannot meet what is wanted declares what is said instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.offline.dice import Dice
from pipeline.offline.reading import ActorRequest, AnswerKey
from pipeline.offline.responding import INFORM, Scene, phrasings, second_sentences
from pipeline.offline.tactics import ACT, AFFECT, INTENTION, REPERTOIRE, VERACITY, Tactic
from scenarios.lines.model import StageLine

CONVINCE, MOTIVATE = "Convince", "Motivate"
QUANTITY = "Quantity"
_NAMED, _DRAWN = 5, {INTENTION: 1, VERACITY: 2, ACT: 2}
"""What it is worth to keep a label that the prompt wants, and one that was drawn."""
_COMMON_ACTS = tuple(act for act in REPERTOIRE[ACT] if act != "Declarations")
_STRONGER: Mapping[str, tuple[str, ...]] = {INFORM: (CONVINCE, MOTIVATE), CONVINCE: (MOTIVATE,)}
"""By the intention of a line those that a second sentence can give it: the first step that holds decides."""


@dataclass(frozen=True, slots=True)
class Sayable:
    """Labels that can be carried, and the authored line that does, if it is one."""

    tactic: Tactic
    line: StageLine | None = None


def nearest(
    wanted: Tactic,
    asked: ActorRequest,
    scene: Scene,
    *,
    named: Mapping[str, str],
    open_acts: Sequence[str],
    dice: Dice,
) -> Sayable:
    """Return the labels that are wanted if there are words for them, else the nearest.

    Nearest is what keeps most of the labels. Of equally near ones a true detail goes first where one
    is wanted, and a feeling every second time, for they are rare; who deceives and has no true detail
    lies; the others are drawn. Unless that is wanted, nobody declares, and who deceives does not come
    to say nothing of the fact.

    Args:
        wanted: the labels that were drawn.
        asked: the prompt, read.
        scene: what there is to work with.
        named: the labels that the prompt itself wants.
        open_acts: the acts that suit the role; empty where all do.
        dice: for a draw among equally near ones.
    """
    if _has_words(wanted, scene):
        return Sayable(wanted)
    options = [o for o in _sayable(wanted.mark, scene) if _keeps_to(o, asked.fields, open_acts)]
    options = [o for o in options if _becomes(wanted, o.tactic)] or options
    if wanted.veracity == QUANTITY:
        options += [o for line in scene.lines for o in _as_line(line, wanted.mark, scene)]
    weights = {name: _NAMED if name in named else _DRAWN[name] for name in REPERTOIRE}
    scores = [_kept(wanted, option.tactic, weights) for option in options]
    best = [o for o, score in zip(options, scores, strict=True) if score == max(scores)]
    true = [o for o in best if o.tactic.veracity == QUANTITY == wanted.veracity]
    felt = [o for o in best if o.tactic.intention == AFFECT == wanted.intention]
    lied = [o for o in best if o.tactic.veracity == "Quality" and wanted.veracity == QUANTITY]
    first = true or lied or (felt if dice.chance(50) else [])
    return dice.pick(first or best) if best else Sayable(replace(wanted, intention=INFORM))


def _becomes(wanted: Tactic, tactic: Tactic) -> bool:
    """Whether a tactic can stand for another: nobody comes to declare, or to deceive by None, unasked."""
    return tactic.act in (wanted.act, *_COMMON_ACTS) and not (
        wanted.mark == "d" and tactic.veracity == "None" != wanted.veracity
    )


def _kept(wanted: Tactic, tactic: Tactic, weights: Mapping[str, int]) -> int:
    """Return how much of what is wanted a tactic keeps; what a prompt names goes before what was drawn."""
    return (
        weights[INTENTION] * (tactic.intention == wanted.intention)
        + weights[VERACITY] * (tactic.veracity == wanted.veracity)
        + weights[ACT] * (tactic.act == wanted.act)
    )


def _keeps_to(option: Sayable, fields: Sequence[AnswerKey], open_acts: Sequence[str]) -> bool:
    has = option.tactic.labels
    offered = all(
        has[field.name] in field.options
        for field in fields
        if field.name in has and set(field.options) <= set(REPERTOIRE[field.name])
    )
    return offered and (not open_acts or has[ACT] in open_acts)


def _sayable(mark: str, scene: Scene) -> list[Sayable]:
    """Return every combination of labels that the grammar has words for in a scene."""
    triples = itertools.product(*(REPERTOIRE[name] for name in (INTENTION, VERACITY, ACT)))
    tactics = (Tactic(why, how, act, mark) for why, how, act in triples)
    return [Sayable(tactic) for tactic in tactics if _has_words(tactic, scene)]


def _has_words(tactic: Tactic, scene: Scene) -> bool:
    """Whether the grammar has words that carry these labels."""
    if tactic.mark == "t" and tactic.veracity == "Quality":
        return False
    return bool(phrasings(tactic, scene))


def _as_line(line: StageLine, mark: str, scene: Scene) -> Iterator[Sayable]:
    """Yield the labels that an authored line has, alone and with a second sentence."""
    has = line.labels
    own = Tactic(has.get(INTENTION, ""), has.get(VERACITY, ""), has.get(ACT, ""), mark)
    yield Sayable(own, line)
    for intention in _STRONGER.get(own.intention, ()):
        stronger = replace(own, intention=intention)
        if second_sentences(stronger, scene):
            yield Sayable(stronger, line)
