"""Audit dialogues: every probe on every dimension, corrected for how many there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from outputs.audit.corpus import AuditCorpus
from outputs.audit.cross_fit import CrossFit, grouped_folds
from outputs.audit.findings import Audit, Ceiling, SkippedProbe
from outputs.audit.items import AuditItems, Unit
from outputs.audit.measures import ScoreKind
from outputs.audit.null_labels import DealtLabels, NullLabels, SwappedGoals
from outputs.audit.probes import PROBES, ProbeKind, ShortcutProbe
from outputs.audit.readings import ProbeReading, ReadingResult, corrected, read
from outputs.audit.significance import majority_in_scenario
from outputs.audit.ties import LabelTie, Shows, nothing_tied, tie_shares, ties_of
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.plural import plural

INSTALL = 'pip install "hipo[audit]"'
FEWEST = 2
"""Scenarios without which nothing can be guessed from the others."""
SAME = "the same throughout"
ONE_LABEL = "one label only in every scenario"
ONE_GOAL = "one goal only where no tied label shows"
_NOT_HELD = "not in this data set"


def check_installed() -> None:
    """Do nothing where probes can be fitted.

    Raises:
        UsageError: scikit-learn is missing.
    """
    if find_spec("sklearn") is None:
        raise UsageError("an audit needs the package scikit-learn", INSTALL)


@dataclass
class _Auditing:
    """One audit while it is made."""

    corpus: AuditCorpus
    seed: int
    probes: Sequence[ShortcutProbe]
    results: list[ReadingResult] = field(default_factory=list)
    skipped: list[SkippedProbe] = field(default_factory=list)
    _items: dict[Unit, AuditItems] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ties = ties_of(self.corpus.scheme)
        self.goals = len({d.goal for d in self.corpus.dialogues})
        answers = [a.labels for d in self.corpus.dialogues for a in d.answers]
        self.partial = {
            dimension
            for dimension in self.corpus.dimensions
            if not all(dimension in labels for labels in answers)
        }
        self.planned = sum(
            len(self._dimensions(p, unit)) for p in self.probes if p.kind == "must-not"
            for unit in self._units(p)
        )  # fmt: skip

    def items(self, unit: Unit) -> AuditItems:
        """Return all dialogues, or all answers."""
        if unit not in self._items:
            self._items[unit] = AuditItems.of(self.corpus, unit)
        return self._items[unit]

    def ask(self, probe: ShortcutProbe) -> None:
        """Ask one probe about every dimension that it is for."""
        for unit in self._units(probe):
            alike = defaultdict(list)
            for dimension in self._dimensions(probe, unit):
                part = dimension if dimension in self.partial and unit == "answer" else None
                alike[self._rules(probe, dimension), part].append(dimension)
            for (rules, part), dimensions in alike.items():
                items = self.items(unit) if part is None else _with_label(self.items(unit), part)
                if not rules:
                    self._ask(probe, probe.kind, items, dimensions)
                elif probe.shows is None:
                    self._ask(probe, probe.kind, _without(items, rules), dimensions)
                else:
                    self._ask(probe, probe.kind, _up_to_ties(items, rules, probe.shows), dimensions)
                    self._ask(probe, "tied", items, dimensions)

    def _rules(self, probe: ShortcutProbe, dimension: str) -> tuple[LabelTie, ...]:
        """Return the ties that show in a probe and say nothing of the dialogues.

        Where a requirement keeps a label off one turn, it is rarer the fewer turns there are.
        """
        if dimension == self.corpus.goal_dimension:
            return self.ties if probe.shows is not None else ()
        if not probe.of_plan:
            return ()
        return tuple(tie for tie in self.ties if tie.required and dimension in tie.dimensions)

    def _ask(
        self, probe: ShortcutProbe, kind: ProbeKind, items: AuditItems, dimensions: list[str]
    ) -> None:
        if not dimensions:
            return
        why = self._obstacle(probe, items)
        columns = None if why else probe.columns(items)
        if columns is None:
            self.skipped += [SkippedProbe(probe.name, kind, d, why or SAME) for d in dimensions]
            return
        groups = items.pairs if probe.seen else items.scenarios
        fit = CrossFit(columns, grouped_folds(groups, self.seed))
        for dimension in dimensions:
            self._read(probe, kind, items, fit, dimension)

    def _units(self, probe: ShortcutProbe) -> Iterator[Unit]:
        units = {probe.of_goal} if probe.of_goal else set()
        if probe.of_answers:
            units.add("answer")
        yield from sorted(units, reverse=True)

    def _dimensions(self, probe: ShortcutProbe, unit: Unit) -> list[str]:
        found = []
        if probe.of_goal == unit and self.goals > 1:
            found.append(self.corpus.goal_dimension)
        if probe.of_answers and unit == "answer":
            found += self.corpus.dimensions
        return found

    def _obstacle(self, probe: ShortcutProbe, items: AuditItems) -> str:
        """Say why a probe cannot be asked; nothing where it can."""
        if probe.needs is not None and probe.needs not in self.corpus.known:
            return _NOT_HELD
        if len({d.scenario for d in items.dialogues}) < FEWEST:
            return "nothing is left in two scenarios"
        return ""

    def _read(
        self,
        probe: ShortcutProbe,
        kind: ProbeKind,
        items: AuditItems,
        fit: CrossFit,
        dimension: str,
    ) -> None:
        labels, values = items.labels(dimension)
        alone = SkippedProbe(probe.name, kind, dimension, ONE_GOAL if items.by_place else ONE_LABEL)
        if len(values) == 1:
            self.skipped.append(alone)
            return
        null: NullLabels
        if dimension == self.corpus.goal_dimension:
            measure = ScoreKind("AUC", items.scenarios, len(values), items.compared)
            null = SwappedGoals(labels, items.cases, items.pairs, items.scenarios)
            floor = measure.chance
        else:
            measure = ScoreKind("balanced accuracy", items.scenarios, len(values))
            null = DealtLabels(labels, items.blocks(probe.block), items.ranks, items.scenarios)
            floor = majority_in_scenario(labels, items.scenarios, items.pairs, len(values))
        reading = ProbeReading(
            probe.name, probe.about, kind, dimension, measure, labels, null, floor
        )
        seed = seed_from(self.seed, "audit", probe.name, dimension)
        result = read(reading, fit, seed=seed, planned=self.planned)
        if result is None:
            self.skipped.append(alone)
        else:
            self.results.append(result)


def _with_label(items: AuditItems, dimension: str) -> AuditItems:
    """Return the answers that have a label on a dimension: it may be of one role alone."""
    return items.only([dimension in answer.labels for answer in items.answers])


def _without(items: AuditItems, ties: Sequence[LabelTie]) -> AuditItems:
    """Return the answers that no tie holds of."""
    return items.only([not any(tie.holds(a.labels) for tie in ties) for a in items.answers])


def _up_to_ties(items: AuditItems, ties: Sequence[LabelTie], shows: Shows) -> AuditItems:
    """Return the items in which nothing tied shows, to be compared place by place."""
    answers = items.answers or (None,) * len(items)
    kept = [
        nothing_tied(ties, shows, dialogue, answer)
        for dialogue, answer in zip(items.dialogues, answers, strict=True)
    ]
    return replace(items.only(kept), by_place=True)


def audit_dialogues(
    corpus: AuditCorpus,
    *,
    seed: int = 0,
    ceilings: Mapping[str, Ceiling] | None = None,
    probes: Sequence[ShortcutProbe] = PROBES,
) -> Audit:
    """Guess every label of a corpus from everything that should tell nothing, and from the words.

    Each scenario is guessed from the others. The same corpus and seed give the same audit.

    Args:
        corpus: the dialogues.
        seed: of folds, permutations and resamples.
        ceilings: what readers who know the fact reach, by dimension.
        probes: what is guessed from.

    Raises:
        UsageError: a package is missing, or there is nothing to guess from anything else.
    """
    check_installed()
    if corpus.scenarios < FEWEST:
        raise UsageError(
            f"{corpus.name} has dialogues on {plural(corpus.scenarios, 'scenario')}: an audit guesses"
            " each scenario from the others",
            f"it needs at least {FEWEST}",
        )
    known = dict(ceilings or {})
    auditing = _Auditing(corpus, seed, probes)
    for probe in probes:
        auditing.ask(probe)
    findings = corrected(auditing.results, known)
    return Audit(
        name=corpus.name,
        dialogues=len(corpus.dialogues),
        of=corpus.of,
        answers=sum(len(d.answers) for d in corpus.dialogues),
        pairs=len({d.pair for d in corpus.dialogues}),
        scenarios=corpus.scenarios,
        seed=seed,
        tests=sum(finding.kind == "must-not" for finding in findings),
        findings=findings,
        ceilings=known,
        ties=tie_shares(corpus, auditing.ties),
        skipped=tuple(auditing.skipped),
        remarks=corpus.remarks,
    )
