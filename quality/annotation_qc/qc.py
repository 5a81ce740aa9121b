"""Quality control of annotations: were they given with care, and where do people disagree.

A finding asks somebody to look; it decides nothing, and disagreement is not by itself a fault.
Source: CEI, section 4, levels 2 and 3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from math import exp, lgamma, log, log1p
from statistics import fmean, median

from quality.agreement.annotations import Answer, RawAnswer, Timing, labels_by_item
from quality.agreement.annotators import annotator_agreement
from quality.annotation_qc.findings import Finding, QcSettings
from quality.annotation_qc.schema import CheckedAnnotations, check_schema
from scenarios.schemes.model import Dimension, Scheme, SelfContradiction
from scenarios.terms import LabelValue, RoleKey

_MAD_OF_NORMAL = 0.6745
_MEAN_DEVIATION_OF_NORMAL = 1.253314
"""What a median and a mean absolute deviation are scaled by to compare with a standard one."""
_ROUNDING = 1e-9
_SHORTEST = 0.01
"""Seconds that stand for none where a logarithm is taken."""


def annotation_qc(
    scheme: Scheme,
    raw: Iterable[RawAnswer],
    timings: Iterable[Timing] = (),
    *,
    settings: QcSettings | None = None,
    required: Collection[str] | None = None,
    roles: Mapping[str, RoleKey] | None = None,
) -> CheckedAnnotations:
    """Run the levels 1 to 3 over raw answers.

    Args:
        scheme: the dimensions, and the self-contradictions it declares.
        raw: the answers of all annotators as they were written.
        timings: seconds per item and annotator, where they were taken.
        settings: thresholds; those of CEI if None.
        required: see :func:`quality.annotation_qc.schema.check_schema`.
        roles: see there.

    Returns:
        The answers that passed level 1, harmonised, and the findings of all levels in order.
    """
    settings = settings or QcSettings()
    checked = check_schema(scheme, raw, required=required, roles=roles)
    findings = [
        *checked.findings,
        *straight_lining(scheme, checked.answers, settings),
        *unlike_others(scheme, checked.answers, settings),
        *timing_findings(timings, settings),
        *self_contradictions(scheme, checked.answers),
        *disagreements(scheme, checked.answers, settings),
    ]
    return CheckedAnnotations(checked.answers, tuple(findings))


def straight_lining(
    scheme: Scheme, answers: Iterable[Answer], settings: QcSettings
) -> list[Finding]:
    """Report annotators who give nearly every item the same label.

    Giving a label often is right where it is common: where the scheme says so, or where somebody who
    gives it as often as the others do would hardly ever come to less. Few answers of others say
    nothing about that, and those who never gave another label do not excuse each other.
    """
    given: dict[tuple[str, str], Counter[LabelValue]] = defaultdict(Counter)
    for answer in answers:
        given[answer.annotator, answer.dimension][answer.value] += 1
    everybody: dict[str, Counter[LabelValue]] = defaultdict(Counter)
    varied: dict[str, Counter[LabelValue]] = defaultdict(Counter)
    for (_, dimension_id), counts in given.items():
        everybody[dimension_id] += counts
        if len(counts) > 1:
            varied[dimension_id] += counts
    findings = []
    for dimension in _labelled(scheme):
        common = scheme.common_labels.get(dimension.id, ())
        for (annotator, asked), counts in sorted(given.items(), key=lambda entry: entry[0]):
            total = counts.total()
            if asked != dimension.id or total < settings.straight_minimum:
                continue
            label, count = counts.most_common(1)[0]
            share = count / total
            others = everybody[asked] - counts if len(counts) > 1 else varied[asked]
            usual = others[label] / others.total() if others else 0.0
            if others.total() >= settings.straight_minimum and (
                _as_often(count, total, usual) > settings.straight_chance
            ):
                continue
            if share > settings.straight_share and label not in common:
                findings.append(
                    Finding(
                        level=2,
                        code="straight_lining",
                        reason=f"gave {label!r} to {count} of {total} items",
                        annotator=annotator,
                        dimension=dimension.id,
                        value=share,
                        threshold=settings.straight_share,
                    )
                )
    return findings


def _as_often(count: int, total: int, share: float) -> float:
    """Return the probability that of ``total`` labels ``count`` or more are one that has a share."""
    if not 0 < share < 1:
        return share
    ways = lgamma(total + 1)
    return sum(
        exp(
            ways - lgamma(k + 1) - lgamma(total - k + 1)
            + k * log(share) + (total - k) * log1p(-share)
        )
        for k in range(count, total + 1)
    )  # fmt: skip


def timing_findings(timings: Iterable[Timing], settings: QcSettings) -> list[Finding]:
    """Report times too short to read the item, too long, or unusual for the annotator.

    Times are skewed, and items have few or many decisions: what is unusual is told from the
    logarithm of the time per decision, if the settings do not say otherwise.
    """
    by_annotator: dict[str, list[Timing]] = defaultdict(list)
    for timing in timings:
        by_annotator[timing.annotator].append(timing)
    findings: list[Finding] = []
    for annotator, own in sorted(by_annotator.items()):
        paces = [max(timing.seconds, _SHORTEST) / timing.decisions for timing in own]
        skewed = settings.timing_scale == "logarithm"
        scores = modified_z_scores([log(pace) for pace in paces] if skewed else paces)
        usual = median(paces)
        for timing, pace, z in zip(own, paces, scores, strict=True):
            took = f"took {timing.seconds:g} s"
            if timing.decisions > 1:
                took += f" for {timing.decisions} decisions"
            found = partial(Finding, 2, annotator=annotator, item=timing.item)
            fastest = settings.fastest_seconds
            if timing.decisions > 1:
                fastest = max(fastest, settings.fastest_decision * timing.decisions)
            if timing.seconds < fastest:
                reason = f"{took}, too fast to have read it"
                findings.append(found("too_fast", reason, value=timing.seconds, threshold=fastest))
            if timing.seconds > settings.slowest_seconds:
                limit, reason = settings.slowest_seconds, f"{took}, too long to be about this item"
                findings.append(found("too_slow", reason, value=timing.seconds, threshold=limit))
            if len(own) >= settings.timing_minimum and abs(z) > settings.timing_z:
                limit = settings.timing_z
                reason = (
                    f"{took}; {usual:.3g} s a decision is usual for this person, not {pace:.3g}"
                )
                findings.append(found("timing_outlier", reason, value=z, threshold=limit))
    return findings


def unlike_others(scheme: Scheme, answers: Iterable[Answer], settings: QcSettings) -> list[Finding]:
    """Report annotators who agree with the others less than half as well as these do.

    That is what answers at random look like, or a scheme that was read otherwise. It takes three
    people: of two, nobody can say who differs.
    """
    return [
        Finding(
            level=2,
            code="unlike_others",
            reason=(
                f"agrees with the others at {row.value or 0.0:.2f}, and these with each other at "
                f"{row.others:.2f}: answered at random, or by another reading of the labels"
            ),
            annotator=row.annotator,
            dimension=row.dimension,
            value=row.value,
            threshold=row.others / 2,
        )
        for row in annotator_agreement(scheme, answers)
        if row.apart and row.others is not None and row.items >= settings.fewest_shared
    ]


def modified_z_scores(values: Sequence[float]) -> list[float]:
    """Return how far each value lies from the median, in robust standard deviations.

    The scale is the median absolute deviation; where that is 0 (more than half of the values are
    equal) the mean absolute deviation. All scores are 0 where all values are equal.

    Source: Iglewicz & Hoaglin 1993.
    """
    if not values:
        return []
    middle = median(values)
    distances = [abs(value - middle) for value in values]
    scale = median(distances) / _MAD_OF_NORMAL
    if scale == 0:
        scale = _MEAN_DEVIATION_OF_NORMAL * fmean(distances)
    return [(value - middle) / scale if scale else 0.0 for value in values]


def self_contradictions(scheme: Scheme, answers: Iterable[Answer]) -> list[Finding]:
    """Report answers of one annotator to one item that the scheme says hardly go together."""
    given: dict[tuple[str, str], dict[str, LabelValue]] = defaultdict(dict)
    for answer in answers:
        given[answer.annotator, answer.item][answer.dimension] = answer.value
    return [
        Finding(
            level=2,
            code="self_contradiction",
            reason=f"{_said(rule, values)}: {rule.reason}",
            annotator=annotator,
            item=item,
            dimension=next(iter(rule.labels), None),
            value=next((values[name] for name in rule.labels), None),
        )
        for (annotator, item), values in sorted(given.items(), key=lambda entry: entry[0])
        for rule in scheme.self_contradictions
        if _contradicts(rule, values)
    ]


def _contradicts(rule: SelfContradiction, values: dict[str, LabelValue]) -> bool:
    for name, labels in rule.labels.items():
        value = values.get(name)
        chosen = value if isinstance(value, tuple) else (value,)
        if not any(label in labels for label in chosen):
            return False
    for name, (low, high) in rule.intervals.items():
        number = values.get(name)
        if not isinstance(number, (int, float)) or not low <= number <= high:
            return False
    return True


def _said(rule: SelfContradiction, values: dict[str, LabelValue]) -> str:
    shown = []
    for name in (*rule.labels, *rule.intervals):
        value = values[name]
        shown.append(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value!r}")
    return ", ".join(shown)


def disagreements(scheme: Scheme, answers: Iterable[Answer], settings: QcSettings) -> list[Finding]:
    """Report items that three or more people all label differently, or rate far apart."""
    answers = list(answers)
    findings: list[Finding] = []
    for dimension in scheme.declared:
        for item, by_annotator in sorted(labels_by_item(answers, dimension.id).items()):
            values = list(by_annotator.values())
            if dimension.measurement == "interval":
                findings += _far_apart(dimension, item, values, settings)
            elif len(values) >= 3 and len(set(values)) == len(values):
                named = ", ".join(f"{who} {what!r}" for who, what in sorted(by_annotator.items()))
                reason = f"no two of {len(values)} people agree: {named}"
                findings.append(Finding(3, "split", reason, None, item, dimension.id))
    return findings


def _far_apart(
    dimension: Dimension, item: str, values: Sequence[LabelValue], settings: QcSettings
) -> list[Finding]:
    numbers = [float(value) for value in values if isinstance(value, (int, float))]
    low, high = dimension.range or (0.0, 0.0)
    limit = settings.range_share * (high - low)
    spread = max(numbers) - min(numbers) if numbers else 0.0
    if spread <= limit + _ROUNDING:
        return []
    reason = f"rated from {min(numbers):.3g} to {max(numbers):.3g}"
    return [Finding(3, "wide_range", reason, None, item, dimension.id, spread, limit)]


def _labelled(scheme: Scheme) -> list[Dimension]:
    return [d for d in scheme.declared if d.measurement != "interval"]
