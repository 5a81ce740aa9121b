"""What embeds dialogues is closed however verification ends, so that nothing is left of it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from hipo.app.judging import tools as judging_tools
from pipeline.embeddings.embeddings import BatchingEncoder
from pipeline.recipes.recipe import Recipe
from scenarios.errors import UsageError

READY = SimpleNamespace(gates=SimpleNamespace(embeds=True), recipe=Recipe())


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> BatchingEncoder:
    made = BatchingEncoder(lambda: lambda texts: np.ones((len(texts), 1), np.float32))
    monkeypatch.setattr(judging_tools, "installed_encoder", lambda *_, **__: made)
    return made


@pytest.mark.anyio
@pytest.mark.parametrize("error", [None, UsageError("the key is refused")])
async def test_the_encoder_is_closed_whether_verification_works_or_not(
    encoder: BatchingEncoder, error: UsageError | None
) -> None:
    async def verify() -> None:
        async with judging_tools.comparing(READY, lambda _: None):  # type: ignore[arg-type]
            await encoder.encode(["Is it there?"])
            if error is not None:
                raise error

    assert (await asyncio.gather(verify(), return_exceptions=True)) == [error]
    with pytest.raises(RuntimeError, match="is closed"):
        await encoder.encode(["And now?"])


@pytest.mark.anyio
async def test_whoever_leaves_at_once_does_not_wait_for_it(encoder: BatchingEncoder) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with judging_tools.comparing(READY, lambda _: None):  # type: ignore[arg-type]
            raise asyncio.CancelledError
    assert len(await encoder.encode(["Is it there?"])) == 1
    await encoder.close()
