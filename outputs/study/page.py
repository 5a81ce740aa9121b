"""A study as a page, and its plots as files."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.plots.canvas import standalone
from outputs.plots.forest import PlottedDifference, forest_plot
from outputs.reliability.judge_agreement import READER_REMARK
from outputs.report.page import (
    Block,
    Grid,
    Page,
    Plot,
    Remark,
    ReportSection,
    Table,
    Tile,
    Tiles,
    absent_section,
    render_page,
)
from outputs.report.wording import NOTHING, bill, count, dimension_title, narrow, share
from outputs.study.outcome import outcome_sentence, seats, shown_differences
from outputs.study.study import (
    ALL_MODELS,
    BASELINE,
    Contestant,
    Difference,
    StudyResult,
)
from scenarios.plural import plural
from scenarios.verdicts import Source

_METHOD = (
    "Intervals are percentile bootstraps over whole scenarios (2,000 resamples, 95%); differences "
    "are paired: both sides see the same scenarios in every resample."
)


def study_page(study: StudyResult, *, title: str, version: str) -> str:
    """Return the page of a study: one table, its plots, and how sure it is.

    Source: HIPO, appendix B.1 and Figure 7.
    """
    notices = []
    if any(model.startswith("offline/") for _, model in study.contestants):
        notices.append(
            Remark(
                "Demonstration baseline: built-in rules (offline) wrote these dialogues, not a "
                "language model; the comparison says nothing about any model.",
                tone="warning",
            )
        )
    if study.left_out:
        notices.append(
            Remark(
                f"{plural(study.left_out, 'case')} left out: not every strategy and model has "
                "them. The same command tries again what is missing.",
                tone="warning",
            )
        )
    if study.cases and narrow(study.scenarios):
        notices.append(Remark(narrow(study.scenarios), tone="warning"))
    models = dict.fromkeys(model for _, model in study.contestants)
    page = Page(
        title=title,
        subtitle=f"Strategies and models over the same cases · {', '.join(models)}",
        notices=tuple(notices),
        sections=(_result(study), _certainty(study), _wins(study), _effort(study)),
        footer=(
            _METHOD,
            f"Made by hipo {version}; this page loads nothing.",
        ),
    )
    return render_page(page)


def study_plots(study: StudyResult) -> dict[Source, str]:
    """Return one SVG per kind of judge: bars of every dimension, by strategy and model."""
    return {source: _plot(study, source) for source, _ in seats(study)}


def study_files(study: StudyResult) -> dict[str, str]:
    """Return the plots as files of their own, by name."""
    return {f"study-{source}.svg": standalone(svg) for source, svg in study_plots(study).items()}


def study_table(study: StudyResult, source: Source) -> tuple[list[str], list[list[str]]]:
    """Return what one kind of judge found: header, and a row per strategy and model."""
    names = study.dimensions(source)
    header = ["strategy", "model", *(f"{source} {name}" for name in names), f"wins ({source})"]
    rows = [
        [
            *contestant,
            *(share(study.measure(contestant, source, name)) for name in names),
            _won(study, contestant, source),
        ]
        for contestant in study.contestants
    ]
    return header, rows


def difference_text(difference: Difference) -> tuple[str, str]:
    """Return a difference of shares in percentage points, and its interval."""
    if difference.value is None:
        return NOTHING, ""
    bounds = ""
    if difference.interval is not None:
        bounds = f"{_points(difference.interval.low)} to {_points(difference.interval.high)}"
    return _points(difference.value), bounds


def _points(value: float) -> str:
    return f"{100 * value + 0.0:+.1f}"


def _won(study: StudyResult, contestant: Contestant, source: Source) -> str:
    for wins in study.wins:
        if (wins.strategy, wins.model) == contestant and wins.source == source:
            tied = f", {wins.tied} tied" if wins.tied else ""
            return f"{wins.won}{tied} of {wins.scenarios}"
    return NOTHING


def _heading(name: str) -> str:
    return name[0].upper() + name[1:]


def _result(study: StudyResult) -> ReportSection:
    blocks: list[Block] = []
    sentence = outcome_sentence(study)
    if sentence:
        blocks.append(Remark(_heading(sentence)))
    blocks.append(
        Tiles(
            (
                Tile(count(study.cases), "cases compared", "played by every strategy and model"),
                Tile(count(study.scenarios), "scenarios"),
                Tile(count(len(study.contestants)), "strategies and models"),
            )
        )
    )
    plots = []
    for source, name in seats(study):
        header, rows = study_table(study, source)
        caption = f"{_heading(name)}: shares with 95% intervals, and scenarios won"
        numbers = Table(caption, tuple(header), tuple(map(tuple, rows)))
        plots.append(Plot(_heading(name), _plot(study, source), numbers))
    if plots:
        blocks.append(Grid(tuple(plots)))
    else:
        blocks.append(Remark("No judge has looked at these dialogues yet."))
    if study.scheme.declared != study.scheme.dimensions:
        blocks.append(Remark(READER_REMARK))
    if study.judges:
        blocks.append(Remark(f"Judges: {', '.join(study.judges)}."))
    lead = (
        "How often a judge finds the labels that an answer was written to carry: the generator "
        "itself, reading again without seeing them, and other models that are asked about them."
    )
    return ReportSection("result", "Result", lead, tuple(blocks))


def _certainty(study: StudyResult) -> ReportSection:
    lead = (
        "Difference from direct improvisation with the same model, in percentage points, on the "
        "same cases. Where the interval contains zero, this study does not tell the two apart: the "
        "box is hollow."
    )
    title = "Strategies compared"
    found = shown_differences(study)
    if not found:
        why = "Direct improvisation is not among the strategies, or it is the only one."
        return absent_section("certainty", title, why)
    plots = []
    for source, name in seats(study):
        for who in dict.fromkeys((one.strategy, one.model) for one in found):
            mine = [d for d in found if d.source == source and (d.strategy, d.model) == who]
            if mine:
                plots.append(_forest(study, f"{' · '.join(who)}, {name}", mine))
    return ReportSection("certainty", title, lead, (Grid(tuple(plots)),))


def _forest(study: StudyResult, title: str, differences: Sequence[Difference]) -> Plot:
    """Return the differences of one strategy by one kind of judge, in the order of the scheme."""
    order = study.dimensions(differences[0].source)
    rows, cells = [], []
    for found in sorted(differences, key=lambda one: order.index(one.dimension)):
        name = dimension_title(study.scheme, found.dimension)
        value, bounds = difference_text(found)
        interval = found.interval
        ends = (None, None) if interval is None else (interval.low, interval.high)
        text = f"{value} [{bounds}]" if bounds else value
        rows.append(PlottedDifference(name, found.value, text, *ends))
        cells.append((name, value, bounds))
    said = "; ".join(f"{row.label} {row.text}" for row in rows)
    ahead = f"\u2190 {BASELINE} ahead \u00b7 {differences[0].strategy} ahead \u2192"
    drawn = forest_plot(rows, label=f"{title}: {said}", axis=ahead)
    header = ("dimension", "difference", "95% interval")
    return Plot(title, drawn, Table("Percentage points above direct", header, tuple(cells)))


def _wins(study: StudyResult) -> ReportSection:
    lead = (
        "In how many scenarios a strategy has the highest mean share over the utterance "
        "dimensions, alone or tied with others."
    )
    names = dict(seats(study))
    rows = tuple(
        (
            wins.strategy,
            "all models" if wins.model == ALL_MODELS else wins.model,
            names[wins.source],
            count(wins.won),
            count(wins.tied),
            count(wins.scenarios - wins.won - wins.tied),
            count(wins.scenarios),
        )
        for wins in study.wins
        if wins.source in names
    )
    header = ("strategy", "model", "judged by", "won alone", "tied", "lost", "scenarios")
    return ReportSection("wins", "Scenarios won", lead, (Table("Wins", header, rows),))


def _effort(study: StudyResult) -> ReportSection:
    rows = tuple(
        (
            effort.model,
            count(effort.generated),
            count(effort.failed),
            count(effort.calls),
            count(effort.tokens),
            bill(effort.cost_usd, effort.unpriced_calls, effort.bound_usd),
        )
        for effort in study.efforts
    )
    header = ("model", "dialogues", "failed", "calls", "tokens", "cost")
    table = Table("What it took, judges included", header, rows)
    return ReportSection(
        "effort", "Cost", "One run per model; each can be looked at on its own.", (table,)
    )


def _plot(study: StudyResult, source: Source) -> str:
    dimensions = study.dimensions(source)
    rows = []
    for contestant in study.contestants:
        measures = [study.measure(contestant, source, name) for name in dimensions]
        bars = tuple(
            Bar(s.value, share(s), *((s.interval.low, s.interval.high) if s.interval else ()))
            for s in measures
        )
        rows.append(BarRow(" · ".join(contestant), bars))
    titles = [dimension_title(study.scheme, name) for name in dimensions]
    said = "; ".join(f"{row.label}: {', '.join(bar.text for bar in row.bars)}" for row in rows)
    return bar_chart(
        rows,
        label=f"{_heading(dict(seats(study))[source])} ({', '.join(titles)}): {said}",
        series=titles,
        top=1.0,
    )
