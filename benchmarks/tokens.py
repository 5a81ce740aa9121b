"""Billed prompt tokens per accepted responder utterance, by strategy, against the naive way.

Each strategy plays the same cases against a local server that bills as a provider does
(``benchmarks/billing_server.py``), and a self-judge and an external judge verify them; tokens are
those of the run's own accounts, of all of its requests. Cached tokens count as their share of the
price of others in the shipped price list. The naive way sends the same prompts: each candidate in a
call of its own, judges once for each dimension, and everything at full price. As its judge's prompts
could be shorter, the generation alone is compared as well.

Strategies that need scenarios of their own play these: ``screenplay`` persuasion (``face_acts``), beside
``direct`` on the same cases, and ``verified`` games (``payoff_reasoning``). Utterances of different schemes
are of different length, and so are their prompts: compare a strategy with the naive way, and with others
of the same scheme. Last, judges are asked once about a dialogue (``--judge-calls dialogue``), against
judges that are asked turn by turn about dialogues of the same strategy.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.billing_server import REASONER, billing_server
from benchmarks.report import Goal, Row
from hipo.app.generation.generate import generate
from hipo.app.options.verification import VerificationOverrides
from hipo.app.verification.verify import verify
from pipeline.providers.prices import PriceTable
from pipeline.recipes.recipe import Recipe

PRICED = ("gpt-4o", "gpt-4.1", "gpt-5")
"""Models of the price list whose cached tokens cost a half, a quarter and a tenth of the others."""
GENERATOR, JUDGE = "openai/generator", "openai/judge"
PERSUASION = {"scheme": "face_acts", "turns": [4]}
GAMES = {
    "scheme": "payoff_reasoning",
    "models": {"default": {"model": f"openai/{REASONER}"}},
    # Whoever weighs a choice thinks aloud longer than one talks.
    "verification": {"gates": {"max_sentences": 12, "most_words": 180, "off": ["truncated"]}},
}

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
class BilledPlay:
    """What is played, and what its rows are called."""

    name: str
    strategy: str
    changes: Mapping[str, object] = field(default_factory=dict)
    """Of the recipe."""
    goal: Goal | None = None
    dialogues: int = 48
    policy: str | None = "auto"
    """What becomes of flagged dialogues; None: all dialogues are accepted."""


DIRECT = BilledPlay("direct", "direct")
# The lines of the embedded rules are labelled otherwise by the embedded judge.
LONG = BilledPlay("persuasion, direct", "direct", PERSUASION, dialogues=4, policy=None)
PLAYS = (
    DIRECT,
    BilledPlay("reflective", "reflective"),
    BilledPlay("voting K=4", "consistency", goal=Goal.below(0.4)),
    LONG,
    BilledPlay("persuasion, screenplay", "screenplay", PERSUASION, dialogues=4, policy=None),
    BilledPlay("games, verified", "verified", GAMES, dialogues=12),
)
ONCE = (DIRECT, LONG)
"""Plays whose judges are asked once about a dialogue, too."""


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


def bill(play: BilledPlay, dialogues: int, judge_calls: str = "turn") -> Bill:
    """Generate and verify so many dialogues, on a server with an empty cache."""
    with billing_server() as base_url, tempfile.TemporaryDirectory() as folder:
        fields: dict[str, object] = {
            "name": "tokens",
            "turns": [2],
            "n": dialogues,
            "strategies": [play.strategy],
            "consistency": {"k": 4},
            "models": {"default": {"model": GENERATOR}},
            "limits": {"max_concurrency": 8},
            **play.changes,
        }
        recipe = Recipe.model_validate(fields).with_changes(
            {"models": {"default": {"base_url": base_url}}}
        )
        run = Path(folder) / "run"
        generate(recipe, output=run)
        verify(
            run,
            policy=play.policy or str(_all_accepted(Path(folder))),
            overrides=VerificationOverrides(
                judges=[JUDGE], judge_calls=judge_calls, base_url=base_url, embeddings=False
            ),
        )
        with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as database:
            return _bill(database)


def _all_accepted(folder: Path) -> Path:
    """Return the file of a policy that no flag matters to."""
    file = folder / "policy.yaml"
    file.write_text("name: all\nunflagged: accepted\nflagged: ignore\n", encoding="utf-8")
    return file


def _bill(database: sqlite3.Connection) -> Bill:
    dimensions = {(kind, bool(whole)): asked for kind, whole, asked in database.execute(_JUDGED)}
    generation, judging = Tokens(), Tokens()
    for purpose, samples, prompt, cached in database.execute(_REQUESTS):
        kind, _, what = purpose.partition("-")
        if kind in ("self", "external"):
            # there is no naive way of asking once about a dialogue
            asked = 1.0 if what == "whole" else dimensions[kind, what == "dialogue"]
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
    shares, rows, bills = _shares(PriceTable.load()), [], {}
    for play in PLAYS:
        billed = bills[play.name] = bill(play, _size(play, quick=quick))
        both = billed.generation + billed.judging
        rows += [
            *_sent(play.name, billed),
            Row(f"tokens: {play.name}: the same, naive", both.naive / billed.accepted),
        ]
        for model, share in shares.items():
            for what, part, bound in (
                ("", both, play.goal),
                (", generation alone", billed.generation, None),
            ):
                ratio = part.billed(share) / part.naive
                name = f"tokens: {play.name}{what}: billed / naive, {model}"
                rows.append(Row(name, ratio, "x", bound))
    for play in ONCE:
        name, by_turn = f"{play.name}, judged in one call", bills[play.name]
        once = bill(play, _size(play, quick=quick), "dialogue")
        rows += _sent(name, once)
        for model, share in shares.items():
            for what, ratio in (
                ("", _each(once, share) / _each(by_turn, share)),
                (", judging alone", _judged(once, share) / _judged(by_turn, share)),
            ):
                rows.append(
                    Row(f"tokens: {name}{what}: billed / turn by turn, {model}", ratio, "x")
                )
    return rows


def _size(play: BilledPlay, *, quick: bool) -> int:
    """Return how many dialogues are played."""
    return max(1, play.dialogues // 4) if quick else play.dialogues


def _shares(prices: PriceTable) -> dict[str, float]:
    """Return what share of the price of others cached tokens cost, by model."""
    shares = {}
    for model in PRICED:
        price = prices.price("openai", model)
        if price is None or price.cached_input is None:
            raise RuntimeError(f"the price list does not say what cached tokens of {model} cost")
        shares[model] = price.cached_input / price.input
    return shares


def _sent(name: str, billed: Bill) -> list[Row]:
    """Return what is sent for each accepted utterance, and how much of it is cached."""
    both = billed.generation + billed.judging
    sent = both.fresh + both.cached
    return [
        Row(f"tokens: {name}: prompt tokens / accepted utterance, sent", sent / billed.accepted),
        Row(f"tokens: {name}: cached share", both.cached / sent),
    ]


def _each(billed: Bill, share: float) -> float:
    """Return tokens at full price for each accepted utterance."""
    return (billed.generation + billed.judging).billed(share) / billed.accepted


def _judged(billed: Bill, share: float) -> float:
    """Return those of judging alone."""
    return billed.judging.billed(share) / billed.accepted
