"""An endpoint on a bench: what it is asked through, and everything it told."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import asynccontextmanager

from pipeline.endpoints.capabilities import EndpointCapabilities
from pipeline.endpoints.endpoint import DirectSender, Endpoint, SampleRequest
from pipeline.endpoints.gate import EndpointGates
from pipeline.endpoints.run_link import LocalRun
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.prices import Price
from pipeline.providers.protocol import Choice, Reply, Usage
from pipeline.providers.rate_limiter import RateLimiters, RateLimits, loop_time
from pipeline.providers.registry import build_provider, parse_model
from pipeline.providers.retry import RetryPolicy
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop
from pipeline.store.call_rows import RequestOrigin
from scenarios.arms import Parameters
from tests.pipeline.providers.asking import MESSAGES, SCHEMA

PRICE = Price(input=1.0, output=10.0)


ORIGIN = RequestOrigin(0, "initiator", "arm", "case", 2, "initiator", "compatible/m")


class NothingKnown:
    """A log of calls that an endpoint never asks."""

    def choices(self, key, samples, epoch):
        return {}

    def count_hits(self, count):
        pass

    def known_of_case(self, case):
        return ()

    def excess(self):
        return {}

    def keep_excess(self, known):
        pass


class Bench:
    """An endpoint under test, with everything it told."""

    def __init__(self, provider, **options):
        self.attempts = []
        self.choices = []
        self.notices = []
        self.slept = []
        options.setdefault("parameters", Parameters(temperature=0.7, max_tokens=64))
        options.setdefault("price", PRICE)
        options.setdefault("retry", RetryPolicy(max_attempts=5))
        limits = options.pop("limits", RateLimits(max_concurrency=16))
        limiters = RateLimiters(limits, self.sleep, self.time)
        ledger = options.pop("ledger", None) or Ledger()
        stop = options.pop("stop", None) or Stop()
        rules = options.pop("rules", WaitRules(confirm_s=0.01, after_refusal_s=0.01))
        self.endpoint = Endpoint(
            provider=provider,
            sender=DirectSender(provider, options.pop("timeout_s", 120.0)),
            model="m",
            capabilities=EndpointCapabilities(
                self.notices.append, bounds_texts=options.pop("bounds_texts", False)
            ),
            sleep=self.sleep,
            link=LocalRun(NothingKnown(), ledger, limiters, stop, EndpointGates(stop, rules)),
            rng=random.Random(0),
            **options,
        )

    async def sleep(self, seconds):
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def time(self):
        """Return a time that goes on while somebody pretends to sleep."""
        return loop_time() + sum(self.slept)

    async def ask(self, *samples, seed=100, origin=ORIGIN):
        request = SampleRequest(MESSAGES, SCHEMA, "utterance", seed, origin, {"utterance": 600})
        return await self.endpoint.ask(request, samples or (0,), self.record)

    def record(self, attempt):
        self.attempts.append(attempt.row)
        self.choices.append(attempt.choices)

    @property
    def codes(self):
        return [attempt.code for attempt in self.attempts]


@asynccontextmanager
async def bench(server, name="compatible", **options):
    url = server.anthropic_url if name == "anthropic" else server.openai_url
    provider = build_provider(parse_model(f"{name}/m"), base_url=url)
    try:
        yield Bench(provider, **options)
    finally:
        await provider.close()


def said(choices):
    return {i: json.loads(choice.text)["utterance"] for i, choice in choices.items()}


def seeds(*samples):
    return {i: f"seed {100 + i}" for i in samples}


class Scripted:
    """A provider that answers what it is told to."""

    name = "compatible"
    base_url = "http://127.0.0.1/v1"
    samples_per_request = True

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    async def send(self, request, timeout_s):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if callable(answer):
            answer = await answer()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def close(self):
        pass


def reply(*texts, usage=Usage(10, 5)):  # noqa: B008
    return Reply(tuple(Choice(text, "stop") for text in texts), usage, "req")
