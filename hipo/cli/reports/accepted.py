"""What accepted utterances cost with each model of the price list: for programs and for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hipo.app.estimates.accepted_costs import UTTERANCES, AcceptedCosts, ModelCosts
from hipo.cli.terminal.console import columns, dollars, number, plain
from scenarios.plural import plural

MOST_OF_PROVIDER = 4
"""Models of one provider that are shown to people; the cheapest."""


def accepted_as_json(costs: AcceptedCosts) -> dict[str, object]:
    """Return what ``hipo generate --dry-run --format json`` says of accepted utterances.

    ``utterances``: so many accepted ones cost what stands below; ``judged``: whether judging is in
    it (else what is generated is accepted); ``share``: accepted dialogues of those played, with
    ``basis`` (``pilot``, ``run``, or ``assumed``: 1.0), ``accepted`` and ``played``; ``models``: a
    list of objects with ``model`` (as the price list has it), ``in_use`` (the generator of the plan),
    ``generation_usd``, ``judging_usd`` and ``cost_usd`` (null: a price is unknown, or nothing was
    accepted).
    """
    return {
        "utterances": UTTERANCES,
        "judged": costs.judged,
        **plain(costs.share, "share basis accepted played"),
        "models": [
            plain(one, "model in_use generation_usd judging_usd cost_usd") for one in costs.models
        ],
    }


def accepted_as_text(costs: AcceptedCosts) -> str:
    """Return the table of models the way ``hipo generate --dry-run`` prints it."""
    if not costs.share.share:
        return f"what {number(UTTERANCES)} accepted utterances would cost cannot be told ({_basis(costs)})"
    shown = list(_shown(costs))
    if costs.judged:
        header = ["generator", "playing", "judging", "in all"]
        rows = [
            [one.model, *map(dollars, (one.generation_usd, one.judging_usd, one.cost_usd))]
            for one in shown
        ]
        judges = "the generator also judges itself, other judges stay as they are; "
    else:
        header = ["generator", "playing"]
        rows = [[one.model, dollars(one.generation_usd)] for one in shown]
        judges = ""
    title = f"{number(UTTERANCES)} accepted utterances would cost ({_basis(costs)}):"
    hidden = len(costs.models) - len(shown)
    more = f"; {plural(hidden, 'more model')}: --format json" if hidden else ""
    prices = "prices of batches" if costs.in_batches else "list prices"
    note = f"({judges}{prices}, nothing from a cache{more})"
    return "\n".join([title, columns(header, rows), note])


def _basis(costs: AcceptedCosts) -> str:
    """Say what share is accepted, and how that is known."""
    share = costs.share
    if share.basis == "assumed":
        return "if all are accepted" if costs.judged else "generated ones, if none fails"
    verb = "accepted" if costs.judged else "generated"
    where = "in the pilot" if share.basis == "pilot" else "in the run so far"
    of = f"{number(share.accepted)} of {plural(share.played, 'dialogue')}"
    return f"{100 * share.share:.0f}% {verb}: {of} {where}"


def _shown(costs: AcceptedCosts) -> Iterator[ModelCosts]:
    """Yield the generators of the plan, and a few models of each provider, each price once."""
    of_provider: Counter[str] = Counter()
    seen: set[tuple[str, float | None]] = set()
    for one in costs.models:
        provider = one.model.partition("/")[0]
        known = provider, one.cost_usd
        if not one.in_use and (known in seen or of_provider[provider] == MOST_OF_PROVIDER):
            continue
        seen.add(known)
        of_provider[provider] += not one.in_use
        yield one
