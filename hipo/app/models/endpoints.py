"""Open one endpoint per model, parameters and price, shared by all arms and judges that use the model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict
from functools import partial

from hipo.app.models.batch_apis import check_batches
from hipo.app.models.batching import SenderFactory
from hipo.app.models.resolution import ModelUse
from pipeline.calls.client import Client, InFlight
from pipeline.endpoints.capabilities import EndpointCapabilities
from pipeline.endpoints.endpoint import DirectSender, Endpoint
from pipeline.endpoints.gate import EndpointGates
from pipeline.endpoints.run_link import LocalRun, RunLink
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.places import places_at
from pipeline.providers.protocol import Provider
from pipeline.providers.rate_limiter import RateLimiters, RateLimits
from pipeline.providers.registry import PROVIDERS, ModelName, build_provider
from pipeline.providers.retry import RetryPolicy
from pipeline.recipes.recipe import Limits
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop
from pipeline.store.calls import CallLog
from scenarios.arms import Parameters
from scenarios.fingerprint import fingerprint
from scenarios.plural import plural
from scenarios.text_file import typed_path

LEAST_PATIENCE_S = 600.0
"""So long a call may be refused for its rate, all its pauses together, before it fails; longer
where an endpoint is waited for longer."""


class EndpointPool:
    """One endpoint per model, parameters and price, over providers that are open."""

    def __init__(
        self,
        limits: Limits,
        providers: Mapping[str, Provider],
        link: RunLink,
        notice: Callable[[str], None],
        *,
        in_flight: InFlight | None = None,
        sender: SenderFactory | None = None,
    ) -> None:
        """Start without an endpoint.

        Args:
            limits: of the recipe.
            providers: see :func:`providers_for`.
            link: the run that every call belongs to.
            notice: is told what is learnt about a model, such as a parameter it refuses.
            in_flight: the table of another pool that works for the same run in this process.
            sender: makes what requests are sent with, from a provider and a timeout in seconds;
                None sends each at once.
        """
        self.gathers = False
        """Whether what any of its clients by now is asked waits for a batch."""
        self.in_flight: InFlight = {} if in_flight is None else in_flight
        self._limits = limits
        # Where a model refuses everything, the run ends before the first of its cases fails.
        patience_s = 2.0 * max(limits.wait_for_endpoint, LEAST_PATIENCE_S)
        self._retry = RetryPolicy(max_attempts=limits.max_attempts, max_refused_s=patience_s)
        self._providers = providers
        self._link = link
        self._notice = notice
        self._sender = sender or partial(DirectSender, open_requests=link.stop.in_flight)
        self._endpoints: dict[str, Endpoint] = {}
        self._capabilities: dict[str, EndpointCapabilities] = {}

    def client(self, arm: str, uses: Mapping[str, ModelUse]) -> Client:
        """Return a client that asks these models by role, and whose calls ``arm`` pays for."""
        endpoints = {role: self.endpoint(use) for role, use in uses.items()}
        client = Client(self._link, endpoints, arm, self.in_flight)
        self.gathers = self.gathers or client.gathers
        return client

    def endpoint(self, use: ModelUse) -> Endpoint:
        """Return the endpoint of a model whose provider is open."""
        spec = use.spec
        price = None if use.price is None else asdict(use.price)
        key = fingerprint([spec.fields(), use.api_key_env, price])
        if key not in self._endpoints:
            provider = self._providers[_address(use)]
            self._endpoints[key] = Endpoint(
                provider=provider,
                model=spec.model,
                parameters=spec.parameters or Parameters(),
                sender=self._sender(provider, self._limits.timeout_for(spec.provider)),
                link=self._link,
                price=use.price,
                structured=spec.structured,
                revision=spec.revision,
                retry=self._retry,
                capabilities=self._capabilities_of(use),
            )
        return self._endpoints[key]

    def _capabilities_of(self, use: ModelUse) -> EndpointCapabilities:
        key, name = f"{_address(use)} {use.spec.model}", use.spec.name
        return self._capabilities.setdefault(
            key,
            EndpointCapabilities(
                lambda lesson: self._notice(f"{name}: {lesson}"),
                bounds_texts=PROVIDERS.get(use.spec.provider).bounds_texts,
            ),
        )


@asynccontextmanager
async def providers_for(
    uses: Iterable[ModelUse], limits: Limits, there: Mapping[str, Provider] | None = None
) -> AsyncIterator[Mapping[str, Provider]]:
    """Build the providers of models, by address, and close them afterwards; nothing is sent.

    Each keeps as many connections as all the models behind its address may use at once.

    Args:
        uses: the models.
        limits: of the recipe.
        there: providers that need not be built, by their name.

    Raises:
        UsageError: a package, a key or a batch API is missing; it says which and what to do.
    """
    by_address: dict[str, dict[str, ModelUse]] = {}
    uses = tuple(uses)
    check_batches(uses, limits)
    for use in uses:
        by_address.setdefault(_address(use), {})[use.spec.model] = use
    async with AsyncExitStack() as stack:
        providers: dict[str, Provider] = {}
        for address, models in by_address.items():
            use = next(iter(models.values()))
            if there and use.spec.provider in there:
                providers[address] = there[use.spec.provider]
                continue
            providers[address] = build_provider(
                ModelName(use.spec.provider, use.spec.model),
                base_url=use.spec.base_url,
                api_key_env=use.api_key_env,
                max_concurrency=places_at(use.spec.provider, limits.max_concurrency).most
                * len(models),
            )
            stack.push_async_callback(providers[address].close)
        yield providers


def local_run(
    limits: Limits,
    calls: CallLog,
    ledger: Ledger,
    stop: Stop,
    notice: Callable[[str], None] = lambda _: None,
) -> LocalRun:
    """Return an open run as the clients of this process see it, within the limits of a recipe.

    Args:
        limits: of the recipe.
        calls: the log of the run, or of the evaluation.
        ledger: its budget.
        stop: its stop.
        notice: is told when an endpoint goes away and when it is back, and first of all which
            earlier calls the sum that is spent knows too little of.
    """
    for remark in _on_earlier_calls(calls, ledger):
        notice(remark)
    rates = RateLimits(
        requests_per_minute=limits.max_requests_per_minute,
        tokens_per_minute=limits.max_tokens_per_minute,
    )
    gates = EndpointGates(
        stop,
        WaitRules(wait_s=limits.wait_for_endpoint),
        notice,
        answered_before=calls.answered,
        awaited=stop.awaited,
    )
    limiters = RateLimiters(rates, places=partial(places_at, number=limits.max_concurrency))
    return LocalRun(calls, ledger, limiters, stop, gates)


def _on_earlier_calls(calls: CallLog, ledger: Ledger) -> Iterator[str]:
    """Yield what is to be said of calls of earlier processes, once."""
    lost, calls.lost = calls.lost, 0
    if lost:
        yield (
            "an earlier process was killed: what it had in flight,"
            f" up to {plural(lost, 'call')}, is charged at its worst"
        )
    if ledger.budget_usd is not None and (unpriced := calls.unpriced()):
        yield (
            f"{plural(unpriced, 'earlier call')} had no price, and"
            f" {'is' if unpriced == 1 else 'are'} not counted in what is spent of --budget-usd;"
            " --budget-tokens counts all of them"
        )
    if ledger.limited:
        for (provider, _, model), excess in calls.excess().items():
            yield (
                f"{provider}/{model} counted more in earlier calls than was asked of it: the budget"
                f" takes {excess.in_words()}; if that was a mistake, hipo runs forget-excess"
                f" {typed_path(calls.folder)} undoes it"
            )


def _address(use: ModelUse) -> str:
    """Name the connection pool a model is reached through."""
    return f"{use.spec.provider} {use.spec.base_url} {use.api_key_env}"
