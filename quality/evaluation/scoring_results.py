"""From the rows of ``results.jsonl`` to all figures of an evaluation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from quality.evaluation.answers import Grouping, ScoredAnswer
from quality.evaluation.clustering import RESAMPLING
from quality.evaluation.comparing import compare_all
from quality.evaluation.draw import balancing_weights
from quality.evaluation.evaluation_record import DrawnEvenly
from quality.evaluation.flips import flip_rate
from quality.evaluation.label_sets import score_sets
from quality.evaluation.other_words import other_words
from quality.evaluation.result_row import ResultRow
from quality.evaluation.scores import EvaluationScores, ModelComparison, Weighting
from quality.evaluation.scoring import ScoreKey, score
from quality.evaluation.swaps import swap_score, two_sided
from quality.statistics.bootstrap import Resampling
from scenarios.annotations import VERIFIER

SWAP: Final = "swap"
REFERENCES: Final = ("declared", "agreed", "people", "adjudicated", VERIFIER, "gold", SWAP)
"""In the order they are shown."""
Answers = dict[ScoreKey, list[ScoredAnswer]]
T = TypeVar("T")
Weightings = Mapping[str, Sequence[tuple[Weighting, Mapping[str, float] | None]]]
"""By task, what items count: as drawn, and weighted back to the whole set."""


def score_results(
    rows: Iterable[ResultRow],
    labels: Mapping[str, Sequence[str]],
    *,
    several: Collection[str] = (),
    drawn: DrawnEvenly | None = None,
    planned: Mapping[tuple[str, str], int] = {},
    how: Resampling = RESAMPLING,
) -> EvaluationScores:
    """Return every figure: scores, comparisons, flips, swap items and words that are no labels.

    Args:
        rows: of any tasks, modes, draws, repeats and models.
        labels: the labels of each dimension, in the order of the scheme; other dimensions are left
            out.
        several: dimensions of which several labels may be right at once: their scores stand apart,
            and models are not compared on them.
        drawn: if items were drawn evenly: every score then stands there twice, as drawn and
            weighted back to the whole set, as far as rows tell the class.
        planned: by task and mode, how many answers every model is to give; how many of them have not
            been asked for yet is told.
        how: how intervals are bootstrapped, and permutations sampled.

    Raises:
        UsageError: a reference is none of the labels.
    """
    rows = list(rows)
    answers, classes = _read(rows, labels, drawn.dimension if drawn else "")
    answers = {key: answers[key] for key in sorted(answers, key=_order(answers, list(labels)))}
    first = {
        key: [answer for answer in found if answer.repeat == 0] for key, found in answers.items()
    }
    swapped = {key: found for key, found in first.items() if key.reference == SWAP}
    known: dict[ScoreKey, Sequence[str]] = {key: labels[key.dimension] for key in first}
    for key, found in swapped.items():
        first[key], known[key] = two_sided(found)
    tasks = dict.fromkeys(key.task for key in answers)
    weightings = {task: _weightings(drawn, task, classes.get(task, {})) for task in tasks}
    scored = {key: found for key, found in first.items() if found}
    of_sets = {key: scored.pop(key) for key in [*scored] if key.dimension in several}
    drawn_over = drawn.dimension if drawn else ""
    unasked = _unasked(rows, planned)
    figures = partial(
        _figures,
        known=known,
        weightings=weightings,
        drawn_over=drawn_over,
        unasked=unasked,
        how=how,
    )
    return EvaluationScores(
        scores=tuple(figures(score, scored)),
        comparisons=tuple(_comparisons(scored, known, weightings, how)),
        flips=tuple(rate for key, found in _asked(answers) if (rate := flip_rate(key, found, how))),
        sets=tuple(figures(score_sets, of_sets)),
        swaps=tuple(swap_score(key, found, how) for key, found in swapped.items()),
        words=tuple(other_words(rows, labels)),
    )  # fmt: skip


def _comparisons(
    answers: Answers,
    known: Mapping[ScoreKey, Sequence[str]],
    weightings: Weightings,
    how: Resampling,
) -> Iterator[ModelComparison]:
    """Yield what models differ in, task by task, in each weighting."""
    for task, ways in weightings.items():
        mine = {key: found for key, found in answers.items() if key.task == task}
        for weighting, weights in ways:
            yield from compare_all(mine, known, weights=weights, weighting=weighting, how=how)


def _figures(
    scorer: Callable[..., T],
    answers: Answers,
    *,
    known: Mapping[ScoreKey, Sequence[str]],
    weightings: Weightings,
    drawn_over: str,
    unasked: Mapping[tuple[str, str, str], int],
    how: Resampling,
) -> Iterator[T]:
    """Yield what ``score`` or ``score_sets`` says of the answers of each key, in each weighting."""
    for key, found in answers.items():
        for weighting, weights in weightings[key.task]:
            yield scorer(
                key, found, known[key], weights=weights, weighting=weighting,
                drawn_over=drawn_over, unasked=unasked.get((key.task, key.mode, key.model), 0), how=how,
            )  # fmt: skip


def _unasked(
    rows: Iterable[ResultRow], planned: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str, str], int]:
    """Return by task, mode and model how many answers of the first asking there are no rows of."""
    there = Counter((row.task, row.mode, row.model) for row in rows if row.repeat == 0)
    return {
        (task, mode, model): max(planned.get((task, mode), 0) - found, 0)
        for (task, mode, model), found in there.items()
    }


def _weightings(
    drawn: DrawnEvenly | None, task: str, classes: Mapping[str, str]
) -> list[tuple[Weighting, Mapping[str, float] | None]]:
    """Return how the items of a task count; ``classes`` has the class of each that was drawn."""
    if drawn is None:
        return [("whole", None)]
    if not classes:
        return [("balanced", None)]
    return [
        ("balanced", None),
        ("reweighted", balancing_weights(classes, drawn.shares_of(task))),
    ]


def scored_answers(
    row: ResultRow, labels: Iterable[str]
) -> Iterator[tuple[ScoreKey, ScoredAnswer]]:
    """Yield what a row says on each dimension that was asked, by each reference that it has.

    Args:
        row: one answer of a model.
        labels: the dimensions that are wanted.
    """
    asked = [name for name in labels if name in (row.options or row.labels)]
    groups = groups_of(row)
    for reference in row.references:
        for dimension in asked:
            right = row.references[reference].get(dimension)
            if right is not None:
                yield _key(row, reference, dimension), _answer(row, dimension, right, groups)
    if SWAP not in row.references and row.item.endswith("/none"):
        for dimension in asked:
            yield _key(row, SWAP, dimension), _answer(row, dimension, "", groups)


def _read(
    rows: Iterable[ResultRow], labels: Mapping[str, Sequence[str]], drawn_over: str
) -> tuple[Answers, dict[str, dict[str, str]]]:
    """Return the answers by what they are of, and by task the class of each item that was drawn."""
    answers: defaultdict[ScoreKey, list[ScoredAnswer]] = defaultdict(list)
    classes: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        for key, answer in scored_answers(row, labels):
            answers[key].append(answer)
        for reference in row.references.values():
            if drawn_over in reference:
                classes[row.task].setdefault(row.item, reference[drawn_over])
    return {
        key: found for key, found in answers.items() if any(a.reference for a in found)
    }, classes


def _asked(answers: Answers) -> Iterator[tuple[ScoreKey, list[ScoredAnswer]]]:
    """Yield the answers to the same questions, which no reference matters to, each once."""
    seen: set[tuple[str, str, str, str]] = set()
    for key, found in answers.items():
        what = (key.task, key.mode, key.model, key.dimension)
        if what not in seen:
            seen.add(what)
            yield key, [answer for answer in found if answer.draw == 0]


def _key(row: ResultRow, reference: str, dimension: str) -> ScoreKey:
    return ScoreKey(reference, row.task, row.mode, row.model, dimension)


def _answer(
    row: ResultRow, dimension: str, right: str, groups: Mapping[Grouping, str]
) -> ScoredAnswer:
    label = None if row.status != "answered" else row.labels.get(dimension)
    fault = row.faults.get(dimension)
    if fault is None:
        fault = "unreadable" if row.status == "answered" else row.status
    return ScoredAnswer(
        item=row.item,
        case=row.case or row.item,
        scenario=row.scenario or row.case or row.item,
        dimension=dimension,
        reference=right,
        answer=label,
        fault=fault if label is None else "",
        harmonised=dimension in row.harmonised,
        options=row.options.get(dimension, ()),
        draw=row.draw,
        repeat=row.repeat,
        groups=groups,
    )


def groups_of(row: ResultRow) -> dict[Grouping, str]:
    """Return the groups that an item belongs to, by what they are."""
    known: dict[Grouping, str] = {
        "category": row.category,
        # Of several tags none tells apart: parts of the items would overlap.
        "tag": row.tags[0] if len(row.tags) == 1 else "",
        "turn": "" if row.turn is None else str(row.turn),
        "goal": row.goal or "",
        "strategy": row.strategy,
        "generator": row.generator,
    }
    return {by: group for by, group in known.items() if group}


def _order(
    answers: Iterable[ScoreKey], dimensions: Sequence[str]
) -> Callable[[ScoreKey], tuple[int, ...]]:
    """Sort by task, mode, reference, model and dimension; what has no order, as it first came."""
    places: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for key in answers:
        for name in ("task", "mode", "model"):
            places[name].setdefault(getattr(key, name), len(places[name]))

    def place(key: ScoreKey) -> tuple[int, ...]:
        known = key.reference in REFERENCES
        return (
            places["task"][key.task],
            places["mode"][key.mode],
            REFERENCES.index(key.reference) if known else len(REFERENCES),
            places["model"][key.model],
            dimensions.index(key.dimension),
        )

    return place
