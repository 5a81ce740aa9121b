"""How much more endpoints count than they may, kept with the run whose budget it concerns."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import orjson

from pipeline.store.sqlite import parsing
from scenarios.plural import enumerated

_KEY = "excess"

Address = tuple[str, str | None, str]
"""Provider, base URL and model."""


@dataclass(frozen=True, slots=True)
class Excess:
    """How much more an endpoint counts than what is asked of it allows, as far as is known."""

    prompt_tokens: int = 0
    """Tokens of the longest prompt that was counted as more than its bytes, as where an endpoint puts
    words of its own before it; so many are added to every prompt."""
    answers: float = 1.0
    """How many times as long as they may be answers are."""

    def in_words(self) -> str:
        """Return what a budget takes of requests to come."""
        taken = []
        if self.prompt_tokens:
            taken.append(f"prompts to be {self.prompt_tokens:,} tokens longer than sent")
        if self.answers > 1:
            taken.append(f"answers to be {self.answers:,.1f} times as long as asked for")
        return enumerated(taken)

    def joined(self, other: Excess) -> Excess:
        """Return the larger of each."""
        return Excess(
            max(self.prompt_tokens, other.prompt_tokens), max(self.answers, other.answers)
        )


NO_EXCESS = Excess()
"""Of an endpoint that keeps to what is asked of it."""


def read_excess(
    connection: sqlite3.Connection, database: Literal["main", "src"] = "main"
) -> dict[Address, Excess]:
    """Return what is known of the endpoints that were found to count more than they may.

    Args:
        connection: of a run.
        database: ``src``: the one that is attached under that name.
    """
    found = connection.execute(f"select value from {database}.meta where key = ?", (_KEY,))  # noqa: S608 - one of two words
    row = found.fetchone()
    if row is None:
        return {}
    with parsing(connection, "what its endpoints count"):
        return {
            (str(provider), base_url, str(model)): Excess(int(prompt_tokens), float(answers))
            for provider, base_url, model, prompt_tokens, answers in orjson.loads(row[0])
        }


def write_excess(connection: sqlite3.Connection, known: Mapping[Address, Excess]) -> None:
    """Store what is known in the place of what was before, inside the caller's transaction."""
    rows = [[*address, one.prompt_tokens, one.answers] for address, one in known.items()]
    connection.execute(
        "insert or replace into meta values (?, ?)", (_KEY, orjson.dumps(rows).decode())
    )
