"""A provider that follows a script, and a client that asks it."""

from __future__ import annotations

import asyncio

from pipeline.calls.client import Client
from pipeline.calls.records import CallContext
from pipeline.endpoints.endpoint import DirectSender, Endpoint
from pipeline.endpoints.gate import EndpointGates
from pipeline.endpoints.run_link import LocalRun
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.protocol import Choice, Reply, Usage
from pipeline.providers.rate_limiter import RateLimiters, RateLimits
from pipeline.providers.retry import RetryPolicy
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop
from prompts.question import Message, Question
from prompts.responses import utterance_format
from scenarios.arms import Parameters

QUESTION = Question(
    (Message("system", "# Task\nAsk.\n"), Message("user", "# Now\nSpeak.\n")),
    utterance_format(),
    lambda reasons: "# Correction\n" + "\n".join(reasons),
)
CONTEXT = CallContext("initiator", seed=11, epoch=0, case="c1", purpose="initiator", turn=2)


def says(text):
    return f'{{"utterance": "{text}"}}'


class Scripted:
    """A provider that answers by a function of the request, and remembers what it was asked."""

    name = "compatible"
    base_url = "http://127.0.0.1:9/v1"
    samples_per_request = True

    def __init__(self, answer):
        self.answer = answer
        self.requests = []

    async def send(self, request, timeout_s):
        self.requests.append(request)
        answer = self.answer(request, len(self.requests))
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        choices = [c if isinstance(c, Choice) else Choice(c, "stop") for c in answer]
        return Reply(tuple(choices), Usage(100, 10), "r")

    async def close(self):
        pass


def link_of(store, *, ledger=None, stop=None, limits=None):
    """Return an open run as clients of this process see it; no first call holds others back."""
    limiters = RateLimiters(limits or RateLimits())
    stop = stop or Stop()
    gates = EndpointGates(stop, WaitRules(alone_s=0.0, confirm_s=0.0))
    return LocalRun(store.calls, ledger or Ledger(), limiters, stop, gates)


def endpoint_of(provider, link, **changes):
    async def no_sleep(_):
        await asyncio.sleep(0)

    settings = {"retry": RetryPolicy(max_attempts=3), "sleep": no_sleep} | changes
    parameters = settings.pop("parameters", Parameters())
    sender = settings.pop("sender", None) or DirectSender(provider)
    model = settings.pop("model", "m")
    return Endpoint(provider, model, parameters, sender, link, **settings)


def client_of(store, answer, *, ledger=None, stop=None, **changes):
    provider = Scripted(answer)
    link = link_of(store, ledger=ledger, stop=stop)
    return Client(link, {"initiator": endpoint_of(provider, link, **changes)}, "arm"), provider


def ask(client, ctx=CONTEXT, question=QUESTION):
    return client.ask(question, ctx)


def ask_many(client, k, ctx=CONTEXT):
    return client.ask_many(QUESTION, ctx, k=k)


def at_epoch(epoch):
    return CallContext("initiator", 11, epoch, "c1", "initiator", 2)


def requests_of(store, case="c1"):
    return [r for record in store.calls.of_case(case) for r in record.requests]


def statuses_of(store, case="c1"):
    return [c.status for record in store.calls.of_case(case) for c in record.choices]
