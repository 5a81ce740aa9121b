"""A provider that keeps its own bill, and does not always tell what is on it.

It speaks the formats of OpenAI and Anthropic, batches included, and reckons by a price list that it
reads itself: nothing of how hipo counts is used here. What a run says it cost is held against
``LedgerServer.usd``, what its budget let through against it, too::

    with LedgerServer({"openai/m": {"input": 2, "output": 8}}, noise=every(5, "silent")) as server:
        ...
        assert server.usd <= budget

Of OpenAI's prompts those tokens are cached that an earlier prompt began with; of Anthropic's system
texts those that are marked, which are written once, for five minutes or for an hour, and read then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import yaml
from aiohttp import web

from benchmarks.billing_server import PrefixCache
from pipeline.providers.prices import SHIPPED
from tests.wire import formats
from tests.wire.faults import Fault
from tests.wire.server import WireServer, actors_and_judges

Noise = Literal["silent", "zero", "over", "error", "cut", "fault"]
"""``silent``: no usage; ``zero``: a usage of nothing; ``over``: half as many answer tokens again as were
asked for at most; ``error``: computed and billed, and then a 504 of the gateway; ``cut``: computed and
billed, and the connection breaks before the answer; ``fault``: a 500 that says what was billed."""
Noises = Callable[[int], "Noise | None"]
"""What befalls the n-th answer, from 0."""
Rates = Mapping[str, float]
HOUR_SHARE = 2.0
"""Anthropic's price of a token written for an hour, as a share of that of others."""


@dataclass(frozen=True, slots=True)
class Line:
    """One answer on the bill."""

    model: str
    prompt: int
    """Tokens, those of the cache included."""
    cached: int
    written: int
    hourly: int
    """Those of ``written`` that are kept for an hour."""
    output: int
    told: bool
    """Whether the client was told."""
    usd: float


