"""Answers that come in from a file: checked as a whole first, then merged one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.chunks import chunks
from pipeline.store.review_imports import IncomingAnswer, MergeResult
from pipeline.store.reviews import ReviewStore
from quality.agreement.annotations import read_value
from quality.review.exhibits import Exhibits
from quality.review.opinions import LONGEST_NOTE
from quality.review.outgoing import (
    CONFIRMED,
    ISSUE,
    ISSUE_REASON,
    LEAD,
    NOTE,
    REJECTED,
    SCENARIO_PROBLEM,
    Incoming,
    dimensions_of,
    offered_labels,
)
from quality.review.shown_words import other_words
from quality.review.verdicts import settled
from scenarios.errors import InputError, Problem
from scenarios.reviews import GivenLabel, Item, Opinion, ReviewStudy
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spelling import suggestion
from scenarios.terms import LabelValue

MERGED_AT_ONCE = 200
"""Answers that are stored together: each alone would wait for the disk."""
LONGEST_NAME = 200
"""Letters of the name of somebody whose answers come in, an address in Label Studio included."""


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """One person's answer to one item, in the vocabulary of the scheme."""

    item: Item
    annotator: str
    labels: tuple[GivenLabel, ...]
    opinion: Opinion | None


@dataclass(frozen=True, slots=True)
class ImportedReviews:
    """What became of a file."""

    outcomes: Counter[MergeResult]
    surplus: tuple[str, ...]
    """``item by annotator`` of answers that were left out: the item has all its annotators."""
    closed: tuple[str, ...]
    """The same for answers to items that an expert has settled."""


def check_incoming(
    store: ReviewStore,
    study: ReviewStudy,
    scheme: Scheme,
    exhibits: Exhibits,
    incoming: Iterable[Incoming],
    *,
    file: str,
) -> list[ImportedAnswer]:
    """Check everything a file says before any of it is stored.

    Raises:
        InputError: an item is not in the study, a turn is not to be labelled, or a value is none
            of its dimension; every problem is named.
    """
    items = {item.id: item for item, _ in store.sheets.items(study)}
    problems: list[Problem] = []
    checked: list[ImportedAnswer] = []
    for sheet in incoming:
        item = items.get(sheet.item)
        if item is None:
            expected = f"an item of the study {study.id!r}"
            problems.append(Problem(file, sheet.where, "item", repr(sheet.item), expected))
            continue
        problems += _odd_person(sheet, file)
        exhibit = exhibits.of(item)
        problems += other_words(sheet, exhibit, file)
        targets, fields = exhibit.targets, [f for part in exhibit.sections for f in part.fields]
        asked = {(field.turn, field.dimension.id): field.dimension for field in fields}
        labels: list[GivenLabel] = []
        for (turn, name), raw in sheet.labels.items():
            dimension = scheme.dimension(name)
            offered = asked.get((turn, name), dimension)  # with the labels of whoever speaks
            value = _value(offered, raw, study)
            line = sheet.places.get((turn, name), sheet.where)
            if dimension not in dimensions_of(scheme, study):
                expected = "an empty cell: this study does not ask it"
                problems.append(Problem(file, line, name, repr(raw), expected))
            elif dimension.level != "dialogue" and turn not in targets:
                expected = f"one of the turns {', '.join(map(str, targets))}"
                found = f"turn {turn}"
                if turn is None:
                    found, expected = f"{raw!r} of a whole dialogue", f"a label of {expected}"
                problems.append(Problem(file, line, name, found, expected))
            elif (turn, name) not in asked:
                expected = f"an empty cell: whoever says turn {turn} is not asked about it"
                problems.append(Problem(file, line, name, repr(raw), expected))
            elif why := _against(offered, turn, value, sheet):
                problems.append(Problem(file, line, name, f"{raw!r} in turn {turn}", why))
            elif value is None:
                told = _no_answer(offered, raw, sheet, study)
                problems.append(Problem(file, line, name, *told))
            else:
                labels.append(GivenLabel(turn, name, value))
        opinion = _opinion(sheet, problems, file)
        checked.append(ImportedAnswer(item, sheet.annotator, tuple(labels), opinion))
    if problems:
        raise InputError(problems)
    return checked


