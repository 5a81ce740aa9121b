"""What judging takes: found and checked, then open: providers of judges, and what embeds dialogues."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass

from hipo.app.judging.judges import Panels
from hipo.app.models.endpoints import providers_for
from pipeline.embeddings.embeddings import Note, installed_encoder, sentence_encoder
from pipeline.providers.protocol import Provider
from pipeline.recipes.recipe import Limits, Recipe
from pipeline.run_material import RunMaterial
from pipeline.voting import Encoder
from prompts.judges import JudgePrompts
from quality.gates.settings import GateSettings
from quality.verification.policy import Policy


@dataclass(frozen=True, slots=True)
class JudgingReady:
    """Everything verification takes, found and checked; nothing is connected or sent."""

    recipe: Recipe
    material: RunMaterial
    panels: Panels
    prompts: JudgePrompts
    policy: Policy
    gates: GateSettings


@dataclass(frozen=True, slots=True)
class JudgingTools:
    """Open providers, by address, and what dialogues are embedded with, if they are."""

    providers: Mapping[str, Provider]
    encoder: Encoder | None


Equipped = Callable[[JudgingReady, Limits, Note], AbstractAsyncContextManager[JudgingTools]]
"""Gives the tools of judges, as :func:`equipped` does."""


@asynccontextmanager
async def equipped(ready: JudgingReady, limits: Limits, note: Note) -> AsyncIterator[JudgingTools]:
    """Open what judges need within ``limits``, and close it afterwards; ``note`` is told of waits.

    Raises:
        UsageError: a package, a key or a batch API is missing.
    """
    async with (
        providers_for(ready.panels.uses, limits) as providers,
        comparing(ready, note) as encoder,
    ):
        yield JudgingTools(providers, encoder)


@asynccontextmanager
async def equipped_once() -> AsyncIterator[Equipped]:
    """Give :func:`equipped` to plans that are judged one after the other: all have the same tools."""
    made: list[JudgingTools] = []
    async with AsyncExitStack() as stack:

        @asynccontextmanager
        async def equip(
            ready: JudgingReady, limits: Limits, note: Note
        ) -> AsyncIterator[JudgingTools]:
            if not made:
                made.append(await stack.enter_async_context(equipped(ready, limits, note)))
            yield made[0]

        yield equip


@asynccontextmanager
async def comparing(ready: JudgingReady, note: Note) -> AsyncIterator[Encoder | None]:
    """Give what dialogues are embedded with, and close it unless the user leaves at once.

    None where nobody wants embeddings, or where the encoder's packages are not installed. Nothing
    is loaded before the first text is encoded; ``note`` is told then.
    """
    encoder = None
    if ready.gates.embeds and ready.recipe.verification.embeddings:
        named, device = ready.recipe.embedding.model, ready.recipe.embedding.device
        encoder = (
            installed_encoder(None, device, note, apart=True)
            if named is None
            else sentence_encoder(named, device, note, apart=True)
        )
    async with encoder or nullcontext():
        yield encoder
