"""Answers beside all that people said of an item, not only beside what most of them said.

Where people read an utterance differently, the shares of them that give each label are the label
(a soft label), and whoever answers is held against these shares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from quality.agreement.annotations import Answer
from quality.agreement.ratings import numbered
from quality.evaluation.clustering import RESAMPLING, Clusters, Figure, clustered
from quality.evaluation.people import PEOPLE, Given, labels_of_people, place_of
from quality.evaluation.result_row import ResultRow
from quality.evaluation.scores import ClusteredEstimate
from quality.statistics.bootstrap import Floats, Resampling

EVENLY: Final = "every label alike"
POOLED: Final = "shares over all items"
_FEWEST: Final = 2
"""One person's label is no distribution."""
_Items = dict[str, list[ResultRow]]
"""What one model answered, by item."""


@dataclass(frozen=True, slots=True)
class SoftScore:
    """How near answers are to the shares of people, over items that two people or more labelled."""

    task: str
    mode: str
    model: str
    """A model; ``people``: each of them against the others; or one of two floors that read nothing:
    ``every label alike``, and ``shares over all items`` (of these very people)."""
    dimension: str
    items: int
    people: float
    """Mean number of people whom an item is held against."""
    answers: float | None
    """Mean number of answers to an item, of all draws and repeats; None of a floor."""
    shared: ClusteredEstimate
    """How often an answer drawn at random is the label of a person drawn at random."""
    divergence: ClusteredEstimate
    """Mean Jensen-Shannon divergence in bits: 0 the same shares, 1 no label in common."""
    cross_entropy: ClusteredEstimate
    """Mean cross entropy of people's shares in nats. To the answers of an item one of each label on
    offer is added (Laplace), so that a label that no answer gives has a chance, too. Undefined where
    people gave a label that a floor gives no chance."""


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Answers and the people they are held against, by item and label; rows may share an item."""

    items: Sequence[ResultRow]
    people: Floats
    """How many of them gave each label, shape ``(items, labels)``."""
    said: Floats
    """Shares of the answers; what is missing to 1 are answers without a label."""
    expected: Floats
    """What cross entropy takes as the chance of each label."""
    weights: Floats
    """Shape ``(items,)``."""
    answers: float | None


def soft_scores(
    rows: Iterable[ResultRow],
    people: Iterable[Answer],
    labels: Mapping[str, Sequence[str]],
    *,
    hidden: Mapping[str, Sequence[str]],
    how: Resampling = RESAMPLING,
) -> list[SoftScore]:
    """Hold the answers of models, of people and of floors against the shares of people.

    All answers to an item count, those of every repeat and draw of examples: a model that is asked
    often at a temperature above 0 has shares, too.

    Args:
        rows: results of models; requests that failed are left out.
        people: answers of a quiz, or of imported annotators.
        labels: the labels of each dimension.
        hidden: labels that people were not offered, by dimension.
        how: how intervals are bootstrapped.

    Source: CEI, sections 7 and 8, which ask for this and name no figure; these are of those that
    Uma et al. 2021 (Learning from disagreement) survey.
    """
    given = labels_of_people(people, labels)
    asked: defaultdict[tuple[str, str, str], defaultdict[str, _Items]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in rows:
        for dimension, said in given.get(place_of(row), {}).items():
            known = sum(label in labels[dimension] for label in said.values())
            is_asked = dimension in (row.options or row.labels) and row.status != "failed"
            if is_asked and known >= _FEWEST:
                models = asked[row.task, row.mode, dimension]
                models[row.model].setdefault(row.item, []).append(row)
    return [
        _score((task, mode, name, dimension), held, how)
        for (task, mode, dimension), models in asked.items()
        for name, held in _sides(
            models, given, dimension, labels[dimension], set(hidden.get(dimension, ()))
        )
    ]


def _sides(
    models: Mapping[str, _Items],
    given: Mapping[str, Given],
    dimension: str,
    labels: Sequence[str],
    hidden: Set[str],
) -> Iterator[tuple[str, _Held]]:
    """Yield every model, then people and the floors, each with what it is held against."""

    def counted(said: Iterable[str | None]) -> list[int]:
        found = list(said)
        return [found.count(label) for label in labels]

    items: dict[str, ResultRow] = {}
    for model, by_item in models.items():
        first = [rows[0] for rows in by_item.values()]
        items.update((row.item, row) for row in first if row.item not in items)
        people = np.array([counted(given[place_of(row)][dimension].values()) for row in first])
        said = np.array(
            [counted(r.labels.get(dimension) for r in rows) for rows in by_item.values()]
        )
        answers = np.array([len(rows) for rows in by_item.values()])
        offered = np.array([_offered(row, dimension, labels, hidden) for row in first])
        yield model, _held(first, people, said, answers, offered)
    rows = list(items.values())
    people = np.array([counted(given[place_of(row)][dimension].values()) for row in rows])
    offered = np.array([_offered(row, dimension, labels, hidden) for row in rows])
    yield PEOPLE, _each_against_others(rows, people, offered)
    for name, shares in (
        (EVENLY, offered / offered.sum(axis=1, keepdims=True)),
        (POOLED, np.broadcast_to(people.sum(axis=0) / people.sum(), people.shape)),
    ):
        yield name, _Held(rows, people, shares, shares, np.ones(len(rows)), None)


def _offered(row: ResultRow, dimension: str, labels: Sequence[str], hidden: Set[str]) -> list[bool]:
    """Return which labels model and people could both give."""
    shown = row.options.get(dimension) or labels
    return [label in shown and label not in hidden for label in labels]


def _held(
    rows: Sequence[ResultRow], people: Floats, said: Floats, answers: Floats, offered: Floats
) -> _Held:
    expected = (said + 1) / (answers + offered.sum(axis=1))[:, None]
    shares = said / answers[:, None]
    return _Held(rows, people, shares, expected, np.ones(len(rows)), float(answers.mean()))


def _each_against_others(rows: Sequence[ResultRow], people: Floats, offered: Floats) -> _Held:
    """Hold each person against the others; an item counts once, however many people it has."""
    place, label = np.nonzero(people)
    own = np.eye(people.shape[1])[label]
    of_place = people[place]
    one = _held([rows[n] for n in place], of_place - own, own, np.ones(len(place)), offered[place])
    return replace(one, weights=of_place[np.arange(len(place)), label] / of_place.sum(axis=1))


def _score(key: tuple[str, str, str, str], held: _Held, how: Resampling) -> SoftScore:
    found = np.column_stack([
        _shared(held.people, held.said),
        divergence(held.people / held.people.sum(axis=1, keepdims=True), held.said),
        _cross_entropy(held.people, held.expected),
        np.ones(len(held.items)),
    ])  # fmt: skip
    names = [row.item for row in held.items]
    cases = [row.case or row.item for row in held.items]
    scenarios = [row.scenario or row.case or row.item for row in held.items]
    clusters = Clusters(numbered(names), numbered(cases), numbered(scenarios))

    def means(sums: Floats) -> Floats:
        shares: Floats = sums[:, 0, :3] / sums[:, 0, 3:]
        return shares

    features = found * held.weights[:, None]
    shared, apart, entropy = clustered(features, means, [Figure()] * 3, clusters, how=how)
    return SoftScore(
        *key,
        items=len(set(names)),
        people=float(np.average(held.people.sum(axis=1), weights=held.weights)),
        answers=held.answers,
        shared=shared,
        divergence=apart,
        cross_entropy=entropy,
    )  # fmt: skip


def _shared(people: Floats, said: Floats) -> Floats:
    found: Floats = (people * said).sum(axis=1) / people.sum(axis=1)
    return found


def divergence(people: Floats, said: Floats) -> Floats:
    """Return the Jensen-Shannon divergence of each row of shares in bits, in ``[0, 1]``.

    Args:
        people: shares of people by label, shape ``(items, labels)``.
        said: shares of answers; what they lack to 1 is on a label that nobody gives.
    """
    unread = 1 - said.sum(axis=1, keepdims=True)
    people, said = np.column_stack([people, np.zeros(len(people))]), np.column_stack([said, unread])
    middle = (people + said) / 2
    found: Floats = (_towards(people, middle) + _towards(said, middle)) / 2
    return found


def _towards(shares: Floats, middle: Floats) -> Floats:
    """Return the Kullback-Leibler divergence in bits of each row; a share of 0 adds nothing."""
    ratios = np.divide(shares, middle, out=np.ones_like(middle), where=shares > 0)
    found: Floats = (shares * np.log2(ratios)).sum(axis=1)
    return found


def _cross_entropy(people: Floats, expected: Floats) -> Floats:
    """Return the cross entropy of each row; not a number where a label of people has no chance."""
    chances = np.where(people > 0, np.where(expected > 0, expected, np.nan), 1.0)
    found: Floats = -(people * np.log(chances)).sum(axis=1) / people.sum(axis=1)
    return found
