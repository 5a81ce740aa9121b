"""What tokens cost: a table of list prices that the user can override."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pipeline.providers.protocol import Usage
from scenarios.yaml_source import read_yaml, validate_model

SHIPPED = Path(__file__).parent / "data" / "prices.yaml"
MILLION = 1_000_000
WRITE_SHARE = 1.25
"""What Anthropic, and OpenAI from GPT-5.6 on, take for a prompt token that is written to the cache, as a
share of the price of the others."""


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

    @property
    def _write_rate(self) -> float:
        return WRITE_SHARE * self.input if self.cache_write is None else self.cache_write

    def cost(self, usage: Usage) -> float:
        """Return the USD that ``usage`` costs; reasoning tokens are part of the completion."""
        cached_rate = self.input if self.cached_input is None else self.cached_input
        fresh = max(usage.prompt - usage.cached - usage.cache_written, 0)
        spent = fresh * self.input + usage.cached * cached_rate + usage.completion * self.output
        return (spent + usage.cache_written * self._write_rate) / MILLION

    def times(self, factor: float) -> Price:
        """Return the price at a discount, e.g. ``times(0.5)``."""
        cached, written = self.cached_input, self.cache_write
        return Price(
            self.input * factor,
            self.output * factor,
            None if cached is None else cached * factor,
            None if written is None else written * factor,
        )

    def worst(self, prompt_tokens: int, max_tokens: int, n: int = 1) -> float:
        """Return the most USD a request can cost: nothing cached, every sample at full length."""
        dearest = max(self.input, self.cached_input or 0.0, self._write_rate)
        return (prompt_tokens * dearest + n * max_tokens * self.output) / MILLION


Dollars = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
"""US dollars per million tokens, as a number: true is none, though Python takes it for 1."""


class _PriceRow(BaseModel):
    """One line of a price file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    cache_write: Dollars | None = None
    as_of: date | None = None

    def price(self) -> Price:
        """Return the numbers alone."""
        return Price(self.input, self.output, self.cached_input, self.cache_write)


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

        ``factors``: by provider, what share of its prices it takes.
        """
        self._tables = tables
        self._factors = factors or {}

    @classmethod
    def load(cls, path: Path | None = None, *, batch: bool = False) -> PriceTable:
        """Read the shipped list and, before it, the user's file.

        ``batch``: whether requests travel in batches, which providers take less for.

        Raises:
            InputError: the file cannot be read or a row is not a price.
        """
        files = [_read(file) for file in ([SHIPPED] if path is None else [path, SHIPPED])]
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


def _read(path: Path) -> _PriceFile:
    """Read and check one price file."""
    return validate_model(_PriceFile, read_yaml(path))
