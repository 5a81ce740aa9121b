"""What a reader of a data card must know first, in one table."""

from __future__ import annotations

from collections.abc import Iterator

from outputs.dataset.manifest import ExportFacts

OFFLINE = "offline"
"""The provider of the built-in rules."""


def at_a_glance(facts: ExportFacts) -> list[tuple[str, str]]:
    """Return (what, answer) pairs: scheme, writers, judges, readings, foils, and the goal label."""
    return [
        ("Label scheme", facts.scheme.name),
        ("Written by", _written_by(facts)),
        ("Judged by", ", ".join(sorted(facts.judges)) or "nobody"),
        ("Declared labels confirmed blind", "; ".join(_confirmed(facts)) or "not measured"),
        ("Foils (wrong labels shown to judges)", _foils(facts)),
        ("Human readings", _human_readings(facts)),
        ("Labels decided by an expert", f"{facts.adjudicated:,} utterances"),
        ("What the goal label means at the first lines", _goal_at_first_lines(facts)),
    ]


def _written_by(facts: ExportFacts) -> str:
    names = sorted({made.model for made in facts.generators})
    offline = [name for name in names if name.startswith(f"{OFFLINE}/")]
    if not names:
        return "unknown"
    if len(offline) == len(names):
        return f"built-in rules, no language model ({', '.join(names)})"
    kind = "language models and built-in rules" if offline else "language models"
    return f"{kind} ({', '.join(names)})"


def _confirmed(facts: ExportFacts) -> Iterator[str]:
    """Yield the share of declared labels that judges found who did not see them, by dimension."""
    for dimension, (same, all_of_them) in facts.reliability.found_blind.items():
        yield f"{dimension} {same / all_of_them:.1%} of {all_of_them:,}"


def _foils(facts: ExportFacts) -> str:
    foils = facts.reliability.foils
    if not foils:
        return "none"
    shown = sum(row.foil.judged for row in foils)
    return f"{shown:,}, of which {sum(row.foil.yes for row in foils):,} were accepted"


def _human_readings(facts: ExportFacts) -> str:
    """Count people's readings as soon as there are two of the same words."""
    known = facts.reliability
    if known.read_twice:
        return f"{known.read_twice:,} labels by {known.people} people"
    alone = " (one person's answers, with nobody's to compare them with)" if known.people else ""
    return f"0{alone}"


def _goal_at_first_lines(facts: ExportFacts) -> str:
    """Say what a goal label says of the lines that are fixed before anything is improvised."""
    shared, other = facts.opened_alike, facts.dialogues - facts.opened_alike
    goal = facts.scheme.assigned
    parts = []
    if shared:
        parts.append(f"nothing in {shared:,} dialogues: they are the same words under every {goal}")
    if other:
        parts.append(f"much of itself in {other:,} dialogues: they are written for the {goal}")
    return "; ".join([*parts, "no row asks for it there"])
