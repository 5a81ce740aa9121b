"""Check that nobody speaks twice in a row where one phase of a flow ends and the next begins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from scenarios.checks.checked_scenario import CheckedScenario
from scenarios.errors import Problem


def check_speaking_order(subject: CheckedScenario) -> Iterator[Problem]:
    """Find phases that begin with whoever had the last word in the phase before.

    Two turns of one person in a row read as if an answer between them were missing, and whoever
    plays the second one has nothing to react to. Who speaks alone all through has nobody to wait for.
    """
    flow = subject.template.flow
    if len({role for phase in flow for role in phase.who}) < 2:
        return
    for index, (before, phase) in enumerate(pairwise(flow), start=1):
        if phase.who[0] != before.who[-1]:
            continue
        report = subject.error if subject.shipped else subject.warning
        yield report(
            ("flow", index, "who"),
            f"{phase.who[0]!r}, who has the last word in {before.id!r}, speaks first here",
            "somebody else first",
            hint="turn the order of one of the two phases round",
            code="twice-in-a-row",
        )
