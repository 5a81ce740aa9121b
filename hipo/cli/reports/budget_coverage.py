"""How far the budget of a plan reaches, in words."""

from __future__ import annotations

from hipo.app.estimates.budget_coverage import Coverage
from hipo.cli.terminal.console import dollars, number
from scenarios.plural import plural


def coverage_in_words(covered: Coverage, planned: int, what: str = "dialogue") -> str:
    """Say what share of the plan the budget covers; ``planned`` is how many of ``what`` are left."""
    limits, before = [], []
    if covered.budget_usd is not None:
        before += [dollars(covered.before_usd)] if covered.before_usd else []
        spent = f", of which {dollars(covered.spent_usd)} is spent," if covered.spent_usd else ""
        limits.append(f"{dollars(covered.budget_usd)}{spent}")
    if covered.budget_tokens is not None:
        before += [f"{number(covered.before_tokens)} tokens"] if covered.before_tokens else []
        used = (
            f", of which {number(covered.spent_tokens)} are used," if covered.spent_tokens else ""
        )
        limits.append(f"{number(covered.budget_tokens)} tokens{used}")
    after = f" after about {' and '.join(before)} for the models before" if before else ""
    budget = f"the budget of {' and '.join(limits)}{after} covers"
    if covered.share >= 1:
        return f"{budget} all of it"
    share = f"{100 * covered.share:.0f} %"
    if not planned:
        return f"{budget} about {share} of it"
    of = plural(planned, what)
    return f"{budget} about {number(covered.dialogues)} of {of} ({share})"
