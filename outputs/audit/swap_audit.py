"""Audit swap items: which of two facts makes a line a lie, from the facts without the line."""

from __future__ import annotations

from outputs.audit.auditing import check_installed
from outputs.audit.drawn_rows import dialogues_in, drawn_rows
from outputs.audit.findings import Audit
from outputs.audit.null_labels import codes
from outputs.audit.preference_audit import PREFERENCE_PROBES, PreferencePairs, audit_pairs
from outputs.audit.run_corpus import MOST
from outputs.contamination.comparable import Row
from outputs.contamination.contamination import RowSet
from scenarios.errors import UsageError
from scenarios.plural import plural

OWN_FACT = "own fact"
"""In place of a dimension: which of two facts makes the line false."""
_SAME_WORDS = (
    "each line stands there once with a fact that makes it false and once with one that does not, in"
    " the same words: whoever reads question and line alone is right in one half"
)


def holds_swaps(row: Row) -> bool:
    """Return whether a row is a line beside a fact that may or may not make it false."""
    return {"line", "shown", "fact_text", "status"} <= row.keys()


def audit_swaps(rows: RowSet, *, seed: int = 0, most: int = MOST) -> Audit:
    """Guess which of its two facts makes each scored line a lie, from other scenarios.

    Args:
        rows: items, as ``hipo export --to swap`` writes them.
        seed: of folds, permutations and resamples.
        most: dialogues whose items are read, about so many.

    Raises:
        UsageError: a package is missing, or no line is scored with both facts.
    """
    check_installed()
    own, other = _scored(rows, most, seed)
    both = [line for line in own if line in other]
    if not both:
        raise UsageError(
            f"{rows.name}: no line is scored with the fact that makes it false and with another one",
            "an audit reads what hipo export --to swap writes, both items of a line",
        )
    lines = [own[line] for line in both]
    alone = len(own) + len(other) - 2 * len(both)
    told = (f"{plural(alone, 'scored item')} left out, as the other one of the line is not there",)
    scenarios = tuple(str(row["scenario"]) for row in lines)
    pairs = PreferencePairs(
        tuple((str(own[line]["fact_text"]), str(other[line]["fact_text"])) for line in both),
        tuple(({}, {}) for _ in both),
        scenarios,
        codes(scenarios),  # the few facts of a scenario stand beside many lines
        len({(row.get("case"), row.get("arm")) for row in lines}),
        dialogues_in(rows),
    )
    return audit_pairs(
        pairs,
        rows.name,
        dimension=OWN_FACT,
        seed=seed,
        remarks=(_SAME_WORDS, *(told * bool(alone))),
        probes=[probe for probe in PREFERENCE_PROBES if probe.name != "labels"],
    )


def _scored(rows: RowSet, most: int, seed: int) -> tuple[dict[str, Row], dict[str, Row]]:
    """Return the scored items by line: those that show its own fact, and those that show another."""
    found: dict[str, dict[str, Row]] = {"own": {}, "other": {}}
    for row in drawn_rows(rows, most, seed):
        by_line = found.get(str(row.get("shown")))
        if (
            by_line is None
            or row.get("status") != "scored"
            or not isinstance(row.get("fact_text"), str)
        ):
            continue
        by_line[str(row["line"])] = row
    return found["own"], found["other"]
