"""Compare strategies and models: which make labels that judges confirm?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from outputs.reliability.judge_agreement import (
    ConfirmedShare,
    Count,
    differences,
    judged_dimensions,
    shares,
)
from pipeline.run_material import load_material
from pipeline.store.queries.report import open_figures
from pipeline.store.queries.report_rows import CaseVotes
from pipeline.store.run_store import RunStore
from quality.statistics.bootstrap import Interval
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.verdicts import Source

SOURCES: tuple[Source, ...] = ("self", "external")
BASELINE = "direct"
"""The strategy that others are compared with."""
ALL_MODELS = ""
"""Stands for all models together."""
_SAME = 1e-9

Contestant = tuple[str, str]
"""(strategy, model)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How often one contestant's labels are found by one kind of judge."""

    strategy: str
    model: str
    source: Source
    dimension: str
    share: ConfirmedShare


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much a strategy exceeds the baseline with the same model, on the same cases."""

    strategy: str
    model: str
    source: Source
    dimension: str
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Wins:
    """In how many scenarios a strategy is better than every other, or as good as the best."""

    strategy: str
    model: str
    """``ALL_MODELS`` pools them."""
    source: Source
    won: int
    tied: int
    scenarios: int


@dataclass(frozen=True, slots=True)
class Effort:
    """What the run of one model took, judges included."""

    model: str
    run: Path
    generated: int
    failed: int
    calls: int
    tokens: int
    cost_usd: float | None
    """What is known of it; None: nothing."""
    unpriced_calls: int
    bound_usd: float
    """The most that those can have cost whose price is known."""


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The result of one study."""

    scheme: Scheme
    contestants: tuple[Contestant, ...]
    cases: int
    """Cases that every contestant played and judges looked at; only these are compared."""
    left_out: int
    """Cases that some contestant lacks."""
    scenarios: int
    measures: tuple[Measure, ...]
    differences: tuple[Difference, ...]
    wins: tuple[Wins, ...]
    efforts: tuple[Effort, ...]
    judges: tuple[str, ...]
    """``self provider/model`` or ``external provider/model``."""
    named: frozenset[tuple[Source, str]]
    """Kinds of judges, each with a dimension that they named labels of without seeing any."""

    def measure(self, contestant: Contestant, source: Source, dimension: str) -> ConfirmedShare:
        """Return one share; of nothing where nobody judged."""
        for found in self.measures:
            if (found.strategy, found.model) == contestant and (
                found.source, found.dimension,
            ) == (source, dimension):  # fmt: skip
                return found.share
        return ConfirmedShare(0, 0)

    def dimensions(self, source: Source) -> list[str]:
        """Return what one kind of judge was asked about, in the order of the scheme."""
        known = judged_dimensions(self.scheme)
        asked = {found.dimension for found in self.measures if found.source == source}
        return [dimension for dimension in known if dimension in asked]


def read_study(runs: Sequence[Path]) -> StudyResult:
    """Compare the arms of runs over the cases that all of them have.

    Args:
        runs: folders of verified runs; usually one per model.

    Raises:
        UsageError: there is nothing to compare, or runs have different schemes.
    """
    votes: dict[Contestant, list[CaseVotes]] = {}
    efforts: list[Effort] = []
    judges: set[str] = set()
    named: set[tuple[Source, str]] = set()
    schemes: list[Scheme] = []
    for folder in runs:
        with RunStore.open(folder, readonly=True) as store, open_figures(folder) as figures:
            state = store.state()
            schemes.append(load_material(store).scheme)
            named |= {(n.source, n.dimension) for n in figures.named(schemes[-1].assigned)}
            judges |= set(state.verification.judged)
            models = []
            for arm in state.arms:
                contestant = (arm.arm.strategy, arm.arm.model)
                if contestant in votes:
                    raise UsageError(
                        f"{' with '.join(contestant)} is compared with itself",
                        "two arms differ in parameters only: give each a run of its own",
                    )
                votes[contestant] = list(figures.case_votes(arm.id))
                models.append(contestant[1])
            efforts.append(
                Effort(
                    model=", ".join(dict.fromkeys(models)),
                    run=folder,
                    generated=state.generated,
                    failed=sum(state.failed.values()),
                    calls=state.calls,
                    tokens=state.prompt_tokens + state.completion_tokens,
                    cost_usd=state.cost_usd,
                    unpriced_calls=state.unpriced_calls + state.calls_in_flight,
                    bound_usd=state.bound_usd,
                )
            )
    if not schemes:
        raise UsageError("there is nothing to compare", "name at least one run")
    names = sorted({scheme.name for scheme in schemes})
    if len(names) > 1:
        raise UsageError(
            f"the runs have different label schemes: {', '.join(names)}",
            "compare runs of one scheme and version",
        )
    return _compared(schemes[0], votes, tuple(efforts), tuple(sorted(judges)), named)


