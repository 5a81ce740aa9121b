"""Cases as rows of the table ``cases``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from scenarios.case import Case

CASE_COLUMNS = (
    "id, scheme, scenario, scenario_fingerprint, fact, goal, turns, language, variation,"
    " repetition, seed"
)


def case_from(row: Sequence[Any]) -> Case:
    """Return the case whose columns, in the order of ``CASE_COLUMNS``, these are."""
    case, scheme, scenario, mark, fact, goal, turns, language, varied, repetition, seed = row
    # Most cases have no variation to be parsed.
    variation = () if varied == "[]" else tuple((a, v) for a, v in orjson.loads(varied))
    return Case(
        case, scheme, scenario, mark, fact, goal, turns, language, variation, repetition, seed
    )
