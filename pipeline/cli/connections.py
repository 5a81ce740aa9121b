"""From what was prepared to what can act: endpoints, clients, and one player per arm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType

from pipeline.arms import Arm
from pipeline.budget import Ledger
from pipeline.cli.endpoint_pool import gates_for
from pipeline.cli.wiring import ModelUse, Prepared
from pipeline.client import CallStore, Client
from pipeline.embeddings import BatchingEncoder, sentence_encoder
from pipeline.endpoint import Endpoint
from pipeline.endpoint_memory import EndpointMemory
from pipeline.engine import Player
from pipeline.providers.limits import Gates
from pipeline.providers.protocol import Provider
from pipeline.providers.registry import build_provider, languages_of, parse_model
from pipeline.providers.retry import RetryPolicy
from pipeline.simulate import Simulator
from pipeline.stop import Stop
from pipeline.strategies.consistency import Consistency
from pipeline.strategies.direct import Direct
from pipeline.strategies.protocol import Strategy
from pipeline.strategies.reflective import Reflective
from scenarios.fingerprint import fingerprint

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Connections:
    """Providers and encoder of a run: built, keys found, nothing sent yet."""

    prepared: Prepared
    providers: Mapping[str, Provider]
    """By :func:`_address`."""
    encoder: BatchingEncoder | None

    def players(
        self,
        store: CallStore,
        ledger: Ledger,
        stop: Stop,
        notice: Notice,
        gates: Gates | None = None,
    ) -> dict[str, Player]:
        """Return one player per arm id; roles that ask the same model share its endpoint.

        ``gates`` are those of others who ask the same models at the same time.
        """
        limits = self.prepared.recipe.limits
        gates = gates or gates_for(limits)
        endpoints: dict[str, Endpoint] = {}
        memories: dict[str, EndpointMemory] = {}

        def endpoint(use: ModelUse) -> Endpoint:
            key = fingerprint([use.spec.fields(), use.api_key_env])
            model_key = f"{_address(use)} {use.spec.model}"
            if key not in endpoints:
                name = use.spec.name
                memory = memories.setdefault(
                    model_key, EndpointMemory(lambda lesson: notice(f"{name}: {lesson}"))
                )
                endpoints[key] = Endpoint(
                    provider=self.providers[_address(use)],
                    model=use.spec.model,
                    parameters=use.spec.parameters,
                    price=use.price,
                    structured=use.spec.structured,
                    languages=languages_of(parse_model(name)),
                    gate=gates.gate(use.spec.provider, use.spec.base_url, use.spec.model),
                    retry=RetryPolicy(max_attempts=limits.max_attempts),
                    timeout_s=limits.timeout_s,
                    ledger=ledger,
                    stop=stop,
                    memory=memory,
                )
            return endpoints[key]

        return {arm.id: self._player(arm, store, endpoint) for arm in self.prepared.arms}

    def _player(
        self, arm: Arm, store: CallStore, endpoint: Callable[[ModelUse], Endpoint]
    ) -> Player:
        prepared = self.prepared
        client = Client(
            store,
            {role: endpoint(prepared.uses[arm.id, role]) for role in arm.roles},
            arm.id,
        )
        return Simulator(
            scenarios=prepared.scenarios,
            scheme=prepared.scheme,
            prompts=prepared.prompts,
            arm=arm.id,
            strategy=self._strategy(arm, client),
            asker=client,
            axes=prepared.axes,
            design=prepared.design,
        )

    def _strategy(self, arm: Arm, client: Client) -> Strategy:
        prompts = self.prepared.prompts
        if arm.strategy == "consistency" and self.encoder is not None:
            return Consistency(prompts, client, self.encoder, k=arm.k)
        if arm.strategy == "reflective":
            return Reflective(prompts, client, max_revisions=arm.max_revisions)
        return Direct(prompts, client)


@asynccontextmanager
async def connected(prepared: Prepared) -> AsyncIterator[Connections]:
    """Build the providers and the encoder of a run, and close them afterwards.

    Raises:
        UsageError: a package or a key is missing; it says which and what to do.
    """
    async with AsyncExitStack() as stack:
        providers: dict[str, Provider] = {}
        for use in prepared.uses.values():
            if _address(use) not in providers:
                provider = build_provider(
                    parse_model(use.spec.name),
                    base_url=None if use.spec.provider == "offline" else use.spec.base_url,
                    api_key_env=use.api_key_env,
                    max_concurrency=prepared.recipe.limits.max_concurrency,
                )
                stack.push_async_callback(provider.close)
                providers[_address(use)] = provider
        encoder = None
        if any(arm.strategy == "consistency" for arm in prepared.arms):
            embedding = prepared.recipe.embedding
            encoder = sentence_encoder(embedding.model, embedding.device)
            stack.push_async_exit(_Closing(encoder))
            if embedding.model is not None or embedding.device != "auto":
                await encoder.encode(["Is it there?"])  # a wrong name shows before anything is made
        yield Connections(prepared, providers, encoder)


class _Closing:
    """Waits for the encoder's thread, except where the user wants to leave at once."""

    def __init__(self, encoder: BatchingEncoder) -> None:
        self._encoder = encoder

    async def __aenter__(self) -> None:
        """Do nothing."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close, unless the task was cancelled: the thread dies with the process."""
        if kind is not asyncio.CancelledError:
            await self._encoder.close()


def _address(use: ModelUse) -> str:
    """Name the connection pool a model is reached through."""
    return f"{use.spec.provider} {use.spec.base_url} {use.api_key_env}"
