"""How benefit and penalty are computed: the variant, the weights and the threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from quality.strategic.moves import Maxim
from scenarios.errors import UsageError

Variant = Literal["as_printed", "as_released"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What a violation counts; the values are those of the paper's appendix B."""

    relevance: float = 0.4
    manner: float = 0.4
    quality: float = 0.2
    consistency: float = 0.2

    def of(self, maxim: Maxim) -> float:
        """Return the weight of one maxim."""
        return {"relevance": self.relevance, "manner": self.manner, "quality": self.quality}[maxim]


@dataclass(frozen=True, slots=True)
class Formula:
    """One way to compute the metrics.

    Source: CoBRA, equations 1 and 2, with the absolute value of a commitment in equation 1, as in
    the worked example. The released annotations were made without the term of inconsistency, and
    without the weight of quality in the benefit of a detrimental commitment.
    """

    variant: Variant = "as_printed"
    weights: Weights = Weights()
    threshold: int = 3
    """From which rating on a maxim is violated."""

    @property
    def compensating(self) -> tuple[Maxim, ...]:
        """The maxims whose violation makes a detrimental commitment less so."""
        if self.variant == "as_released":
            return ("relevance", "manner")
        return ("relevance", "manner", "quality")


def formula_from(parameters: Mapping[str, object]) -> Formula:
    """Return the formula that parameters of a scheme or of a command describe.

    Args:
        parameters: ``variant``, ``weights`` (a mapping) and ``threshold``, each optional.

    Raises:
        UsageError: a parameter is unknown, or its value is none.
    """
    unknown = [name for name in parameters if name not in ("variant", "weights", "threshold")]
    if unknown:
        raise UsageError(
            f"the strategic metrics have no parameter {unknown[0]!r}",
            "they have variant, weights and threshold",
        )
    variant = parameters.get("variant", "as_printed")
    for known in get_args(Variant):
        if variant == known:
            break
    else:
        raise UsageError(
            f"there is no variant {variant!r} of the strategic metrics",
            f"choose one of: {', '.join(get_args(Variant))}",
        )
    threshold = parameters.get("threshold", 3)
    if not isinstance(threshold, int) or isinstance(threshold, bool) or not 1 <= threshold <= 5:
        raise UsageError(
            f"the threshold {threshold!r} is no rating",
            "give 1 to 4: from there on a maxim is violated; with 5 none ever is",
        )
    return Formula(known, _weights(parameters.get("weights") or {}), threshold)


def _weights(given: object) -> Weights:
    names = [field.name for field in fields(Weights)]
    hint = f"weights: {', '.join(names)}; each a number of at least 0"
    if not isinstance(given, Mapping):
        raise UsageError(f"the weights {given!r} are no mapping of names to numbers", hint)
    weights = Weights()
    for name, value in given.items():
        if name not in names:
            raise UsageError(f"there is no weight {name!r}", hint)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(f"the weight {name} is {value!r}, no number", hint)
        if not math.isfinite(value) or value < 0:
            raise UsageError(f"the weight {name} is {value}", hint)
        weights = replace(weights, **{name: float(value)})
    return weights
