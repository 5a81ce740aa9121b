"""Report section: every scenario and every fact, the worst first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from outputs.report.gathered import Gathered
from outputs.report.outcome_sums import OUTCOMES, OutcomeSums, outcome_sums
from outputs.report.page import Block, Fold, Remark, ReportSection, Table
from outputs.report.wording import count
from scenarios.plural import plural

K = TypeVar("K", bound=Hashable)
SHOWN = 200
"""Rows of a table at most."""
_CODES = 3


def scenarios_section(run: Gathered) -> ReportSection:
    """Return how the dialogues of each scenario and of each fact fared."""
    lead = (
        "Where the fewest dialogues were accepted comes first. Labels found again: how often judges "
        "name or confirm the declared label of an answer."
    )
    title = "Scenarios and facts"
    by_scenario = outcome_sums(run, lambda part: part.scenario)
    by_fact = outcome_sums(run, lambda part: (part.scenario, part.fact))
    if not by_scenario:
        none = Remark("No dialogue has been generated yet.")
        return ReportSection("scenarios", title, lead, (none,), absent=True)
    codes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for flag in run.flagged:
        codes[flag.scenario][flag.code] += flag.n
    rows = [
        (name, run.category(name), count(len(sums.facts)), *sums.cells,
         ", ".join(f"{code} {n:,}" for code, n in codes[name].most_common(_CODES)))
        for name, sums in _worst_first(by_scenario)
    ]  # fmt: skip
    header = ("scenario", "category", "facts", *OUTCOMES, "commonest flags")
    facts = [
        (f"{scenario} / {fact}" if fact else scenario, *sums.cells)
        for (scenario, fact), sums in _worst_first(by_fact)
    ]
    blocks: tuple[Block, ...] = (
        _table("By scenario", header, rows),
        Fold(
            f"By fact ({plural(len(facts), 'fact')})",
            (_table("By fact", ("scenario / fact", *OUTCOMES), facts),),
        ),
    )
    return ReportSection("scenarios", title, lead, blocks)


def _worst_first(sums: Mapping[K, OutcomeSums]) -> list[tuple[K, OutcomeSums]]:
    return sorted(sums.items(), key=lambda pair: (*pair[1].worth, str(pair[0])))


def _table(caption: str, header: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Table:
    every = tuple(rows)
    if len(every) > SHOWN:
        caption += f" (the first {SHOWN} of {len(every):,})"
    return Table(caption, tuple(header), every[:SHOWN])
