"""Report section: how the dialogues that were accepted differ from all that were generated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.report.gathered import Gathered
from outputs.report.page import Grid, Plot, Remark, ReportSection, Table, absent_section
from outputs.report.wording import count, dimension_title, percent
from outputs.value_names import names_of, value_names
from pipeline.store.queries.report_rows import EndingCount
from scenarios.plural import plural

_TITLE = "What acceptance selects"
_SHIFT = 0.05
"""Shares that move by as much are named above the plots."""


def accepted_section(run: Gathered) -> ReportSection:
    """Return the distributions of goals, lengths, categories and labels, accepted against all."""
    if not run.verified:
        why = "This run has not been verified yet."
        return absent_section("accepted", _TITLE, why, f"hipo verify {run.run}")
    made = [ending for ending in run.endings if ending.status == "generated"]
    kept = sum(ending.n for ending in made if ending.verdict == "accepted")
    if kept in (0, run.generated):
        why = "Nothing was accepted." if not kept else "All dialogues were accepted."
        return absent_section("accepted", _TITLE, why)
    found = [*_of_dialogues(run, made), *_of_labels(run)]
    plots = tuple(_plot(title, unit, values, both) for title, unit, values, both in found)
    lead = (
        f"Shares among all {count(run.generated)} dialogues and among the {count(kept)} that were "
        "accepted: what is taken away is not a fair sample of what was generated where they differ."
    )
    return ReportSection("accepted", _TITLE, lead, (Remark(_largest(found)), Grid(plots)))


Both = tuple[Counter[str], Counter[str]]
"""How often each value occurs among all, and among the accepted."""
Distribution = tuple[str, str, Sequence[str], Both]
"""(title, what is counted, values in order, counts)."""


def _of_dialogues(run: Gathered, made: Sequence[EndingCount]) -> Iterable[Distribution]:
    scheme = run.scheme
    if scheme.assigned:
        goal = scheme.goal
        title = dimension_title(scheme, goal.id)
        yield _counted(title, made, lambda ending: ending.goal, goal.values)
    lengths = sorted({ending.turns for ending in made})
    names = [plural(turns, "exchange") for turns in lengths]
    yield _counted("Length", made, lambda ending: plural(ending.turns, "exchange"), names)
    yield _counted(
        "Category of the scenario",
        made,
        lambda ending: run.category(ending.scenario),
        tuple(scheme.categories or ()),
    )


def _counted(
    title: str,
    made: Iterable[EndingCount],
    name: Callable[[EndingCount], str],
    values: Sequence[str],
) -> Distribution:
    every, kept = Counter[str](), Counter[str]()
    for ending in made:
        every[name(ending)] += ending.n
        kept[name(ending)] += ending.n * (ending.verdict == "accepted")
    return title, "dialogues", [*values, *sorted(set(every) - set(values))], (every, kept)


def _of_labels(run: Gathered) -> Iterable[Distribution]:
    for dimension in run.scheme.utterance_dimensions:
        every, kept = Counter[str](), Counter[str]()
        for found in run.labels:
            if found.dimension == dimension.id:
                for name in names_of(dimension, found.value):
                    every[name] += found.n
                    kept[name] += found.n * (found.verdict == "accepted")
        if every:
            values = value_names(dimension)
            shown = [*values, *sorted(set(every) - set(values))]
            yield dimension_title(run.scheme, dimension.id), "answers", shown, (every, kept)


def _share(value: str, counts: Counter[str]) -> float:
    return counts[value] / counts.total() if counts.total() else 0.0


def _plot(title: str, unit: str, values: Sequence[str], both: Both) -> Plot:
    rows, cells = [], []
    for value in values:
        shares = [_share(value, counts) for counts in both]
        rows.append(BarRow(value, tuple(Bar(share, percent(share)) for share in shares)))
        moved = f"{100 * (shares[1] - shares[0]) + 0.0:+.1f}"
        numbers = [count(counts[value]) for counts in both]
        cells.append((value, numbers[0], percent(shares[0]), numbers[1], percent(shares[1]), moved))
    said = "; ".join(f"{row[0]}: {row[2]} of all, {row[4]} of the accepted" for row in cells)
    drawn = bar_chart(rows, label=f"{title}: {said}", series=("all", "accepted"), top=1.0, colour=4)
    header = ("label", unit, "share", f"accepted {unit}", "share of these", "points")
    return Plot(title, drawn, Table(title, header, tuple(cells)))


def _largest(found: Sequence[Distribution]) -> str:
    """Name the shares that acceptance moves most, or say that it moves none far."""
    moved = [
        (_share(value, kept) - _share(value, every), title, value, every, kept)
        for title, _, values, (every, kept) in found
        for value in values
    ]
    moved.sort(key=lambda row: -abs(row[0]))
    far = [row for row in moved if abs(row[0]) >= _SHIFT][:3]
    if not far:
        return (
            f"No share differs by {100 * _SHIFT:.0f} points or more; the largest difference is "
            f"{100 * moved[0][0] + 0.0:+.1f} points ({moved[0][1]}: {moved[0][2]})."
        )
    return "Acceptance moves most: " + "; ".join(
        f"{title}: {value} from {percent(_share(value, every))} to {percent(_share(value, kept))}"
        for _, title, value, every, kept in far
    ) + "."  # fmt: skip
