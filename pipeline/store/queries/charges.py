"""What the calls in a database came to, read from counters that are exact at every commit."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from pipeline.store.flight_mark import HELD
from pipeline.store.sqlite import damaged, path_of

_CHARGES = f"""
    select requests, cached_choices, prompt_tokens, completion_tokens, unpriced, cost_usd,
        charged_usd + (select coalesce(sum(usd), 0) from {HELD}),
        charged_tokens + (select coalesce(sum(tokens), 0) from {HELD})
    from totals"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class Charges:
    """What calls took, over the whole life of a database."""

    calls: int
    """Requests sent, failed ones too."""
    cached_calls: int
    """Samples that did not have to be asked for again. Counted in memory and written every
    thousand and on closing, so that a kill may lose the last few."""
    prompt_tokens: int
    completion_tokens: int
    unpriced_calls: int
    """Requests whose cost is unknown; they are not in ``cost_usd``."""
    cost_usd: float | None
    """What the calls of known cost came to; None where that is nothing and the cost of others is not
    known: a call that failed costs nothing, and says nothing of those that did not."""
    charged_usd: float
    """What counts against a budget: ``cost_usd``, and the most that calls with a price and of
    unknown usage can have cost."""
    charged_tokens: int
    """Tokens that count against a budget, counted in the same way."""

    @property
    def bound_usd(self) -> float:
        """The part of ``charged_usd`` that is a bound: what usage was not told for."""
        return max(0.0, round(self.charged_usd - (self.cost_usd or 0.0), 9))

    @property
    def bound_tokens(self) -> int:
        """The part of ``charged_tokens`` that is a bound."""
        return max(0, self.charged_tokens - self.prompt_tokens - self.completion_tokens)


def read_charges(connection: sqlite3.Connection) -> Charges:
    """Read what the calls in a database came to.

    Raises:
        StoreUnusable: it does not say.
    """
    row = connection.execute(_CHARGES).fetchone()
    if row is None:
        raise damaged(path_of(connection), "it does not say what was spent")
    calls, hits, prompt, completion, unpriced, cost, usd, tokens = row
    known = known_cost(float(cost), unpriced)
    return Charges(calls, hits, prompt, completion, unpriced, known, float(usd), int(tokens))


def known_cost(usd: float, unpriced: int) -> float | None:
    """Return what calls of known cost came to, beside others of unknown cost: None for nothing."""
    return None if unpriced and not usd else usd
