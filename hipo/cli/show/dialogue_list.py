"""The list of a run's dialogues that ``hipo show`` prints: which, and how they look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from hipo.app.options.values import split
from hipo.cli.terminal.console import columns, one_line, plain
from hipo.cli.terminal.wrapping import terminal_width
from pipeline.store.queries.listing import ListedDialogue, ListingFilter
from scenarios.arms import Arm
from scenarios.errors import UsageError
from scenarios.verdicts import VERDICTS

UNDECIDED = "undecided"
FEWEST_WORDS = 24
"""Columns of the first words, however narrow the window is."""


def listing_filter(
    *,
    failed: bool = typer.Option(False, "--failed", help="Failed cases, with their reasons."),
    scenario: list[str] = typer.Option([], "--scenario", metavar="ID", help="Of these scenarios."),
    fact: list[str] = typer.Option([], "--fact", metavar="ID", help="About these facts."),
    goal: list[str] = typer.Option([], "--goal", metavar="LABEL", help="Played for these goals."),
    label: list[str] = typer.Option(
        [], "--label", metavar="[DIMENSION=]LABEL", help="With a turn that declares one of these."
    ),
    flag: list[str] = typer.Option([], "--flag", metavar="CODE", help="Flagged for one of these."),
    verdict: list[str] = typer.Option(
        [], "--verdict", metavar="VERDICT", help=f"Of {', '.join(VERDICTS)}, {UNDECIDED}."
    ),
    strategy: list[str] = typer.Option([], "--strategy", metavar="NAME", help="Of these alone."),
    arm: list[str] = typer.Option([], "--arm", metavar="ID", help="Beginnings of ids of arms."),
) -> ListingFilter:
    """Return the filter that the options name; each may be repeated, or hold several with commas.

    Raises:
        UsageError: there is no such verdict.
    """
    for name in split(verdict):
        if name not in (*VERDICTS, UNDECIDED):
            raise UsageError(
                f"--verdict {name}: there is no such verdict",
                f"one of {', '.join((*VERDICTS, UNDECIDED))}",
            )
    labels = [
        (dimension if equals else None, value if equals else dimension)
        for dimension, equals, value in (one.partition("=") for one in split(label))
    ]
    return ListingFilter(
        status="failed" if failed else None,
        scenarios=split(scenario) or None,
        facts=split(fact) or None,
        goals=split(goal) or None,
        strategies=split(strategy) or None,
        arms=split(arm) or None,
        verdicts=split(verdict) or None,
        flags=split(flag) or None,
        labels=labels or None,
    )


def listed_as_json(listed: ListedDialogue, arm: Arm) -> dict[str, object]:
    """Return one row of what ``hipo show RUN --format json`` prints.

    ``id``, ``scenario``, ``fact``, ``goal``, ``turns``, ``language``, ``repetition``, ``strategy``,
    ``model`` (the responder's), ``status`` (``generated`` or ``failed``), ``code`` and ``reason``
    (None unless it failed), ``verdict`` (None: nobody has decided), ``flags`` (codes), ``words``
    (what was improvised first).
    """
    ending = listed.ending
    return {
        "id": ending.id,
        **plain(ending.case, "scenario fact goal turns language repetition"),
        "strategy": arm.strategy,
        "model": arm.model,
        **plain(ending, "status code reason"),
        "verdict": listed.verdict,
        "flags": list(listed.flags),
        "words": listed.words,
    }


def listed_as_text(rows: Sequence[ListedDialogue], arms: Mapping[str, Arm]) -> str:
    """Return a table as wide as the window: the first words take what is left of it."""
    header = ["id", "scenario", "fact", "goal", "turns", "strategy", "verdict"]
    table = [
        [
            short_id(row.ending.id),
            row.ending.case.scenario,
            row.ending.case.fact,
            str(row.ending.case.goal),
            str(row.ending.case.turns),
            arms[row.ending.arm].strategy,
            "failed" if row.ending.status == "failed" else row.verdict or "",
        ]
        for row in rows
    ]
    taken = columns(header, table).split("\n")
    used = max(map(len, taken)) + 2
    room = max(FEWEST_WORDS, terminal_width() - used)
    return columns(
        [*header, "first words"],
        [[*cells, one_line(_said(row), room)] for cells, row in zip(table, rows, strict=True)],
    )


def short_id(dialogue_id: str) -> str:
    """Shorten ``case/arm`` to what is unambiguous in all but the largest runs."""
    case, _, arm = dialogue_id.partition("/")
    return f"{case[:10]}/{arm[:4]}"


def _said(row: ListedDialogue) -> str:
    if row.ending.status == "failed":
        return f"{row.ending.code}: {row.ending.reason}"
    return row.words
