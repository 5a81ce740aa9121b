"""Endpoints of any models, opened once each and shared by everybody who asks the same model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from pipeline.budget import Ledger
from pipeline.cli.wiring import ModelUse
from pipeline.endpoint import Endpoint
from pipeline.endpoint_memory import EndpointMemory
from pipeline.providers.limits import Gates
from pipeline.providers.limits import Limits as GateLimits
from pipeline.providers.protocol import Provider
from pipeline.providers.registry import build_provider, languages_of, parse_model
from pipeline.providers.retry import RetryPolicy
from pipeline.recipe import Limits
from pipeline.stop import Stop
from scenarios.fingerprint import fingerprint


class EndpointPool:
    """Providers by address, and one endpoint per model and parameters."""

    def __init__(
        self,
        limits: Limits,
        *,
        ledger: Ledger,
        stop: Stop,
        notice: Callable[[str], None],
        gates: Gates | None = None,
    ) -> None:
        """Start empty; ``gates`` are shared with others who ask the same models."""
        self._limits = limits
        self._ledger = ledger
        self._stop = stop
        self._notice = notice
        self._gates = gates or gates_for(limits)
        self.providers: dict[str, Provider] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._memories: dict[str, EndpointMemory] = {}

    def connect(self, use: ModelUse) -> None:
        """Build the provider of a model unless it is there; nothing is sent.

        Raises:
            UsageError: a package or a key is missing; it says which and what to do.
        """
        address = address_of(use)
        if address not in self.providers:
            self.providers[address] = build_provider(
                parse_model(use.spec.name),
                base_url=None if use.spec.provider == "offline" else use.spec.base_url,
                api_key_env=use.api_key_env,
                max_concurrency=self._limits.max_concurrency,
            )

    def endpoint(self, use: ModelUse) -> Endpoint:
        """Return the endpoint of a model that is connected."""
        spec = use.spec
        key = fingerprint([spec.fields(), use.api_key_env])
        if key not in self._endpoints:
            self._endpoints[key] = Endpoint(
                provider=self.providers[address_of(use)],
                model=spec.model,
                parameters=spec.parameters,
                price=use.price,
                structured=spec.structured,
                languages=languages_of(parse_model(spec.name)),
                gate=self._gates.gate(spec.provider, spec.base_url, spec.model),
                retry=RetryPolicy(max_attempts=self._limits.max_attempts),
                timeout_s=self._limits.timeout_s,
                ledger=self._ledger,
                stop=self._stop,
                memory=self._memory(use),
            )
        return self._endpoints[key]

    def _memory(self, use: ModelUse) -> EndpointMemory:
        key, name = f"{address_of(use)} {use.spec.model}", use.spec.name
        return self._memories.setdefault(
            key, EndpointMemory(lambda lesson: self._notice(f"{name}: {lesson}"))
        )


@asynccontextmanager
async def pooled(pool: EndpointPool, uses: Iterable[ModelUse]) -> AsyncIterator[EndpointPool]:
    """Connect a pool to every model, and close the connections afterwards.

    Raises:
        UsageError: a package or a key is missing; it says which and what to do.
    """
    async with AsyncExitStack() as stack:
        for use in uses:
            known = set(pool.providers)
            pool.connect(use)
            for address in set(pool.providers) - known:
                stack.push_async_callback(pool.providers[address].close)
        yield pool


def gates_for(limits: Limits) -> Gates:
    """Return the gates that keep to the limits of a recipe."""
    return Gates(
        GateLimits(
            max_concurrency=limits.max_concurrency,
            requests_per_minute=limits.max_requests_per_minute,
            tokens_per_minute=limits.max_tokens_per_minute,
        )
    )


def address_of(use: ModelUse) -> str:
    """Name the connection pool a model is reached through."""
    return f"{use.spec.provider} {use.spec.base_url} {use.api_key_env}"
