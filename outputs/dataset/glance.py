"""What a reader of a data card must know first, in one table."""

from __future__ import annotations

from collections.abc import Iterator

from outputs.dataset.manifest import ExportFacts
from scenarios.plural import plural

UNKNOWN = "not measured"
OFFLINE = "offline"
"""The provider of the built-in rules."""


def at_a_glance(facts: ExportFacts) -> list[tuple[str, str]]:
    """Return (what, answer) pairs: scheme, writers, judges, readings, foils, and the goal label."""
    return [
        ("Label scheme", facts.scheme.name),
        ("Written by", _written_by(facts)),
        ("Judged by others than the writer", _judged_by(facts)),
        ("Declared labels confirmed blind (whole runs)", "; ".join(_confirmed(facts)) or UNKNOWN),
        ("Foils, wrong labels shown to judges (whole runs)", _foils(facts)),
        ("Human readings (whole runs)", _human_readings(facts)),
        ("Labels decided by an expert", _by_expert(facts)),
        ("What the goal label means at the first lines", _goal_at_first_lines(facts)),
    ]


def _by_expert(facts: ExportFacts) -> str:
    goals = f", the goals of {plural(facts.expert_goals, 'dialogue')}" if facts.expert_goals else ""
    return plural(facts.adjudicated, "utterance") + goals


def _judged_by(facts: ExportFacts) -> str:
    rows = facts.reliability.consistency
    judges = {judge for row in rows if row.source == "external" for judge in row.judges}
    return ", ".join(sorted(judges)) or "nobody"


def _written_by(facts: ExportFacts) -> str:
    names = sorted({made.model for made in facts.generators})
    offline = [name for name in names if name.startswith(f"{OFFLINE}/")]
    nobody = plural(facts.unknown_writer, "imported dialogue") if facts.unknown_writer else ""
    if not names:
        return f"unknown ({nobody})" if nobody else "unknown"
    if len(offline) == len(names):
        kind = "built-in rules, no language model"
    else:
        kind = "language models and built-in rules" if offline else "language models"
    told = f"{kind} ({', '.join(names)})"
    return f"{told}; unknown ({nobody})" if nobody else told


def _confirmed(facts: ExportFacts) -> Iterator[str]:
    """Yield the share of declared labels that judges found who did not see them, by dimension."""
    for dimension in facts.scheme.utterance_dimensions:
        if dimension.id in facts.reliability.found_blind:
            same, all_of_them = facts.reliability.found_blind[dimension.id]
            yield f"{dimension.id} {same / all_of_them:.1%} of {all_of_them:,}"


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
        return f"{plural(known.read_twice, 'label')} by {known.people} people"
    alone = " (one person's answers, with nobody's to compare them with)" if known.people else ""
    return f"0{alone}"


def _goal_at_first_lines(facts: ExportFacts) -> str:
    """Say what a goal label says of the lines that are fixed before anything is improvised."""
    goal = facts.scheme.assigned
    if not goal:
        return "nothing is assigned to a dialogue"
    said = {
        "shared": f"nothing where they are the same words under every {goal}",
        "by-goal": f"much of itself where they are written for the {goal}",
        "": "not known where dialogues were imported",
    }
    parts = [f"{said[kind]} ({n:,})" for kind, n in facts.openings.items()]
    return "; ".join(parts) or UNKNOWN