def _compared(
    scheme: Scheme,
    votes: Mapping[Contestant, Sequence[CaseVotes]],
    efforts: tuple[Effort, ...],
    judges: tuple[str, ...],
    named: Set[tuple[Source, str]],
) -> StudyResult:
    played = [{vote.case for vote in mine} for mine in votes.values()]
    common = set.intersection(*played) if played else set()
    known = set(judged_dimensions(scheme))
    groups: defaultdict[tuple[str, str, Source, str], list[Count]] = defaultdict(list)
    scenarios: set[str] = set()
    for (strategy, model), mine in votes.items():
        for vote in mine:
            if vote.case in common and vote.dimension in known:
                scenarios.add(vote.scenario)
                key = (strategy, model, vote.source, vote.dimension)
                groups[key].append(Count(vote.scenario, vote.yes, vote.judged))
    pairs = [
        (key, (BASELINE, *key[1:]))
        for key in groups
        if key[0] != BASELINE and (BASELINE, *key[1:]) in groups
    ]
    contrasts = differences(groups, pairs)
    return StudyResult(
        scheme=scheme,
        contestants=tuple(votes),
        cases=len(common),
        left_out=len(set().union(*played) - common),
        scenarios=len(scenarios),
        measures=tuple(Measure(*key, share) for key, share in shares(groups).items()),
        differences=tuple(
            Difference(*key, value, interval)
            for (key, _), (value, interval) in zip(pairs, contrasts, strict=True)
        ),
        wins=tuple(_all_wins(votes, common, {d.id for d in scheme.utterance_dimensions})),
        efforts=efforts,
        judges=judges,
        named=frozenset(named),
    )


def _all_wins(
    votes: Mapping[Contestant, Sequence[CaseVotes]], common: Set[str], dimensions: Set[str]
) -> Iterable[Wins]:
    """Count wins for each model and, if there are several, for all of them together."""
    models = list(dict.fromkeys(model for _, model in votes))
    for source in SOURCES:
        for model in [*models, *([ALL_MODELS] if len(models) > 1 else [])]:
            sums: defaultdict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
            for (strategy, own), mine in votes.items():
                if model not in (own, ALL_MODELS):
                    continue
                for vote in mine:
                    if vote.case in common and vote.source == source:
                        cell = sums[vote.scenario, strategy, vote.dimension]
                        cell[0] += vote.yes
                        cell[1] += vote.judged
            yield from _wins(model, source, sums, dimensions)


def _wins(
    model: str,
    source: Source,
    sums: Mapping[tuple[str, str, str], Sequence[int]],
    dimensions: Set[str],
) -> Iterable[Wins]:
    """A scenario's score is the mean share over the utterance dimensions."""
    found: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (scenario, strategy, dimension), (yes, judged) in sums.items():
        if dimension in dimensions and judged:
            found[scenario][strategy].append(yes / judged)
    won, tied = Counter[str](), Counter[str]()
    strategies: dict[str, None] = {}
    for by_strategy in found.values():
        means = {name: sum(values) / len(values) for name, values in by_strategy.items()}
        strategies |= dict.fromkeys(means)
        best = max(means.values())
        leaders = [name for name, mean in means.items() if best - mean < _SAME]
        (won if len(leaders) == 1 else tied).update(leaders)
    for strategy in strategies:
        yield Wins(strategy, model, source, won[strategy], tied[strategy], len(found))


def study_as_json(study: StudyResult) -> dict[str, object]:
    """Return a study as plain data.

    ``scheme``; ``cases`` compared and ``left_out``; ``scenarios``; ``judges``; ``measures``: a list
    of objects with ``strategy``, ``model``, ``source`` (self or external), ``dimension``, ``share``,
    ``low``, ``high`` (95 % interval over scenarios, None for fewer than two), ``yes`` and
    ``judged``; ``differences``: of strategies from ``direct`` with the same model, with ``value``,
    ``low``, ``high``; ``wins``: objects with ``strategy``, ``model`` (None: all together),
    ``source``, ``won``, ``tied``, ``scenarios``; ``efforts``: objects with ``model``, ``run``,
    ``generated``, ``failed``, ``calls``, ``tokens``, ``cost_usd`` (None: unknown),
    ``unpriced_calls`` (not in it) and ``bound_usd``, the most that those can have cost.
    """
    return {
        "scheme": study.scheme.name,
        "cases": study.cases,
        "left_out": study.left_out,
        "scenarios": study.scenarios,
        "judges": list(study.judges),
        "measures": [
            {
                "strategy": m.strategy, "model": m.model, "source": m.source,
                "dimension": m.dimension, "share": m.share.value, **_bounds(m.share.interval),
                "yes": m.share.yes, "judged": m.share.judged,
            }
            for m in study.measures
        ],
        "differences": [
            {
                "strategy": d.strategy, "model": d.model, "source": d.source,
                "dimension": d.dimension, "value": d.value, **_bounds(d.interval),
            }
            for d in study.differences
        ],
        "wins": [
            {
                "strategy": w.strategy, "model": w.model or None, "source": w.source,
                "won": w.won, "tied": w.tied, "scenarios": w.scenarios,
            }
            for w in study.wins
        ],
        "efforts": [
            {
                "model": e.model, "run": str(e.run), "generated": e.generated, "failed": e.failed,
                "calls": e.calls, "tokens": e.tokens, "cost_usd": e.cost_usd,
                "unpriced_calls": e.unpriced_calls, "bound_usd": e.bound_usd,
            }
            for e in study.efforts
        ],
    }  # fmt: skip


def _bounds(interval: Interval | None) -> dict[str, float | None]:
    return {
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
    }
