"""Choose the lines that a study mixes among its items: gold lines of its own scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hipo.app.review.gold_run import STRATEGY, gold_dialogue, spoken_gold
from pipeline.run_material import RunMaterial
from pipeline.store.reviews import ReviewStore
from quality.review.attention import AttentionItems, AttentionLine, PageNumbers
from quality.review.exhibits import declared_labels
from quality.review.giving import AttentionMixing
from scenarios.arms import Arm
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Turn
from scenarios.errors import UsageError
from scenarios.lines.library import scenarios_with
from scenarios.plural import plural
from scenarios.reviews import ReviewStudy
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme

_SCHEME = "hipo"
_LANGUAGE = "en"
_INSTEAD = {
    "review": "add --mode quiz: a review shows why a dialogue was flagged, and known lines have no flags",
    "gold": "every line has known labels here: hipo review agreement RUN holds each person against them",
}
"""What to do in other modes."""
_EXCHANGE = 2
"""Turns of a line: the question and the answer."""

Opened = tuple[str, str, str]
"""A scenario, its fingerprint, and a goal."""


def attention_mixing(
    store: ReviewStore, study: ReviewStudy, material: RunMaterial, count: int
) -> AttentionMixing | None:
    """Return attention items for a study; None where it is asked for none.

    Raises:
        UsageError: the study is no quiz or of another scheme, its dialogues do not look like a
            line, or there are too few lines about its scenarios.
    """
    if not count:
        return None
    if study.mode != "quiz":
        raise UsageError(
            f"--attention is for a quiz, and the study {study.id!r} is of the mode {study.mode}",
            _INSTEAD[study.mode],
        )
    if _labels(material.scheme) != _labels(load_scheme(_SCHEME)):
        raise UsageError(
            f"lines with known labels are of the scheme {_SCHEME}, and the run is not",
            "leave --attention out",
        )
    lines = list(_lines(study, material, _openings(store, study)))
    if len(lines) < count:
        raise UsageError(
            f"{plural(len(lines), 'line')} with known labels for the study, fewer than --attention {count}",
            "lines are about scenarios of which the study has English dialogues of one exchange,"
            " so that they look like these: ask for fewer, or for more such dialogues",
        )
    items = AttentionItems(store, study, material.scheme, lines, count)
    return AttentionMixing(items, PageNumbers(store.attention.key()))


def _labels(scheme: Scheme) -> dict[str, tuple[str, ...]]:
    return {dimension.id: tuple(dimension.values) for dimension in scheme.declared}


def _openings(store: ReviewStore, study: ReviewStudy) -> dict[Opened, tuple[Turn, ...]]:
    """Return how the dialogues begin that have one exchange after that, as a line has."""
    items = {item.id for item, _ in store.sheets.items(study)}
    found: dict[Opened, tuple[Turn, ...]] = {}
    for one in store.dialogues.dialogues(traces=False):
        case, opening = one.case, one.turns[:-_EXCHANGE]
        if (
            f"{case.id}/{one.arm}" in items
            and case.language == _LANGUAGE
            and case.turns == 1
            and not any(turn.kind == "improvised" for turn in opening)
        ):
            found.setdefault((case.scenario, case.scenario_fingerprint, case.goal), opening)
    return found


def _lines(
    study: ReviewStudy, material: RunMaterial, openings: Mapping[Opened, tuple[Turn, ...]]
) -> Iterator[AttentionLine]:
    """Yield the lines of which two readings gave the same labels, all of them on offer.

    Each follows on the opening of a dialogue of the study about its scenario and goal.
    """
    entries = Catalogue.load(environment={}).entries
    arm = Arm(STRATEGY, {}, {})
    for name in scenarios_with("gold"):
        scenario = entries[name].scenario
        for line in spoken_gold(name, entries[name].template).lines:
            opening = openings.get((name, scenario.fingerprint, line.goal))
            if opening is None or line.readings:
                continue
            exchange = gold_dialogue(line, scenario, arm)
            turns = (*opening, *exchange.turns)
            numbered = tuple(replace(turn, index=place) for place, turn in enumerate(turns))
            dialogue = replace(exchange, turns=numbered)
            known = declared_labels(dialogue, material.scheme)
            if all(label not in study.hidden.get(name_, ()) for (_, name_), label in known.items()):
                yield AttentionLine(line.id, dialogue, scenario)
