"""What tokens cost: a table of list prices that the user can override."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipeline.providers.protocol import Usage
from pipeline.providers.registry import PROVIDERS
from scenarios.errors import InputError, Problem
from scenarios.located import Located
from scenarios.plural import enumerated
from scenarios.strict import BrokenRule, Strict, refuse_broken
from scenarios.yaml_source import read_yaml, validate_model

SHIPPED = Path(__file__).parent / "data" / "prices.yaml"
MILLION = 1_000_000
WRITE_SHARE = 1.25
"""What Anthropic, and OpenAI from GPT-5.6 on, take for a prompt token that is written to the cache, as a
share of the price of the others."""
LONG_WRITE_SHARE = 2.0
"""What Anthropic takes for one that is written for an hour."""
_WILDCARDS = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """Prompt tokens read from the endpoint's cache; None charges them like the others."""
    cache_write: float | None = None
    """Prompt tokens written to the endpoint's cache; None charges them ``WRITE_SHARE`` times the
    others, for whoever tells how many these are takes that much."""
    long_above: int | None = None
    """Prompt tokens above which a whole request costs more; None: it never does."""
    long_input: float = 0.0
    """Of a request that is longer; what the cache serves or takes costs more by as much."""
    long_output: float = 0.0

    def _write_rate(self, *, kept_long: bool) -> float:
        usual = WRITE_SHARE * self.input if self.cache_write is None else self.cache_write
        return max(usual, LONG_WRITE_SHARE * self.input) if kept_long else usual

    def cost(self, usage: Usage) -> float:
        """Return the USD that ``usage`` costs; reasoning tokens are part of the completion."""
        cached_rate = self.input if self.cached_input is None else self.cached_input
        fresh = max(usage.prompt - usage.cached - usage.cache_written, 0)
        spent = fresh * self.input + usage.cached * cached_rate + usage.completion * self.output
        spent += (usage.cache_written - usage.written_long) * self._write_rate(kept_long=False)
        return (spent + usage.written_long * self._write_rate(kept_long=True)) / MILLION

    def of_request(self, prompt_tokens: int) -> Price:
        """Return the price of a request with a prompt of this length."""
        if self.long_above is None or prompt_tokens <= self.long_above:
            return self
        dearer = self.long_input / self.input if self.input else 1.0
        return Price(
            self.long_input,
            self.long_output,
            _scaled(self.cached_input, dearer),
            _scaled(self.cache_write, dearer),
        )

    def cost_of_alike(self, usage: Usage, requests: float) -> float:
        """Return the USD that so many requests cost which take ``usage`` together, each as much."""
        return self.of_request(round(usage.prompt / requests) if requests else 0).cost(usage)

    def times(self, factor: float) -> Price:
        """Return the price at a discount, e.g. ``times(0.5)``."""
        return Price(
            self.input * factor,
            self.output * factor,
            _scaled(self.cached_input, factor),
            _scaled(self.cache_write, factor),
            self.long_above,
            self.long_input * factor,
            self.long_output * factor,
        )

    def worst(
        self, prompt_tokens: int, max_tokens: int, n: int = 1, *, kept_long: bool = False
    ) -> float:
        """Return the most USD a request can cost: nothing cached, every sample at full length.

        ``kept_long``: whether its prompt may be written to the cache for an hour.
        """
        prices = (self, self.of_request(prompt_tokens))
        rates = (
            max(one.input, one.cached_input or 0.0, one._write_rate(kept_long=kept_long))
            for one in prices
        )
        return (
            max(
                prompt_tokens * rate + n * max_tokens * one.output
                for one, rate in zip(prices, rates, strict=True)
            )
            / MILLION
        )


def _scaled(rate: float | None, factor: float) -> float | None:
    return None if rate is None else rate * factor


Dollars = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
"""US dollars per million tokens, as a number: true is none, though Python takes it for 1."""


_LONG = ("long_above", "long_input", "long_output")
"""The fields that say what long prompts cost."""


