"""Report section: how people disagree on labels, and whether at least on neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from outputs.report.page import Block, Fold, Remark, ReportSection, Table
from outputs.report.wording import NOTHING, count, dimension_title, label, part, percent
from quality.disagreement.report import DisagreementReport
from scenarios.schemes.model import Scheme

_MOST_PAIRS = 5
"""Confused pairs of one dimension that are shown, the most frequent first."""
_LEAD = (
    "What is hard to label, by the people who reviewed this run. An item is one turn or one dialogue "
    "that two or more of them labelled."
)
_EVERYTHING = ""
"""The group that holds all items."""


def disagreement_section(
    reports: Iterable[DisagreementReport], scheme: Scheme, run: str
) -> ReportSection | None:
    """Return how hard items are, which labels are confused, and whether these are neighbours.

    Args:
        reports: one for each dimension with labels that people gave.
        scheme: the dimensions.
        run: what the run is called on the command line.

    Returns:
        None where no item was labelled by two people.
    """
    shared = [
        report
        for report in reports
        if any(row.items for row in report.difficulty if row.group == _EVERYTHING)
    ]
    if not shared:
        return None
    given = [_given(shared, scheme), *_ratings(shared, scheme)]
    blocks: list[Block] = [_difficulty(shared, scheme), Fold("What people gave", tuple(given))]
    if any(report.confused for report in shared):
        blocks.append(_confused(shared, scheme))
    blocks += [_wheel(shared, scheme)] if any(report.adjacency for report in shared) else []
    blocks += [_sides(shared, scheme)] if any(report.polarity_matches for report in shared) else []
    blocks.append(Remark("All levels of quality control:", f"hipo qc {run}"))
    return ReportSection("disagreement", "Disagreement of people", _LEAD, tuple(blocks))


def _difficulty(reports: Sequence[DisagreementReport], scheme: Scheme) -> Table:
    rows = tuple(
        (
            dimension_title(scheme, report.dimension),
            count(row.items),
            *(part(number, row.items) for number in (row.unanimous, row.majority, row.split)),
            count(sum(item.undecided for item in report.to_adjudicate)),
        )
        for report in reports
        for row in report.difficulty
        if row.group == _EVERYTHING
    )
    header = ("dimension", "items", "unanimous", "majority", "split", "for an expert")
    return Table("How hard items are", header, rows)


def _given(reports: Sequence[DisagreementReport], scheme: Scheme) -> Table:
    """Return how often people gave each label, and how many items have it as their gold label."""
    rows = []
    for report in reports:
        mine = [row for row in report.given if row.group == _EVERYTHING]
        decided = sum(row.gold for row in mine)
        rows += [
            (
                dimension_title(scheme, report.dimension),
                row.label,
                f"{count(row.answers)} ({percent(row.share)})",
                part(row.gold, decided),
            )
            for row in mine
            if row.answers or row.gold
        ]
    return Table("Labels", ("dimension", "label", "answers", "gold"), tuple(rows))


def _ratings(reports: Sequence[DisagreementReport], scheme: Scheme) -> Iterator[Table]:
    """Yield how ratings are spread, where there are any."""
    spreads = {
        row.dimension: row
        for report in reports
        for row in report.ratings
        if row.group == _EVERYTHING
    }
    rows = tuple(
        (
            dimension_title(scheme, row.dimension),
            count(row.answers),
            *(
                NOTHING if value is None else f"{value:.2f}"
                for value in (row.mean, row.sd, row.low, row.median, row.high)
            ),
        )
        for row in spreads.values()
    )
    if rows:
        header = ("dimension", "answers", "mean", "SD", "25%", "median", "75%")
        yield Table("Ratings", header, rows)


def _confused(reports: Sequence[DisagreementReport], scheme: Scheme) -> Table:
    """Return the labels that pairs of people gave to the same item, most frequent first."""
    rows = []
    for report in reports:
        pairs = [pair for pair in report.confused if pair.group == _EVERYTHING]
        total = sum(pair.count for pair in pairs)
        for pair in pairs[:_MOST_PAIRS]:
            near = {None: NOTHING, True: "yes", False: "no"}[pair.neighbours]
            title = dimension_title(scheme, report.dimension)
            labels = (label(pair.first), label(pair.second))
            rows.append((title, *labels, part(pair.count, total), near))
    header = ("dimension", "label", "and", "pairs of people", "neighbours")
    caption = f"Labels given to one item, up to {_MOST_PAIRS} pairs of labels for each dimension"
    return Table(caption, header, tuple(rows))


def _wheel(reports: Sequence[DisagreementReport], scheme: Scheme) -> Table:
    rows = tuple(
        (
            dimension_title(scheme, report.dimension),
            count(row.pairs),
            count(row.neighbours),
            percent(row.share),
            percent(row.expected),
        )
        for report in reports
        for row in report.adjacency
        if row.group == _EVERYTHING
    )
    header = ("dimension", "disagreements", "between neighbours", "share", "by chance")
    return Table("Disagreements between neighbours on the wheel of labels", header, rows)


def _sides(reports: Sequence[DisagreementReport], scheme: Scheme) -> Table:
    rows = tuple(
        (
            dimension_title(scheme, report.dimension),
            count(row.answers),
            *(part(n, row.answers) for n in (row.same, row.neutral, row.opposite)),
        )
        for report in reports
        for row in report.polarity_matches
        if row.group == _EVERYTHING
    )
    header = ("dimension", "answers", "same side", "middle", "other side")
    return Table("Ratings beside the side that the label names", header, rows)
