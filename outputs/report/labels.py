"""Report sections: distributions of labels, wanted against obtained tactics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.plots.heatmap import heatmap
from outputs.report.gathered import Gathered
from outputs.report.page import Block, Grid, Plot, Remark, ReportSection, Table
from outputs.report.published import Published, published
from outputs.report.wording import count, dimension_title, label, part, percent
from outputs.value_names import names_of, value_names
from pipeline.store.queries.report_rows import LabelCount, PairCount
from scenarios.margins import unmet_in_words
from scenarios.schemes.model import Dimension

_PRINTED = ("scenarios", "facts", "dialogues", "utterances")


def labels_section(run: Gathered) -> ReportSection:
    """Return the distributions of goals, labels and categories."""
    others = published(run.scheme)
    goals = Counter[str]()
    for ending in run.endings:
        if ending.status == "generated":
            goals[ending.goal] += ending.n
    plots = []
    if run.scheme.assigned:
        goal = run.scheme.goal
        title = dimension_title(run.scheme, goal.id)
        plots.append(_distribution(title, goal.values, goals, unit="dialogues", colour=3))
    # Nobody declares labels of imported words: people or judges give them.
    silent = run.imported and not run.labels
    told = () if silent else run.scheme.utterance_dimensions
    for place, dimension in enumerate(told):
        mine = [one for one in run.labels if one.dimension == dimension.id]
        values, counts = _values(dimension, mine)
        remark = others.remarks.get(dimension.id, "") if others else ""
        title = dimension_title(run.scheme, dimension.id)
        plots.append(
            _distribution(title, values, counts, unit="answers", colour=place % 3, note=remark)
        )
    blocks: list[Block] = [Grid((*plots, _categories(run, others)))]
    if len(run.arms) > 1:
        blocks.append(_by_arm(run))
    if silent:
        what = "Nobody declared labels of these utterances. What people gave, and which labels are gold:"
        blocks.append(Remark(what, f"hipo qc {run.run}"))
    lead = (
        "Labels that the generator declared for its improvised answers, and the goals it was "
        "assigned. Labels that never occur are shown too."
    )
    return ReportSection("labels", "Labels", lead, tuple(blocks))


def tactics_section(run: Gathered) -> ReportSection:
    """Return the labels that were asked for against those that were declared."""
    lead = (
        "Rows are labels that the pipeline asked for, answer by answer, columns those that the "
        "generator declared; the frame marks where both are the same, and colour shows shares of a row."
    )
    if not run.wanted:
        note = Remark(
            "Nothing was asked for: the generator chose its tactics freely. Tactics are asked for "
            "with",
            "hipo generate --tactics balanced",
        )
        return ReportSection("tactics", "Wanted and obtained tactics", lead, (note,), absent=True)
    plots = [
        pair_plot(run, dimension, run.wanted, ("asked for", "declared"))
        for dimension in run.scheme.utterance_dimensions
        if any(pair.dimension == dimension.id for pair in run.wanted)
    ]
    blocks: list[Block] = [Grid(tuple(plots))]
    unmet = unmet_in_words(run.unmet)
    if unmet:
        told = (
            f"{unmet[0].upper()}{unmet[1:]}. What was asked for below is what is within reach, not "
            "what was wanted."
        )
        blocks[:0] = [Remark(told, tone="warning"), _out_of_reach(run)]
    return ReportSection("tactics", "Wanted and obtained tactics", lead, tuple(blocks))


def _out_of_reach(run: Gathered) -> Table:
    """Return the shares that rules put out of reach beside those that were asked for and declared."""
    asked, declared = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    turns = Counter[str]()
    for pair in run.wanted:
        asked[pair.dimension, label(pair.first)] += pair.n
        declared[pair.dimension, label(pair.second)] += pair.n
        turns[pair.dimension] += pair.n
    rows = []
    for margin in run.unmet:
        dimension, name = margin.dimensions[0], margin.labels[0]
        single = len(margin.dimensions) == 1 and turns[dimension] > 0
        counts = (asked, declared)
        rows.append(
            (
                " + ".join(margin.labels),
                " + ".join(dimension_title(run.scheme, one) for one in margin.dimensions),
                percent(margin.target),
                percent(margin.achieved),
                *(
                    percent(c[dimension, name] / turns[dimension] if single else None)
                    for c in counts
                ),
            )
        )
    header = ("label", "dimension", "wanted", "within reach", "asked for", "declared")
    return Table(
        "Wanted shares that are out of reach, and what took their place", header, tuple(rows)
    )


def pair_plot(
    run: Gathered, dimension: Dimension, pairs: Iterable[PairCount], names: tuple[str, str]
) -> Plot:
    """Return a heat map of which label of a dimension met which."""
    counts: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        if pair.dimension == dimension.id:
            counts[label(pair.first), label(pair.second)] += pair.n
    rows = _in_order(dimension.values, (first for first, _ in counts))
    columns = _in_order(dimension.values, (second for _, second in counts))
    rows = [row for row in rows if any(counts[row, column] for column in columns)]
    cells = [[counts[row, column] for column in columns] for row in rows]
    same = sum(n for (first, second), n in counts.items() if first == second)
    title = dimension_title(run.scheme, dimension.id)
    agreement = f"{names[0]} and {names[1]} are the same in {part(same, counts.total())}"
    drawn = heatmap(rows, columns, cells, axes=names, label=f"{title}: {agreement}")
    numbers = Table(
        f"{title}: {names[0]} against {names[1]}",
        (f"{names[0]} ↓ {names[1]} →", *columns),
        tuple((row, *map(count, line)) for row, line in zip(rows, cells, strict=True)),
    )
    return Plot(title, drawn, numbers, f"{agreement[0].upper()}{agreement[1:]}.")


def _in_order(first: Sequence[str], others: Iterable[str]) -> list[str]:
    return [*first, *sorted(set(others) - set(first))]


def _distribution(
    title: str,
    values: Sequence[str],
    counts: Counter[str],
    *,
    unit: str,
    colour: int,
    note: str = "",
) -> Plot:
    total = counts.total()
    shown = _in_order(values, counts)
    rows = [BarRow(name, (Bar(counts[name], part(counts[name], total)),)) for name in shown]
    summary = ", ".join(f"{row.label} {row.bars[0].text}" for row in rows)
    drawn = bar_chart(rows, label=f"{title}: {summary}", top=float(total or 1), colour=colour)
    numbers = Table(
        title, ("label", unit, "share"),
        tuple((n, count(counts[n]), percent(counts[n] / total if total else None)) for n in shown),
    )  # fmt: skip
    return Plot(title, drawn, numbers, note)


def _values(
    dimension: Dimension, labels: Sequence[LabelCount]
) -> tuple[tuple[str, ...], Counter[str]]:
    """Count the labels of a dimension; several at once count each, numbers by range."""
    counts: Counter[str] = Counter()
    for item in labels:
        for name in names_of(dimension, item.value):
            counts[name] += item.n
    return value_names(dimension), counts


def _categories(run: Gathered, others: Published | None) -> Plot:
    """Return dialogues and answers by category, beside printed ones where there are any.

    Source: HIPO, Table 1, whose tokens are left out: it does not say what they count.
    """
    dialogues, answers = Counter[str](), Counter[str]()
    scenarios: defaultdict[str, set[str]] = defaultdict(set)
    for ending in run.endings:
        if ending.status == "generated":
            category = run.category(ending.scenario)
            dialogues[category] += ending.n
            scenarios[category].add(ending.scenario)
    for utterances in run.utterances:
        answers[run.category(utterances.scenario)] += utterances.n
    facts = _facts(run)
    printed = others.categories if others else {}
    names = _in_order(run.scheme.categories or tuple(printed), dialogues)
    whole = sum(p.dialogues for p in printed.values())
    rows = []
    for name in names:
        theirs = printed[name].dialogues / whole if name in printed else None
        share = dialogues[name] / dialogues.total() if dialogues.total() else 0.0
        text = part(dialogues[name], dialogues.total())
        rows.append(BarRow(name, (Bar(share, text, mark=theirs),)))
    mark = f"share in the published corpus ({others.source})" if others and printed else ""
    drawn = bar_chart(
        rows,
        label=", ".join(f"{r.label} {r.bars[0].text}" for r in rows),
        mark=mark,
        top=1.0,
        colour=4,
    )
    header = ["category", "scenarios", "facts", "dialogues", "labelled answers"]
    if printed:
        header += [f"published {name}" for name in _PRINTED]
    numbers = [
        (name, len(scenarios[name]), facts[name], dialogues[name], answers[name]) for name in names
    ]
    cells = [
        (name, *map(count, mine), *_printed(printed.get(name), wanted=bool(printed)))
        for name, *mine in numbers
    ]
    totals = [sum(column) for column in zip(*(mine for _, *mine in numbers), strict=True)]
    theirs_in_all = [sum(getattr(p, name) for p in printed.values()) for name in _PRINTED]
    if len(names) > 1:
        cells.append(("all", *map(count, totals), *map(count, theirs_in_all if printed else ())))
    table = Table(
        "By category" + (f" (published: {others.source})" if others and printed else ""),
        tuple(header),
        tuple(cells),
    )
    return Plot("Category of the scenario (dialogues)", drawn, table)


def _facts(run: Gathered) -> Counter[str]:
    """Count by category the facts that dialogues were about; in a scenario with a flow, all of them."""
    found: set[tuple[str, str]] = set()
    for ending in run.endings:
        scenario = run.material.scenarios.get(ending.scenario)
        if ending.status == "generated":
            played = [fact.id for fact in scenario.facts] if scenario else []
            found |= {
                (ending.scenario, fact) for fact in ([ending.fact] if ending.fact else played)
            }
    return Counter(run.category(scenario) for scenario, _ in found)


def _printed(numbers: object, *, wanted: bool) -> tuple[str, ...]:
    if not wanted:
        return ()
    return tuple(count(getattr(numbers, name, None)) for name in _PRINTED)


def _by_arm(run: Gathered) -> Table:
    """Return the share of every label, one column per arm."""
    totals = Counter[tuple[str, str]]()
    counts = Counter[tuple[str, str, str]]()
    for labels in run.labels:
        totals[labels.arm, labels.dimension] += labels.n
        counts[labels.arm, labels.dimension, label(labels.value)] += labels.n
    rows = []
    for dimension in run.scheme.utterance_dimensions:
        used = {value for _, name, value in counts if name == dimension.id}
        for value in _in_order(dimension.values, used):
            shares = []
            for arm in run.arms:
                whole = totals[arm, dimension.id]
                mine = counts[arm, dimension.id, value]
                shares.append(percent(mine / whole if whole else None))
            rows.append((dimension_title(run.scheme, dimension.id), value, *shares))
    return Table(
        "Share of each label, by arm", ("dimension", "label", *run.arms.values()), tuple(rows)
    )