def _no_answer(
    dimension: Dimension, raw: object, sheet: Incoming, study: ReviewStudy
) -> tuple[str, str, str]:
    """Return what was found that is no answer, what was expected, and what may have been meant."""
    several = dimension.measurement == "multi"
    what = "labels of {!r}, with | between several" if several else "an answer to {!r}"
    hint = suggestion(str(raw), offered_labels(dimension, study.hidden))
    return f"{raw!r} by {sheet.annotator}", what.format(dimension.id), hint


def merge_all(
    store: ReviewStore, study: ReviewStudy, checked: Iterable[ImportedAnswer], *, origin: str
) -> ImportedReviews:
    """Merge checked answers; the same file again changes nothing."""
    outcomes: Counter[MergeResult] = Counter()
    left_out: dict[str, list[str]] = {"surplus": [], "closed": []}
    for some in chunks(checked, MERGED_AT_ONCE):
        people = [store.people.known_as(answer.annotator) for answer in some]
        answers = [
            IncomingAnswer(answer.item, person.seq, answer.labels, answer.opinion)
            for answer, person in zip(some, people, strict=True)
        ]
        changed: dict[str, Item] = {}
        for answer, person, outcome in zip(
            some, people, store.merge(study, answers, origin=origin), strict=True
        ):
            outcomes[outcome] += 1
            if outcome in ("added", "changed"):
                changed[answer.item.id] = answer.item
            if outcome in left_out:
                left_out[outcome].append(f"{answer.item.id} by {person.code}")
        decisions = (settled(store, study, item) for item in changed.values())
        store.judgements.decide_now(*(one for one in decisions if one is not None))
    return ImportedReviews(outcomes, tuple(left_out["surplus"]), tuple(left_out["closed"]))


def _odd_person(sheet: Incoming, file: str) -> Iterator[Problem]:
    """Yield what of a sheet nobody is called, and no answer takes."""
    if len(sheet.annotator) > LONGEST_NAME:
        found = f"a name of {len(sheet.annotator):,} characters"
        yield Problem(file, sheet.where, "annotator", found, f"at most {LONGEST_NAME}")
    if not math.isfinite(sheet.lead_s):
        yield Problem(file, sheet.where, LEAD, "a time without end", "a number of seconds")


def _against(
    dimension: Dimension, turn: int | None, value: LabelValue | None, sheet: Incoming
) -> str:
    """Return what was to be expected where the other answers of a person rule this one out."""
    others = {
        name: tuple(given) if isinstance(given, list) else given
        for (at, name), given in sheet.labels.items()
        if at == turn and isinstance(given, str | float | list)
    }
    if dimension.when and not dimension.is_asked(others):
        return "an empty cell: it is not asked beside the other answers"
    chosen = value if isinstance(value, tuple) else (value,)
    labels = [label for label in dimension.labels if label.id in chosen]
    wrong = [label.id for label in labels if not label.goes_with(others)]
    return f"an answer that goes with the others, which {wrong[0]!r} does not" if wrong else ""


def _value(dimension: Dimension, raw: object, study: ReviewStudy) -> LabelValue | None:
    read = read_value(dimension, raw)
    if read is None:
        return None
    value = read[0]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return None if value in study.hidden.get(dimension.id, ()) else value


def _opinion(sheet: Incoming, problems: list[Problem], file: str) -> Opinion | None:
    said = sheet.opinion
    issue = said.get(ISSUE, "").casefold()
    if issue not in ("", CONFIRMED, REJECTED):
        expected = f"{CONFIRMED} or {REJECTED}"
        line = sheet.places.get((None, ISSUE), sheet.where)
        problems.append(Problem(file, line, ISSUE, repr(said[ISSUE]), expected))
    if not said and not sheet.lead_s:
        return None
    return Opinion(
        issue=None if not issue else issue == CONFIRMED,
        issue_reason=said.get(ISSUE_REASON, "")[:LONGEST_NOTE],
        scenario_problem=said.get(SCENARIO_PROBLEM, "")[:LONGEST_NOTE],
        note=said.get(NOTE, "")[:LONGEST_NOTE],
        lead_s=sheet.lead_s,
    )
