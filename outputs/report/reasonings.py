"""Report section: how right reasonings about games are, at first and in the end."""

from __future__ import annotations

from collections.abc import Iterator

from outputs.report.page import Block, Remark, ReportSection, Table
from outputs.report.wording import NOTHING, count, part, percent
from quality.reasoning.figures import ReasoningFigures
from quality.reasoning.form import STAGES
from scenarios.plural import plural

_LEAD = (
    "Every claim about payoffs is solved, and who claimed something false is told and tries again. "
    "Gold calls a reasoning right where all who rated it do."
)
_STAGE = {"original": "at first", "final": "in the end"}


def reasonings_section(figures: ReasoningFigures, run: str) -> ReportSection:
    """Return shares of wrong reasonings, claims that failed, and attempts.

    Args:
        figures: of the reasonings of the run, and of the people who rated them.
        run: what the run is called on the command line.
    """
    blocks: list[Block] = [_wrong(figures), _attempts(figures)]
    if figures.failed_claims:
        blocks.append(_failed(figures))
    if figures.raters:
        blocks += [_against_gold(figures), _mistakes(figures)]
    blocks.append(Remark("All of it, as data:", f"hipo metrics reasoning {run} --json -"))
    return ReportSection("reasonings", "Reasoning in games", _LEAD, tuple(blocks))


def _wrong(figures: ReasoningFigures) -> Table:
    """Return who calls how many reasonings wrong; one row for each game and judge."""
    by_place = {(r.game, r.judge, r.stage): r for r in figures.error_rates}
    rows = []
    for game, judge in dict.fromkeys((r.game, r.judge) for r in figures.error_rates):
        cells = [by_place[game, judge, stage] for stage in STAGES]
        shares = (part(c.wrong, c.total) if c.total else NOTHING for c in cells)
        rows.append((_game(game), judge, count(max(c.total for c in cells)), *shares))
    header = ("game", "by", "reasonings", *(f"wrong {_STAGE[stage]}" for stage in STAGES))
    return Table("Reasonings that are not right", header, tuple(rows))


def _attempts(figures: ReasoningFigures) -> Table:
    numbers = sorted(figures.attempts)
    row = ("reasonings", *(part(figures.attempts[n], figures.logs) for n in numbers))
    header = ("", *(plural(n, "attempt") for n in numbers))
    return Table("Attempts that they took", header, (row,))


def _failed(figures: ReasoningFigures) -> Table:
    counts = {(one.game, one.kind, one.stage): one.count for one in figures.failed_claims}
    rows = tuple(
        (_game(game), kind, *(count(counts[game, kind, stage]) for stage in STAGES))
        for game, kind in dict.fromkeys((one.game, one.kind) for one in figures.failed_claims)
    )
    header = ("game", "kind of mistake", *(_STAGE[stage] for stage in STAGES))
    failing, solved = count(figures.claims.failing), count(figures.claims.well_formed)
    caption = f"Failed claims ({failing} of {solved}, all attempts)"
    return Table(caption, header, rows)


def _against_gold(figures: ReasoningFigures) -> Table:
    rows = tuple(
        (
            _game(game),
            _STAGE[stage],
            *(count(number) for number in (matrix.tp, matrix.fp, matrix.tn, matrix.fn)),
            *map(percent, (matrix.accuracy, matrix.precision, matrix.recall, matrix.specificity)),
            percent(matrix.f1),
        )
        for (game, stage), matrix in figures.matrices.items()
    )
    header = (
        "game", "attempt", "TP", "FP", "TN", "FN", "accuracy", "precision", "recall", "specificity",
        "F1",
    )  # fmt: skip
    return Table("The solver against gold (positive: the reasoning is right)", header, rows)


def _mistakes(figures: ReasoningFigures) -> Table:
    """Return which kinds of mistakes people found, by game."""
    header = ("game", "kind of mistake", *figures.raters)
    return Table("Mistakes that people found in reasonings", header, tuple(_found(figures)))


def _found(figures: ReasoningFigures) -> Iterator[tuple[str, ...]]:
    counts = {(one.game, one.error_type, one.rater): one for one in figures.error_types}
    for game, kind in dict.fromkeys((one.game, one.error_type) for one in figures.error_types):
        cells = (counts[game, kind, rater] for rater in figures.raters)
        yield (_game(game), kind, *(part(cell.count, cell.logs) for cell in cells))


def _game(game: str) -> str:
    return game or "all"
