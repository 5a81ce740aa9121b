"""Open one endpoint per model and parameters, shared by all arms and judges that use the model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from hipo.app.preparation import ModelUse
from pipeline.budget import Ledger
from pipeline.endpoint import DirectSender, Endpoint, Sender
from pipeline.endpoint_capabilities import EndpointCapabilities
from pipeline.providers.protocol import Provider
from pipeline.providers.rate_limiter import RateLimiters, RateLimits
from pipeline.providers.registry import build_provider, languages_of, parse_model
from pipeline.providers.retry import RetryPolicy
from pipeline.recipe import Limits
from pipeline.stop import Stop
from scenarios.arms import Parameters
from scenarios.fingerprint import fingerprint


class EndpointPool:
    """One endpoint per model and parameters, over providers that are open."""

    def __init__(
        self,
        limits: Limits,
        providers: Mapping[str, Provider],
        *,
        ledger: Ledger,
        stop: Stop,
        notice: Callable[[str], None],
        limiters: RateLimiters | None = None,
        sender: Callable[[Provider, float], Sender] = DirectSender,
    ) -> None:
        """Start without an endpoint.

        Args:
            limits: of the recipe.
            providers: see :func:`providers_for`.
            ledger: every call is charged to it.
            stop: asked before every call.
            notice: is told what is learnt about a model, such as a parameter it refuses.
            limiters: those of others who ask the same models at the same time.
            sender: makes what requests are sent with, from a provider and a timeout in seconds.
        """
        self._limits = limits
        self._sender = sender
        self._providers = providers
        self._ledger = ledger
        self._stop = stop
        self._notice = notice
        self._limiters = limiters or limiters_for(limits)
        self._endpoints: dict[str, Endpoint] = {}
        self._capabilities: dict[str, EndpointCapabilities] = {}

    def endpoint(self, use: ModelUse) -> Endpoint:
        """Return the endpoint of a model whose provider is open."""
        spec = use.spec
        key = fingerprint([spec.fields(), use.api_key_env])
        if key not in self._endpoints:
            provider = self._providers[_address(use)]
            self._endpoints[key] = Endpoint(
                provider=provider,
                sender=self._sender(provider, self._limits.timeout_s),
                model=spec.model,
                parameters=spec.parameters or Parameters(),
                price=use.price,
                structured=spec.structured,
                languages=languages_of(parse_model(spec.name)),
                limiter=self._limiters.limiter(spec.provider, spec.base_url, spec.model),
                retry=RetryPolicy(max_attempts=self._limits.max_attempts),
                ledger=self._ledger,
                stop=self._stop,
                capabilities=self._capabilities_of(use),
            )
        return self._endpoints[key]

    def _capabilities_of(self, use: ModelUse) -> EndpointCapabilities:
        key, name = f"{_address(use)} {use.spec.model}", use.spec.name
        return self._capabilities.setdefault(
            key, EndpointCapabilities(lambda lesson: self._notice(f"{name}: {lesson}"))
        )


@asynccontextmanager
async def providers_for(
    uses: Iterable[ModelUse], limits: Limits
) -> AsyncIterator[Mapping[str, Provider]]:
    """Build the providers of models, by address, and close them afterwards; nothing is sent.

    Each keeps as many connections as all the models behind its address may use at once.

    Raises:
        UsageError: a package or a key is missing; it says which and what to do.
    """
    by_address: dict[str, dict[str, ModelUse]] = {}
    for use in uses:
        by_address.setdefault(_address(use), {})[use.spec.model] = use
    async with AsyncExitStack() as stack:
        providers: dict[str, Provider] = {}
        for address, models in by_address.items():
            use = next(iter(models.values()))
            providers[address] = build_provider(
                parse_model(use.spec.name),
                base_url=use.spec.base_url,
                api_key_env=use.api_key_env,
                max_concurrency=limits.max_concurrency * len(models),
            )
            stack.push_async_callback(providers[address].close)
        yield providers


def limiters_for(limits: Limits) -> RateLimiters:
    """Return the rate limiters that keep to the limits of a recipe."""
    return RateLimiters(
        RateLimits(
            max_concurrency=limits.max_concurrency,
            requests_per_minute=limits.max_requests_per_minute,
            tokens_per_minute=limits.max_tokens_per_minute,
        )
    )


def _address(use: ModelUse) -> str:
    """Name the connection pool a model is reached through."""
    return f"{use.spec.provider} {use.spec.base_url} {use.api_key_env}"
