"""A study as a page, and its plots as files."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.judge_agreement import READER_REMARK
from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.plots.canvas import standalone
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
    render_page,
)
from outputs.report.wording import (
    NOTHING,
    count,
    counted,
    dimension_title,
    dollars,
    narrow,
    percent,
    share,
)
from outputs.study import ALL_MODELS, SOURCES, Contestant, Difference, StudyResult
from scenarios.verdicts import Source

_METHOD = (
    "Intervals are percentile bootstraps over whole scenarios (2,000 resamples, 95%); differences "
    "are paired: both sides see the same scenarios in every resample."
)
_NAMES: dict[Source, str] = {"self": "Self-judgement", "external": "External judgement"}


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
                f"{counted(study.left_out, 'case')} left out: not every strategy and model has "
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
    return {source: _plot(study, source) for source in SOURCES if study.dimensions(source)}


def study_files(study: StudyResult) -> dict[str, str]:
    """Return the plots as files of their own, by name."""
    return {f"study-{source}.svg": standalone(svg) for source, svg in study_plots(study).items()}


def study_table(
    study: StudyResult, sources: Sequence[Source] = SOURCES
) -> tuple[list[str], list[list[str]]]:
    """Return the one table of a study: header, and a row per strategy and model."""
    sources = [source for source in sources if study.dimensions(source)]
    columns = [(source, name) for source in sources for name in study.dimensions(source)]
    header = ["strategy", "model", *(f"{source} {name}" for source, name in columns)]
    header += [f"wins ({source})" for source in sources]
    rows = []
    for contestant in study.contestants:
        row = [*contestant]
        row += [share(study.measure(contestant, source, name)) for source, name in columns]
        row += [_won(study, contestant, source) for source in sources]
        rows.append(row)
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
            return f"{wins.won} of {wins.scenarios}"
    return NOTHING


def _result(study: StudyResult) -> ReportSection:
    plots = tuple(Plot(_NAMES[source], svg) for source, svg in study_plots(study).items())
    tiles = Tiles(
        (
            Tile(count(study.cases), "cases compared", "played by every strategy and model"),
            Tile(count(study.scenarios), "scenarios"),
            Tile(count(len(study.contestants)), "strategies and models"),
        )
    )
    blocks: list[Block] = [tiles]
    if plots:
        blocks.append(Grid(plots))
    else:
        blocks.append(Remark("No judge has looked at these dialogues yet."))
    for source in SOURCES:
        header, rows = study_table(study, [source])
        if study.dimensions(source):
            caption = f"{_NAMES[source]}: shares with 95% intervals, and scenarios won"
            blocks.append(Table(caption, tuple(header), tuple(map(tuple, rows))))
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
        "same cases. Where the interval contains zero, this study does not tell the two apart."
    )
    title = "Strategies compared"
    if not study.differences:
        note = Remark("Direct improvisation is not among the strategies, or it is the only one.")
        return ReportSection("certainty", title, lead, (note,))
    rows = tuple(
        (
            f"{found.strategy} · {found.model}",
            _NAMES[found.source],
            dimension_title(study.scheme, found.dimension),
            *difference_text(found),
        )
        for found in study.differences
    )
    header = ("strategy · model", "judged by", "dimension", "difference", "95% interval")
    table = Table("Percentage points above direct improvisation", header, rows)
    return ReportSection("certainty", title, lead, (table,))


def _wins(study: StudyResult) -> ReportSection:
    lead = (
        "In how many scenarios a strategy has the highest mean share over the utterance "
        "dimensions, alone or tied with others."
    )
    rows = tuple(
        (
            wins.strategy,
            "all models" if wins.model == ALL_MODELS else wins.model,
            _NAMES[wins.source],
            count(wins.won),
            count(wins.tied),
            count(wins.scenarios),
            percent(wins.won / wins.scenarios if wins.scenarios else None),
        )
        for wins in study.wins
    )
    header = ("strategy", "model", "judged by", "won", "tied", "scenarios", "share won")
    return ReportSection("wins", "Scenarios won", lead, (Table("Wins", header, rows),))


def _effort(study: StudyResult) -> ReportSection:
    rows = tuple(
        (
            effort.model,
            count(effort.generated),
            count(effort.failed),
            count(effort.calls),
            count(effort.tokens),
            dollars(effort.cost_usd)
            + (f" + {effort.unpriced_calls:,} calls of unknown cost"
               if effort.unpriced_calls and effort.cost_usd is not None else ""),
        )
        for effort in study.efforts
    )  # fmt: skip
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
        rows, label=f"{_NAMES[source]} ({', '.join(titles)}): {said}", series=titles, top=1.0
    )
