"""Findings of annotation quality control, and its thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from scenarios.errors import UsageError
from scenarios.spelling import suggestion
from scenarios.strict import Strict
from scenarios.terms import LabelValue

FindingLevel = Literal[1, 2, 3]
FindingCode = Literal[
    "unknown_dimension",
    "unknown_value",
    "missing",
    "duplicate",
    "harmonised",
    "straight_lining",
    "too_fast",
    "too_slow",
    "timing_outlier",
    "unlike_others",
    "inattentive",
    "self_contradiction",
    "split",
    "wide_range",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at: ``value`` was found where ``threshold`` is the limit, if there is one.

    ``level`` is that of CEI, section 4: 1 schema, 2 statistics of an annotator, 3 disagreement.
    What concerns an item as a whole has no annotator, and the other way round.
    """

    level: FindingLevel
    code: FindingCode
    reason: str
    annotator: str | None = None
    item: str | None = None
    dimension: str | None = None
    value: LabelValue | None = None
    threshold: float | None = None


class QcSettings(Strict):
    """Thresholds of quality control; the defaults are those of CEI, section 4, if not said otherwise."""

    straight_share: Annotated[float, Field(gt=0, le=1)] = 0.8
    """An annotator who gives one label to more than this share of items is reported."""
    straight_chance: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Largest probability that somebody gives a label so often who gives it as the others do (ours)."""
    straight_minimum: Annotated[int, Field(ge=1)] = 10
    """Fewer answers than this do not show a habit (ours)."""
    fastest_seconds: Annotated[float, Field(ge=0)] = 3.0
    fastest_decision: Annotated[float, Field(ge=0)] = 1.0
    """Seconds per decision of an item with several of them below which nobody has read it (ours)."""
    slowest_seconds: Annotated[float, Field(gt=0)] = 600.0
    timing_z: Annotated[float, Field(gt=0)] = 3.5
    """Largest modified z-score of the time per decision, among those of the same annotator. The limit is that of
    Iglewicz & Hoaglin 1993, for logarithms; with 2.5 on plain seconds, as in CEI, many honest times
    are reported, since they are skewed."""
    timing_scale: Literal["logarithm", "seconds"] = "logarithm"
    """What the modified z-score is of; CEI takes the seconds as they are."""
    timing_minimum: Annotated[int, Field(ge=3)] = 5
    """Fewer times than this have no usual time to differ from (ours)."""
    fewest_shared: Annotated[int, Field(ge=2)] = 20
    """Fewer items shared with others do not tell who answers unlike them (ours)."""
    fewest_attention: Annotated[int, Field(ge=1)] = 5
    """Fewer attention items than this tell nothing about a person (ours)."""
    attention_chance: Annotated[float, Field(gt=0, lt=1)] = 0.01
    """Largest probability that guessing gets as much right of somebody who does not guess (ours)."""
    attention_failed: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Somebody is reported whose share of failed attention items is above this beyond doubt (ours)."""
    range_share: Annotated[float, Field(gt=0, lt=1)] = 0.75
    """Answers further apart than this share of an interval scale are reported (1.5 on -1..1)."""


def qc_settings(given: Mapping[str, str]) -> QcSettings:
    """Return thresholds of which some are given as they were written.

    Raises:
        UsageError: there is no such threshold, or it cannot be this.
    """
    fields = QcSettings.model_fields
    unknown = next((name for name in given if name not in fields), None)
    if unknown is not None:
        raise UsageError(f"there is no threshold {unknown!r}", suggestion(unknown, fields))
    try:
        return QcSettings.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise UsageError(
            f"the threshold {name} is {given[name]!r}",
            f"{first['msg']}; it is {getattr(QcSettings(), name)} where nothing is said",
        ) from None
