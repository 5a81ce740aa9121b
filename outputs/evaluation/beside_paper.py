"""One's own rows below those of the printed Table 2, for corpora that are made as the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from outputs.evaluation.evaluated import Contender, Evaluated, ReferenceView
from outputs.evaluation.result_lines import OF_CASES, Drawn, drawn_in, in_percent, spread_of
from outputs.result_tables.model import ResultBlock, ResultColumn, ResultTable, TableRow
from quality.evaluation.evaluation_record import EvaluatedSet
from quality.evaluation.scores import ClusteredEstimate, Scores

RECIPE, SCHEME = "hipo-paper", "hipo@1"
_TASKS = {
    "utterance": ("hipo-utterance-paper",),
    "cumulative": ("hipo-cumulative-paper", "hipo-cumulative"),
    "conversation": ("hipo-conversation",),
}
"""The paper's aspects, and the tasks that ask as it does; the first that was asked counts."""
_MODE = "zero-shot"
_DECLARED = ReferenceView("declared", "whole")
_ROWS = (
    "Rows of this corpus are at the end. They are of the same recipe, scheme and kind of opening, "
    "and of other items: the best and the second are marked among the printed models alone."
)
_GOAL = (
    "Rows of this corpus have macro-F1 where the paper has F1. They have none for the goal: the "
    "paper's F1 of the goal is no mean over its two labels (docs/evaluation.md)."
)


def is_made_as_the_papers(corpus: EvaluatedSet) -> bool:
    """Return whether models wrote a corpus by the paper's recipe, scheme and openings by goal."""
    openings = {kind for kind, dialogues in corpus.openings.items() if dialogues}
    as_the_paper = corpus.recipe == RECIPE and corpus.scheme == SCHEME and openings == {"by-goal"}
    return as_the_paper and not corpus.offline


def beside_paper(evaluations: Sequence[Evaluated], paper: ResultBlock) -> ResultTable | None:
    """Return the paper's leaderboard with one's own rows; None where no corpus fits it.

    Source: HIPO, Table 2.
    """
    board = next(table for table in paper.tables if table.ranked)
    found = [
        (
            one.signed(model.name),
            [_score(one, Contender(model.name, _MODE), c) for c in board.columns],
        )
        for one in evaluations
        if is_made_as_the_papers(one.record.set)
        for model in one.record.models
    ]
    scored = [score for _, scores in found for score in scores if score is not None]
    if not scored:
        return None
    drawn = drawn_in(scored)
    rows = [_row(name, zip(scores, board.columns, strict=True), drawn) for name, scores in found]
    return ResultTable(
        id="beside-paper",
        source=f"{board.source}, and this corpus",
        title="models on corpora of one recipe",
        unit=board.unit,
        ranked=True,
        columns=board.columns,
        rows=(*board.rows, *(row for row in rows if set(row.values) != {None})),
        notes=(_ROWS, _GOAL, *([OF_CASES] if drawn == "cases" else []), *board.notes),
        drawn=drawn,
    )


def _score(one: Evaluated, contender: Contender, column: ResultColumn) -> Scores | None:
    """Return what a model scored on what a column is about; nothing where the two have no like figure."""
    if column.metric == "F1" and column.dimension == one.record.set.goal:
        return None
    asked = (one.score(t, column.dimension, _DECLARED, contender) for t in _TASKS[column.task])
    return next((found for found in asked if found is not None), None)


def _row(name: str, scores: Iterable[tuple[Scores | None, ResultColumn]], drawn: Drawn) -> TableRow:
    """Return the figures of a model, in per cent, with their intervals."""
    figures = [
        ClusteredEstimate(None)
        if score is None
        else score.accuracy
        if column.metric == "accuracy"
        else score.macro_f1
        for score, column in scores
    ]
    return TableRow(
        kind="own",
        name=name,
        family="this corpus",
        reference=_DECLARED.name,
        values=tuple(in_percent(figure.value) for figure in figures),
        intervals=tuple(spread_of(figure, drawn) for figure in figures),
    )