class LedgerServer(WireServer):
    """Serves until closed; every answer that was computed is a line of ``bill``."""

    def __init__(
        self,
        prices: Mapping[str, Rates],
        *,
        noise: Noises = lambda _: None,
        reasoning: int = 0,
        each: int = 0,
        batch_share: float = 0.5,
        **settings: Any,
    ) -> None:
        """Bill by ``prices``, by ``provider/model`` in US dollars per million tokens.

        Args:
            prices: with the fields of a price file; :func:`shipped_prices` are those that ship.
            noise: what goes wrong with the bill of which answer.
            reasoning: tokens of each choice that are thought and not said.
            each: tokens that are put before every prompt, and billed.
            batch_share: what is taken for requests in batches.
            settings: of :class:`WireServer`.
        """
        super().__init__(**{"answer": actors_and_judges, "keep": False, **settings})
        self.prices = prices
        self.noise = noise
        self.reasoning = reasoning
        self.each = each
        self.batch_share = batch_share
        self.bill: list[Line] = []
        self._cache = PrefixCache()
        self._marked: set[str] = set()
        self.batches._answer = lambda wire, body, _: self._billed(wire, body, {}, self.batch_share)

    @property
    def usd(self) -> float:
        """What all answers cost."""
        return math.fsum(line.usd for line in self.bill)

    @property
    def told_usd(self) -> float:
        """What those cost whose usage the client was told."""
        return math.fsum(line.usd for line in self.bill if line.told)

    @property
    def tokens(self) -> int:
        """Prompt and answer tokens of all answers."""
        return sum(line.prompt + line.output for line in self.bill)

    async def _reply(
        self,
        request: web.Request,
        wire: formats.Wire,
        body: dict[str, Any],
        headers: Mapping[str, str],
        number: int,
        fault: Fault | None,
    ) -> web.StreamResponse:
        if fault is not None:
            return await super()._reply(request, wire, body, headers, number, fault)
        noise = self.noise(len(self.bill))
        answer = self._billed(wire, body, headers, 1.0, noise)
        if noise == "error":
            return web.json_response(wire.error(504, "upstream timed out", None), status=504)
        if noise == "fault":
            error = wire.error(500, "the worker died", None) | {"usage": answer["usage"]}
            return web.json_response(error, status=500)
        if noise == "cut" and request.transport is not None:
            request.transport.abort()
        return web.json_response(answer)

    def _billed(
        self,
        wire: formats.Wire,
        body: dict[str, Any],
        headers: Mapping[str, str],
        share: float,
        noise: Noise | None = None,
    ) -> dict[str, Any]:
        """Answer, and write what it cost on the bill."""
        messages = wire.messages(body)
        text = "".join(f"<{role}>{said}" for role, said in messages)
        prompt = formats.tokens(text) + self.each
        n = int(body.get("n", 1))
        seed = wire.seed_of(body, headers)
        texts = [self.answer(messages, seed + i) for i in range(n)]
        most = body.get("max_completion_tokens") or body["max_tokens"]
        output = sum(formats.tokens(one) + self.reasoning for one in texts)
        output = math.ceil(1.5 * most * n) if noise == "over" else min(output, most * n)
        name = body["model"]
        if wire is formats.OPENAI:
            cached, written, hourly = self._cache.cached(name, text.encode()), 0, 0
        else:
            cached, written, hourly = self._of_marked(name, body)
        rates = self.rates(wire, name)
        usd = cost(rates, prompt, cached, written, hourly, output) * share
        told = noise in {None, "over", "fault"}
        self.bill.append(Line(name, prompt, cached, written, hourly, output, told, usd))
        answer = wire.answer(
            body, texts, number=len(self.bill), prompt=prompt, cached=cached, usage=told
        )
        if noise == "zero":
            zeros = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")
            answer["usage"] = dict.fromkeys(zeros, 0)
        elif told and wire is formats.OPENAI:
            answer["usage"]["completion_tokens"] = output
            answer["usage"]["total_tokens"] = prompt + output
            thought = {"reasoning_tokens": min(self.reasoning * n, output)}
            answer["usage"]["completion_tokens_details"] = thought
        elif told:
            answer["usage"] = {
                "input_tokens": prompt - cached - written,
                "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": written,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": written - hourly,
                    "ephemeral_1h_input_tokens": hourly,
                },
                "output_tokens": output,
            }
        return answer

    def rates(self, wire: formats.Wire, model: str) -> Rates:
        """Return what the tokens of a model cost."""
        providers = ("anthropic",) if wire is formats.ANTHROPIC else ("openai", "compatible")
        return next(
            rates
            for provider in providers
            for pattern, rates in self.prices.items()
            if fnmatchcase(f"{provider}/{model}", pattern)
        )

    def _of_marked(self, model: str, body: dict[str, Any]) -> tuple[int, int, int]:
        """Return how many tokens of a body's system text are read, written, and written for an hour."""
        marks = [body.get("cache_control"), *(b.get("cache_control") for b in body["system"])]
        mark = next((mark for mark in marks if mark), None)
        text = formats.plain(body["system"])
        if mark is None or formats.tokens(text) < 1_024:
            return 0, 0, 0
        key, size = f"{model} {text}", formats.tokens(text)
        if key in self._marked:
            return size, 0, 0
        self._marked.add(key)
        return 0, size, size if mark.get("ttl") == "1h" else 0


def cost(rates: Rates, prompt: int, cached: int, written: int, hourly: int, output: int) -> float:
    """Return the US dollars of one answer."""
    rate, said, times = rates["input"], rates["output"], 1.0
    if "long_above" in rates and prompt > rates["long_above"]:
        times = rates["long_input"] / rate
        rate, said = rates["long_input"], rates["long_output"]
    reading = times * rates["cached_input"] if "cached_input" in rates else rate
    writing = times * rates["cache_write"] if "cache_write" in rates else 1.25 * rate
    return (
        (prompt - cached - written) * rate
        + cached * reading
        + (written - hourly) * writing
        + hourly * HOUR_SHARE * rate
        + output * said
    ) / 1e6


def shipped_prices(path: Path = SHIPPED) -> dict[str, dict[str, float]]:
    """Return the rows of a price file as they stand there."""
    rows: dict[str, dict[str, float]] = yaml.safe_load(path.read_text(encoding="utf-8"))["prices"]
    return rows


def every(n: int, *noises: Noise) -> Noises:
    """Return what befalls every n-th answer, the given noises by turns."""
    return lambda number: noises[number // n % len(noises)] if number % n == n - 1 else None
