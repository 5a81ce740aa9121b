"""Billed prompt tokens per accepted responder utterance, by strategy, against the naive way.

Each strategy plays the same cases against a local server that bills as a provider does
(``benchmarks/billing_server.py``), and a self-judge and an external judge verify them; tokens are
those of the run's own accounts, of all of its requests. Cached tokens count as their share of the
price of others in the shipped price list. The naive way sends the same prompts: each candidate in a
call of its own, judges once for each dimension, and everything at full price. As its judge's prompts
could be shorter, the generation alone is compared as well.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.billing_server import billing_server
from benchmarks.report import Goal, Row
from hipo.app.generation import generate
from hipo.app.verification import verify
from hipo.app.verification_overrides import VerificationOverrides
from pipeline.providers.prices import PriceTable
from pipeline.recipe import Recipe

STRATEGIES = ("direct", "reflective", "consistency")
PRICED = ("gpt-4o", "gpt-4.1", "gpt-5")
"""Models of the price list whose cached tokens cost a half, a quarter and a tenth of the others."""
DIALOGUES = 48
GENERATOR, JUDGE = "openai/generator", "openai/judge"

_REQUESTS = """
    select purpose, n_asked, prompt_tokens, cached_tokens from requests where code = 'ok'"""
_JUDGED = """
    select kind, turn is null, 1.0 * count(*) / count(distinct dialogue || '.' || ifnull(turn, ''))
    from labels where kind in ('self', 'external') group by 1, 2"""
"""How many dimensions one call of a judge is about: an utterance (0) or a dialogue (1)."""
_ACCEPTED = """
    select count(*) from labelled_turns join newest_decisions using (dialogue)
    where verdict = 'accepted'"""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Prompt tokens of one kind of call in a run."""

    fresh: int = 0
    cached: int = 0
    naive: float = 0.0
    """Those of the naive way."""

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.fresh + other.fresh, self.cached + other.cached, self.naive + other.naive
        )

    def billed(self, share: float) -> float:
        """Return tokens at full price, a cached one costing ``share`` of it."""
        return self.fresh + share * self.cached


@dataclass(frozen=True, slots=True)
class Bill:
    """What a run with one strategy came to."""

    generation: Tokens
    judging: Tokens
    accepted: int
    """Responder utterances of accepted dialogues."""


def bill(strategy: str, dialogues: int) -> Bill:
    """Generate and verify so many dialogues with one strategy, on a server with an empty cache."""
    with billing_server() as base_url, tempfile.TemporaryDirectory() as folder:
        recipe = Recipe.model_validate(
            {
                "name": "tokens",
                "turns": [2],
                "n": dialogues,
                "strategies": [strategy],
                "consistency": {"k": 4},
                "models": {"default": {"model": GENERATOR, "base_url": base_url}},
                "limits": {"max_concurrency": 8},
            }
        )
        run = Path(folder) / "run"
        generate(recipe, output=run)
        verify(
            run,
            policy="auto",
            overrides=VerificationOverrides(judges=[JUDGE], base_url=base_url, embeddings=False),
        )
        with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as database:
            return _bill(database)


def _bill(database: sqlite3.Connection) -> Bill:
    dimensions = {(kind, bool(whole)): asked for kind, whole, asked in database.execute(_JUDGED)}
    generation, judging = Tokens(), Tokens()
    for purpose, samples, prompt, cached in database.execute(_REQUESTS):
        kind, _, what = purpose.partition("-")
        if kind in ("self", "external"):
            asked = dimensions[kind, what == "dialogue"]
            judging += Tokens(prompt - cached, cached, prompt * asked)
        else:
            generation += Tokens(prompt - cached, cached, prompt * samples)
    (accepted,) = database.execute(_ACCEPTED).fetchone()
    if not accepted:
        raise RuntimeError("no dialogue was accepted")
    return Bill(generation, judging, accepted)


def run(*, quick: bool = False) -> list[Row]:
    """Bill every strategy at three price levels of cached tokens."""
    os.environ.setdefault("OPENAI_API_KEY", "bench")
    prices, rows = PriceTable.load(), []
    for strategy in STRATEGIES:
        billed = bill(strategy, DIALOGUES // 4 if quick else DIALOGUES)
        both = billed.generation + billed.judging
        name = "voting K=4" if strategy == "consistency" else strategy
        each = (both.fresh + both.cached) / billed.accepted
        rows += [
            Row(f"tokens: {name}: prompt tokens / accepted utterance, sent", each),
            Row(f"tokens: {name}: the same, naive", both.naive / billed.accepted),
            Row(f"tokens: {name}: cached share", both.cached / (both.fresh + both.cached)),
        ]
        for model in PRICED:
            price = prices.price("openai", model)
            if price is None or price.cached_input is None:
                raise RuntimeError(
                    f"the price list does not say what cached tokens of {model} cost"
                )
            share = price.cached_input / price.input
            goal = Goal.below(0.4) if strategy == "consistency" else None
            for what, part, bound in (
                ("", both, goal),
                (", generation alone", billed.generation, None),
            ):
                ratio = part.billed(share) / part.naive
                rows.append(
                    Row(f"tokens: {name}{what}: billed / naive, {model}", ratio, "x", bound)
                )
    return rows
