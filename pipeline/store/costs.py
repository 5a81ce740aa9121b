"""What the calls for a case took: for generating its dialogues, and for judging them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

_COSTS = """
    select arm, role like 'self %' or role like 'external %' or role like 'juror %' as judging,
        count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
        iif(count(cost_usd) = count(*), sum(cost_usd), null)
    from requests where case_id = ? group by 1, 2"""


@dataclass(frozen=True, slots=True)
class StageCost:
    """What one stage took of one dialogue."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """None where the price of any request is unknown."""


@dataclass(frozen=True, slots=True)
class CaseCosts:
    """What the dialogue of one arm took; what arms share is counted where it was paid."""

    generation: StageCost = StageCost()
    verification: StageCost = StageCost()


NOTHING_SPENT: Final = CaseCosts()


def read_costs(connection: sqlite3.Connection, case: str) -> dict[str, CaseCosts]:
    """Return what the dialogues of a case took, by arm."""
    stages: dict[str, dict[bool, StageCost]] = {}
    for arm, judging, *cost in connection.execute(_COSTS, (case,)):
        stages.setdefault(arm, {})[bool(judging)] = StageCost(*cost)
    return {
        arm: CaseCosts(of.get(False, StageCost()), of.get(True, StageCost()))
        for arm, of in stages.items()
    }
