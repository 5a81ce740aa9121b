"""Build the players of a run: endpoints, clients, and one player per arm."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from hipo.app.models.batching import SenderFactory
from hipo.app.models.endpoints import EndpointPool, providers_for
from hipo.app.preparation.prepared import Prepared
from pipeline.calls.client import InFlight
from pipeline.embeddings.embeddings import Note, sentence_encoder
from pipeline.endpoints.run_link import RunLink
from pipeline.executors.model_pools import ENCODER, Pool, PooledEncoder, PooledProvider
from pipeline.expected_calls import ArmParts
from pipeline.playing.engine import Player
from pipeline.playing.player import CasePlayer
from pipeline.providers.protocol import Provider
from pipeline.strategies.foreign import foreign
from pipeline.strategies.registry import STRATEGIES
from pipeline.voting import Encoder
from scenarios.arms import Arm
from scenarios.extensions import told_of_plugin
from scenarios.plugins import load_plugins


@dataclass(frozen=True, slots=True)
class Connections:
    """Providers and encoder of a run: built, keys found, nothing sent yet."""

    prepared: Prepared
    providers: Mapping[str, Provider]
    encoder: Encoder | None

    def players(
        self,
        link: RunLink,
        notice: Callable[[str], None],
        *,
        in_flight: InFlight | None = None,
        sender: SenderFactory | None = None,
    ) -> dict[str, Player]:
        """Return one player per arm id; roles that ask the same model share its endpoint.

        For the arguments see :class:`EndpointPool`.
        """
        pool = EndpointPool(
            self.prepared.recipe.limits,
            self.providers,
            link,
            notice,
            in_flight=in_flight,
            sender=sender,
        )
        return {arm.id: self._player(arm, pool) for arm in self.prepared.arms}

    async def leave(self) -> None:
        """Do nothing: a player that has ended has settled what it sent."""

    def _player(self, arm: Arm, pool: EndpointPool) -> Player:
        prepared = self.prepared
        client = pool.client(arm.id, {role: prepared.uses[arm.id, role] for role in arm.models})
        with told_of_plugin(STRATEGIES, arm.strategy):
            extension = STRATEGIES.get(arm.strategy)
            strategy = extension.build(
                ArmParts(prepared.prompts, client, self.encoder, prepared.scenarios),
                prepared.recipe.strategy_settings(arm.strategy),
            )
            if arm.strategy not in STRATEGIES.shipped:
                strategy = foreign(
                    arm.strategy, strategy, prepared.scheme, knows_all=extension.knows_all
                )
        return CasePlayer(
            scenarios=prepared.scenarios,
            scheme=prepared.scheme,
            prompts=prepared.prompts,
            arm=arm.id,
            strategy=strategy,
            asker=client,
            axes=prepared.axes,
            design=prepared.design,
        )


@asynccontextmanager
async def connected(
    prepared: Prepared,
    note: Note = lambda _: None,
    *,
    pools: Mapping[str, Pool] | None = None,
) -> AsyncIterator[Connections]:
    """Build the providers and the encoder of a run, and close them afterwards.

    Args:
        prepared: the run.
        note: is told that the embedding model is about to be loaded, when the first text comes.
        pools: hold the encoder and the models that else would be loaded into this process.

    Raises:
        UsageError: a package or a key is missing; it says which and what to do.
    """
    load_plugins(prepared.recipe.plugins)  # in a worker's process nobody has loaded them yet
    async with AsyncExitStack() as stack:
        providers = await stack.enter_async_context(
            providers_for(
                prepared.uses.values(),
                prepared.recipe.limits,
                {} if pools is None else {PooledProvider.name: PooledProvider(pools)},
            )
        )
        encoder: Encoder | None = None
        if embeds(prepared):
            embedding = prepared.recipe.embedding
            if pools is None:
                encoder = await stack.enter_async_context(
                    sentence_encoder(embedding.model, embedding.device, note)
                )
            else:
                encoder = PooledEncoder(pools[ENCODER], note, embedding.model)
            if embedding.model is not None or embedding.device != "auto":
                await encoder.encode(["Is it there?"])  # a wrong name shows before anything is made
        yield Connections(prepared, providers, encoder)


def embeds(prepared: Prepared) -> bool:
    """Return whether an arm of a run votes with an encoder."""
    return any(STRATEGIES.get(arm.strategy).embeds for arm in prepared.arms)
