"""Report sections: confirmation by judges, its course over turns, agreement of people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.plots.lines import Series, Spot, line_chart
from outputs.reliability.beyond_chance import SHUFFLES, beyond_chance
from outputs.reliability.chairs import BLIND_READING, one_program_in_two_chairs
from outputs.reliability.foil_acceptance import foil_acceptance
from outputs.reliability.judge_agreement import (
    READER_REMARK,
    ConfirmedShare,
    grouped,
    judged_dimensions,
    kappa,
    shares,
)
from outputs.reliability.reliability import people_agreement, people_by_label
from outputs.report.gathered import Gathered
from outputs.report.labels import pair_plot
from outputs.report.page import Block, Grid, Plot, Remark, ReportSection, Table
from outputs.report.published import published
from outputs.report.wording import (
    NOTHING,
    count,
    dimension_title,
    label,
    narrow,
    percent,
    ratio,
    share,
    spread,
)
from pipeline.store.queries.report_rows import VoteCount
from quality.agreement.labels import LABEL_MEASURES, drawn_units
from quality.statistics.bootstrap import Interval
from scenarios.errors import UsageError


def unverified(run: Gathered) -> Remark:
    """Return the remark of a section that needs judges, and labels that they can be held against."""
    if run.votes:
        return Remark("Judges were asked about no label that a speaker declared.")
    why = "No judge has read this run." if run.verified else "This run has not been verified yet."
    return Remark(why, f"hipo verify {run.run}")


def dimensions(run: Gathered, votes: Sequence[VoteCount]) -> list[str]:
    """Return the dimensions that were judged: those of utterances first."""
    judged = {vote.dimension for vote in votes}
    return [name for name in judged_dimensions(run.scheme) if name in judged]


def _counted(run: Gathered) -> list[VoteCount]:
    """Return the judgements that say yes or no of a label, or would if they could be read."""
    return [vote for vote in run.votes if vote.judged or vote.unreadable]


def strategies_section(run: Gathered) -> ReportSection:
    """Return consistency by strategy, model and dimension.

    Source: HIPO, Figure 7.
    """
    title = "Strategies and models"
    lead = (
        "How often the generator, reading its answers again without seeing the labels, finds the "
        "labels it had declared (self-judgement), and how often other models find them carried "
        "(external judgement). Whiskers: 95% intervals over scenarios."
    )
    votes = _counted(run)
    if not votes:
        return ReportSection("strategies", title, lead, (unverified(run),), absent=True)
    by_place = shares(grouped(votes, lambda vote: (vote.arm, vote.source, vote.dimension)))
    seats = run.seats.items()
    plots = []
    for dimension in dimensions(run, votes):
        used = [(s, name) for s, name in seats if any(k[1:] == (s, dimension) for k in by_place)]
        rows, cells = [], []
        for arm, name in run.arms.items():
            mine = [
                by_place.get((arm, source, dimension), ConfirmedShare(0, 0)) for source, _ in used
            ]
            rows.append(BarRow(name, tuple(map(_bar, mine))))
            cells.append((name, *(_exact(each) for each in mine)))
        heading = dimension_title(run.scheme, dimension)
        drawn = bar_chart(
            rows,
            label=f"{heading}: " + "; ".join(", ".join(row) for row in cells),
            series=[name for _, name in used],
            top=1.0,
            colour=("self", "external").index(used[0][0]),
        )
        remark = f"Only the {used[0][1]} is asked." if len(used) < len(seats) else ""
        numbers = Table(heading, ("arm", *(name for _, name in used)), tuple(cells))
        plots.append(Plot(heading, drawn, numbers, remark))
    note = Remark(READER_REMARK)
    few = narrow(len({vote.scenario for vote in votes}))
    warning = (Remark(few, tone="warning"),) if few else ()
    return ReportSection("strategies", title, lead, (Grid(tuple(plots)), note, *warning))


def turns_section(run: Gathered) -> ReportSection:
    """Return consistency by the length of dialogues.

    Source: HIPO, Figure 8.
    """
    title, lead = "Consistency and length", f"The same shares by the number of {run.counted_turns}."
    votes = _counted(run)
    if not votes:
        return ReportSection("turns", title, lead, (unverified(run),), absent=True)
    by_place = shares(grouped(votes, lambda vote: (vote.source, vote.dimension, vote.turns)))
    plots = []
    for source, name in run.seats.items():
        series, rows = [], []
        for dimension in dimensions(run, [vote for vote in votes if vote.source == source]):
            heading = dimension_title(run.scheme, dimension)
            mine = sorted(
                (turns, each)
                for (by, about, turns), each in by_place.items()
                if (by, about) == (source, dimension) and each.judged
            )
            series.append(Series(heading, tuple(_spot(turns, each) for turns, each in mine)))
            rows += [
                (
                    heading,
                    str(turns),
                    percent(each.value),
                    spread(each.interval),
                    count(each.judged),
                )
                for turns, each in mine
            ]
        if not series:
            continue
        header = ("dimension", run.counted_turns.split()[1], "share", "95% interval", "judged")
        said = "; ".join(f"{row[0]} after {row[1]}: {row[2]}" for row in rows)
        drawn = line_chart(series, label=f"{name}: {said}", axis=run.counted_turns)
        heading = name[0].upper() + name[1:]
        plots.append(Plot(heading, drawn, Table(heading, header, tuple(rows))))
    printed = published(run.scheme)
    notes = [Remark(printed.self_consistency)] if printed and printed.self_consistency else []
    return ReportSection("turns", title, lead, (Grid(tuple(plots)), *notes))


def agreement_section(run: Gathered) -> ReportSection:
    """Return how well judges and people agree, beyond what chance would bring about."""
    lead = (
        "Agreement beyond chance: between the declared labels and those given anew, between "
        "external judges, and between the people who reviewed."
    )
    blocks: list[Block] = [*_chairs(run), *_beside(run), *_foils(run), *_anew(run), *_panel(run)]
    if not blocks:
        blocks.append(unverified(run))
    blocks += _people(run)
    return ReportSection("agreement", "Agreement", lead, tuple(blocks))


def _chairs(run: Gathered) -> list[Block]:
    judges = run.judges
    notes = one_program_in_two_chairs(run.models, judges["self"], judges["external"])
    return [Remark(f"{note}.", tone="warning") for note in notes]


def _beside(run: Gathered) -> list[Block]:
    """Return what agreement would be by chance, by the scene alone, and with the runner-up."""
    seats = run.seats
    rows = tuple(
        (
            f"{_seat(seats[figures.source], figures.source)} · {figures.judge}",
            dimension_title(run.scheme, figures.dimension),
            percent(figures.same),
            ratio(figures.kappa),
            percent(figures.shuffled),
            percent(figures.runner_up),
            count(figures.items),
        )
        for figures in beyond_chance(run.scheme, run.named)
        if figures.source in seats
    )
    if not rows:
        return []
    header = ("judge", "dimension", "same", "Cohen kappa", "shuffled", "runner-up", "items")
    table = Table("Declared labels against labels that judges name blind", header, rows)
    note = Remark(
        f"Shuffled: the same share after declared labels are shuffled {SHUFFLES} times among the "
        "items of one scenario and goal (goals: of one scenario), which a judge reaches who reads "
        "nothing; what has nothing to change places with there does not count, and where there are few, "
        "shuffling changes little. Runner-up: of the labels that differ, how many judges name second."
    )
    return [table, note]


def _seat(name: str, source: str) -> str:
    return name if name == BLIND_READING else source


def _foils(run: Gathered) -> list[Block]:
    """Return what judges accept that are shown labels, right ones and wrong ones."""
    rows = tuple(
        (
            found.judge,
            dimension_title(run.scheme, found.dimension),
            _exact(found.declared),
            _exact(found.foil),
            percent(found.difference),
            spread(found.interval),
        )
        for found in foil_acceptance(run.scheme, run.trials)
    )
    if not rows:
        return []
    header = ("judge", "dimension", "declared accepted", "foil accepted", "difference", "95%")
    table = Table("Labels that judges were shown on trial", header, rows)
    note = Remark(
        "The same answers were shown with the declared label and with one that others under the goal "
        "declare, never one of the first two of a blind judge. Intervals are over dialogues."
    )
    return [table, note]


def _anew(run: Gathered) -> list[Block]:
    plots = [
        pair_plot(run, dimension, run.anew, ("declared", "labelled anew"))
        for dimension in run.scheme.utterance_dimensions
        if any(pair.dimension == dimension.id for pair in run.anew)
    ]
    if not plots:
        return []
    colours = Remark(
        "Rows of the heat maps are declared labels, columns those given anew; the frame marks where "
        "both are the same, and colour shows shares of a row."
    )
    if "self" not in run.seats:
        return [colours, Grid(tuple(plots))]  # its figures are those of the blind reading above
    rows = []
    for judge in sorted({pair.by for pair in run.anew}):
        for dimension in run.scheme.utterance_dimensions:
            cells: Counter[tuple[str, str]] = Counter()
            for pair in run.anew:
                if (pair.by, pair.dimension) == (judge, dimension.id):
                    cells[label(pair.first), label(pair.second)] += pair.n
            if cells:
                heading = dimension_title(run.scheme, dimension.id)
                rows.append((f"declared · {judge}", heading, *_agreed(cells)))
    header = ("between", "dimension", "same", "Cohen kappa", "items")
    return [
        colours,
        Grid(tuple(plots)),
        Table("Declared labels against labels given anew (self-judgement)", header, tuple(rows)),
    ]


def _panel(run: Gathered) -> list[Block]:
    """Return how well the members of a panel of external judges agree."""
    cells: defaultdict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for pair in run.judge_pairs:
        cells[pair.by, pair.dimension][label(pair.first), label(pair.second)] += pair.n
    rows = tuple(
        (by.replace("\n", " · "), dimension_title(run.scheme, dimension), *_agreed(counts))
        for (by, dimension), counts in cells.items()
    )
    if not rows:
        return []
    header = ("between", "about", "same", "Cohen kappa", "items")
    return [Table("Between external judges (carried or not)", header, rows)]


def _agreed(cells: Counter[tuple[str, str]]) -> tuple[str, str, str]:
    names = sorted({name for pair in cells for name in pair})
    same = sum(cells[name, name] for name in names)
    value = kappa([[cells[one, two] for two in names] for one in names])
    return percent(same / cells.total()), ratio(value), count(cells.total())


def _people(run: Gathered) -> list[Block]:
    """Return the statistics of quality control over what people answered."""
    if not run.answers:
        note = Remark(
            "Nobody has reviewed dialogues of this run yet.", f"hipo review serve {run.run}"
        )
        return [note]
    modes = sorted({answer.mode for answer in run.answers})
    every = modes[0] if len(modes) == 1 else "all"
    try:
        agreement = people_agreement(run.scheme, run.answers)
    except UsageError as error:
        return [Remark(f"Agreement between people was not computed: {error.message}. {error.hint}")]
    rows = tuple(
        (
            row.group or every,
            dimension_title(run.scheme, row.dimension),
            row.statistic,
            ratio(row.value) if row.value is not None else f"{NOTHING} {row.note}",
            _bounds(row.interval),
            count(row.items),
            count(row.annotators),
        )
        for row in agreement
    )
    header = ("mode", "dimension", "statistic", "value", "95% interval", "items", "people")
    return [Table("Between the people who reviewed", header, rows), *_labels(run)]


def _labels(run: Gathered) -> list[Block]:
    """Return how far people agree on each label that any of them gave."""
    labels = people_by_label(run.scheme, run.answers)
    rows = tuple(
        (
            dimension_title(run.scheme, row.dimension),
            row.label,
            ratio(row.specific),
            _bounds(row.specific_interval),
            ratio(row.alpha) if row.alpha is not None or not row.note else f"{NOTHING} {row.note}",
            _bounds(row.alpha_interval),
            count(row.answers),
            count(row.dialogues),
            f"{row.annotators} of {row.of_annotators}",
        )
        for row in labels
        if row.answers
    )
    if not rows:
        return []
    units = drawn_units(labels)
    header = (
        "dimension", "label", "specific", "95% interval", "alpha", "95% interval", "answers",
        units, "given by",
    )  # fmt: skip
    table = Table("Between the people who reviewed, label by label", header, rows)
    drawn = "whole dialogues" if units == "dialogues" else "items one by one"
    note = f"{LABEL_MEASURES[0].upper()}{LABEL_MEASURES[1:]}. Intervals draw {drawn}."
    return [table, Remark(note)]


def _bounds(bounds: Interval | None) -> str:
    """Return an interval of coefficients; nothing where there is none."""
    return "" if bounds is None else f"{bounds.low:.2f} to {bounds.high:.2f}"


def _bar(confirmed: ConfirmedShare) -> Bar:
    if confirmed.interval is None:
        return Bar(confirmed.value, share(confirmed))
    return Bar(confirmed.value, share(confirmed), confirmed.interval.low, confirmed.interval.high)


def _spot(turns: int, confirmed: ConfirmedShare) -> Spot:
    value = confirmed.yes / confirmed.judged
    if confirmed.interval is None:
        return Spot(turns, value, share(confirmed))
    return Spot(turns, value, share(confirmed), confirmed.interval.low, confirmed.interval.high)


def _exact(confirmed: ConfirmedShare) -> str:
    return f"{share(confirmed)} of {count(confirmed.judged)}" if confirmed.judged else NOTHING
