"""Report sections: diversity of answers, and calls, tokens, cost, time, retries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.report.gathered import Gathered
from outputs.report.page import Block, Grid, Plot, Remark, ReportSection, Table, Tile, Tiles
from outputs.report.unread import measured_in_signs
from outputs.report.wording import (
    bill,
    count,
    dollars,
    duration,
    percent,
    ratio,
    reasons,
    untold,
    untold_cost,
)
from pipeline.store.answering_models import changed_models
from pipeline.store.queries.report_rows import RequestCount
from scenarios.plural import plural
from scenarios.speakers import speakers

_AGAIN = {
    "repair": "with what was wrong",
    "reframe": "in another frame, because the model would not play",
}


def diversity_section(run: Gathered) -> ReportSection:
    """Return distinct n-grams, self-BLEU and the spread of embeddings, by arm."""
    lead = (
        "How much answers repeat each other. Distinct-n: share of different n-word sequences. "
        "Self-BLEU: overlap of an answer with all others. Spread: mean cosine distance of "
        "embeddings. All of them depend on how many answers are looked at, and are of each arm by itself."
    )
    title = "Diversity"
    if not run.diversity:
        return ReportSection(
            "diversity", title, lead, (Remark("There are no answers to look at."),), absent=True
        )
    rows, bars = [], []
    for arm, found in run.diversity.items():
        name = run.arms[arm]
        rows.append(
            (
                name,
                count(found.texts),
                *map(ratio, found.distinct),
                ratio(found.self_bleu),
                ratio(found.spread),
                percent(found.repeated),
                *([] if found.elsewhere is None else [percent(found.elsewhere)]),
            )
        )
        values = (found.distinct[1], found.self_bleu, found.spread)
        bars.append(BarRow(name, tuple(Bar(value, ratio(value)) for value in values)))
    header: tuple[str, ...] = (
        "arm", "answers", "distinct-1", "distinct-2", "distinct-3", "self-BLEU", "spread",
        "repeated word by word in the arm",
    )  # fmt: skip
    if any(found.elsewhere is not None for found in run.diversity.values()):
        header += ("said by another arm in the same case",)
    series: tuple[str, ...] = ("distinct-2 (higher: more varied)", "self-BLEU (lower: more varied)",
              "spread (higher: more varied)")  # fmt: skip
    if all(found.spread is None for found in run.diversity.values()):
        bars = [BarRow(row.label, row.bars[:2]) for row in bars]
        series = series[:2]
    drawn = bar_chart(bars, label="; ".join(", ".join(row) for row in rows), series=series, top=1.0)
    blocks: list[Block] = [
        Grid(
            (
                Plot("Diversity by arm", drawn),
                Table("Measured on an even sample of each arm's answers", header, tuple(rows)),
            )
        ),
    ]
    blocks += measured_in_signs(run.languages)
    if run.diversity_note:
        blocks.append(Remark(run.diversity_note))
    return ReportSection("diversity", title, lead, tuple(blocks))


def effort_section(run: Gathered) -> ReportSection:
    """Return calls, tokens, cost, latency and retries, by role and model."""
    lead = "Every request to a model, those that failed too. Times are of requests that went well."
    if not run.requests:
        note = Remark("No model was asked: these dialogues came from elsewhere.")
        return ReportSection("effort", "Cost, tokens, time", lead, (note,), absent=True)
    by_use: defaultdict[tuple[str, str], list[RequestCount]] = defaultdict(list)
    for found in run.requests:
        by_use[found.role, found.model].append(found)
    times: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for role, model, milliseconds, n in run.latencies:
        times[role, model].append((milliseconds, n))
    rows, bars = [], []
    who = speakers(run.material.scenarios.values())
    for use, requests in by_use.items():
        tokens = (
            sum(r.prompt_tokens for r in requests),
            sum(r.completion_tokens for r in requests),
        )
        sent = sum(r.n for r in requests)
        failed = sum(r.n for r in requests if r.code != "ok")
        unpriced = sum(r.unpriced for r in requests)
        cost = sum(r.cost_usd for r in requests)
        bound = sum(r.charged_usd for r in requests) - cost
        rows.append(
            (
                *_use(who, *use),
                count(sent),
                count(failed),
                *map(count, tokens),
                bill(cost, unpriced, bound),
                duration(quantile(times[use], 0.5)),
                duration(quantile(times[use], 0.95)),
            )
        )
        name = " · ".join(_use(who, *use))
        bars.append(BarRow(name, tuple(Bar(float(n), count(n)) for n in tokens)))
    header = (
        "role", "model", "requests", "failed", "prompt tokens", "completion tokens", "cost",
        "median time", "95th percentile",
    )  # fmt: skip
    drawn = bar_chart(
        bars,
        label="; ".join(f"{r.label}: {r.bars[0].text} and {r.bars[1].text} tokens" for r in bars),
        series=("prompt tokens", "completion tokens"),
    )
    blocks: list[Block] = [
        _totals(run),
        Grid(
            (
                Plot("Tokens by role", drawn),
                Table("Requests by role and model", header, tuple(rows)),
            )
        ),
        _trouble(run),
    ]
    return ReportSection("effort", "Cost, tokens, time", lead, tuple(blocks))


def quantile(times: Sequence[tuple[int, int]], share: float) -> float | None:
    """Return the smallest value that at least ``share`` of the weight does not exceed.

    Args:
        times: (value, weight) pairs, smallest value first.
        share: in ``(0, 1]``.
    """
    total = sum(weight for _, weight in times)
    seen = 0
    for value, weight in times:
        seen += weight
        if seen >= share * total:
            return value
    return None


def _totals(run: Gathered) -> Tiles:
    state = run.state
    per = state.cost_usd / run.generated if state.cost_usd is not None and run.generated else None
    tokens = state.prompt_tokens + state.completion_tokens
    return Tiles(
        (
            Tile(
                dollars(state.cost_usd),
                "cost",
                untold_cost(state) or f"{dollars(per)} a dialogue",
            ),
            Tile(
                count(tokens),
                "tokens",
                f"{count(state.completion_tokens)} of them written{untold(state.bound_tokens)}",
            ),
            Tile(count(state.calls), "requests", f"{plural(state.cached_calls, 'answer')} reused"),
            Tile(
                count(sum(r.n for r in run.requests if r.code != "ok")),
                "failed requests",
                "retried or given up",
            ),
        )
    )


def _trouble(run: Gathered) -> Table:
    """Return what went wrong on the way, and was mended or given up."""
    failed: defaultdict[str, int] = defaultdict(int)
    for request in run.requests:
        if request.code != "ok":
            failed[request.code] += request.n
    unreadable = {status: n for status, n in run.choices if status != "ok"}
    rows: tuple[tuple[str, str, str], ...] = (
        ("requests that failed", count(sum(failed.values())), reasons(failed)),
        ("answers that could not be used", count(sum(unreadable.values())), reasons(unreadable)),
        (
            "answers asked for again",
            count(sum(run.asked_again.values())),
            reasons({_AGAIN[kind]: n for kind, n in run.asked_again.items()}),
        ),
        ("cases given up", count(sum(run.state.failed.values())), reasons(run.state.failed)),
    )
    rows += tuple(
        (f"names under which {model} ({role}) answered", count(len(names)), "; ".join(names))
        for (role, model), names in changed_models(run.state.answering).items()
    )
    return Table("Retries and failures", ("what", "how often", "reasons"), rows)


def _use(who: Mapping[str, str], role: str, model: str) -> tuple[str, str]:
    """Return role, as scenarios call it, and model; the name of a judge's role may repeat its model."""
    return who.get(role, role).removesuffix(model).strip() or role, model