class PriceSetting(Strict):
    """What a model costs, in US dollars per million tokens."""

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    cache_write: Dollars | None = None
    long_above: Annotated[int, Field(gt=0, strict=True)] | None = None
    """Prompt tokens above which a request costs ``long_input`` and ``long_output``."""
    long_input: Dollars | None = None
    long_output: Dollars | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Take what long prompts cost as a whole or not at all."""
        named = [name for name in _LONG if getattr(self, name) is not None]
        missing = [name for name in _LONG if name not in named]
        if named and missing:
            found = f"found no {enumerated(missing)}, expected {enumerated(_LONG)} together"
            refuse_broken([BrokenRule((named[0],), found)])
        return self

    def price(self) -> Price:
        """Return the numbers alone."""
        return Price(
            self.input, self.output, self.cached_input, self.cache_write,
            self.long_above, self.long_input or 0.0, self.long_output or 0.0,
        )  # fmt: skip


class _PriceRow(PriceSetting):
    """One line of a price file."""

    as_of: date | None = None


class _PriceFile(BaseModel):
    """A price file: USD per million tokens by ``provider/model`` (globs allowed)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    note: str = ""
    batch: dict[str, Annotated[float, Field(gt=0, le=1)]] = {}
    """What share of its prices a provider takes for requests in batches."""
    prices: dict[str, _PriceRow] = {}


class PriceTable:
    """Prices by provider and model; the user's file goes before the shipped list."""

    def __init__(
        self, *tables: Mapping[str, Price], factors: Mapping[str, float] | None = None
    ) -> None:
        """Look prices up in ``tables``, the first that knows a model wins.

        ``factors``: by provider, what share of its prices it takes in batches.
        """
        self._tables = tables
        self._factors = factors or {}

    @property
    def in_batches(self) -> bool:
        """Whether these are prices of requests that travel in batches."""
        return bool(self._factors)

    @classmethod
    def load(cls, path: Path | None = None, *, batch: bool = False) -> PriceTable:
        """Read the shipped list and, before it, the user's file.

        ``batch``: whether requests travel in batches, which providers take less for.

        Raises:
            InputError: the file cannot be read, a row is not a price, or there is no such provider.
        """
        files = [_read(SHIPPED)] if path is None else [_read(path, own=True), _read(SHIPPED)]
        factors = {name: share for file in reversed(files) for name, share in file.batch.items()}
        tables = ({name: row.price() for name, row in file.prices.items()} for file in files)
        return cls(*tables, factors=factors if batch else None)

    def factor(self, provider: str) -> float:
        """Return what share of its prices a provider takes."""
        return self._factors.get(provider, 1.0)

    def price(self, provider: str, model: str) -> Price | None:
        """Return what ``provider/model`` costs, or None if no row speaks of it.

        In one table the exact name wins, then the longest pattern that matches.
        """
        listed = self._listed(f"{provider}/{model}")
        return None if listed is None else listed.times(self.factor(provider))

    def listed(self) -> Iterator[tuple[str, Price]]:
        """Yield every row once, ``provider/model`` or a pattern, as it stands before others."""
        seen: dict[str, Price] = {}
        for table in self._tables:
            seen = {**table, **seen}
        for name, price in seen.items():
            yield name, price.times(self.factor(name.partition("/")[0]))

    def _listed(self, name: str) -> Price | None:
        for table in self._tables:
            if name in table:
                return table[name]
            matching = [pattern for pattern in table if fnmatchcase(name, pattern)]
            if matching:
                return table[max(matching, key=len)]
        return None


def _read(path: Path, *, own: bool = False) -> _PriceFile:
    """Read and check one price file; of one of the user's ``own`` the names of providers, too."""
    located = read_yaml(path)
    file = validate_model(_PriceFile, located)
    if own and (problems := list(_misspelt(file, located))):
        raise InputError(problems)
    return file


def _misspelt(file: _PriceFile, located: Located) -> Iterator[Problem]:
    """Yield the rows that nothing can have: their names begin with no provider's."""
    known = PROVIDERS.names()
    for name in file.prices:
        begins = _WILDCARDS.split(name)[0]
        provider, slash, _ = begins.partition("/")
        if slash:
            fits = provider in known
        else:
            fits = begins != name and any(f"{one}/".startswith(begins) for one in known)
        if not fits:
            yield _nobodys(("prices", name), located)
    for name in file.batch:
        if name not in known:
            yield _nobodys(("batch", name), located)


def _nobodys(path: tuple[str, str], located: Located) -> Problem:
    """Return the problem of a row whose name begins with no provider's."""
    provider, slash, _ = path[1].partition("/")
    found, expected = f"the provider {provider!r}", "one that there is"
    if path[0] == "prices" and not slash:
        found, expected = repr(path[1]), "provider/model"
    hint = PROVIDERS.unknown(provider).hint
    return located.problem(path, found=found, expected=expected, hint=hint)
