"""Models behind one address share its connections, of which there are enough for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from hipo.app.models import endpoints as endpoint_pool
from hipo.app.models.endpoints import EndpointPool, local_run, providers_for
from hipo.app.models.resolution import ModelUse
from pipeline.endpoints.endpoint import Sender
from pipeline.recipes.recipe import Limits
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop
from pipeline.store.run_store import RunStore
from scenarios.arms import ModelSpec
from scenarios.run_configuration import RunConfiguration


@dataclass
class Counted:
    size: int
    name: str = "compatible"
    base_url: str | None = None
    closed: bool = False

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Counted]:
    made: list[Counted] = []

    def build(_name: object, **options: object) -> Counted:
        made.append(Counted(int(str(options["max_concurrency"]))))
        return made[-1]

    monkeypatch.setattr(endpoint_pool, "build_provider", build)
    return made


def use(model: str, url: str, key: str | None = None) -> ModelUse:
    return ModelUse(ModelSpec("compatible", model, base_url=url), key, None)


@pytest.mark.anyio
async def test_an_address_has_connections_for_all_its_models(built: list[Counted]) -> None:
    one, other = "http://one/v1", "http://other/v1"
    uses = [use("a", one), use("b", one), use("a", one), use("a", other), use("a", one, "KEY")]
    async with providers_for(uses, Limits(max_concurrency=8)) as providers:
        assert len(providers) == 3
        assert [provider.size for provider in built] == [16, 8, 8]
        assert not any(provider.closed for provider in built)
    assert all(provider.closed for provider in built)


@pytest.mark.anyio
async def test_one_endpoint_serves_whoever_asks_alike(built: list[Counted], tmp_path: Path) -> None:
    limits = Limits(max_concurrency=8)
    same, other = use("a", "http://one/v1"), use("b", "http://one/v1")
    async with providers_for([same, other], limits) as providers:
        with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
            link = local_run(limits, store.calls, Ledger(), Stop())
        pool = EndpointPool(limits, providers, link, print)
        assert pool.endpoint(same) is pool.endpoint(use("a", "http://one/v1"))
        assert pool.endpoint(same) is not pool.endpoint(other)


@dataclass
class Sends:
    takes_permit: bool


@pytest.mark.anyio
async def test_models_are_asked_together_where_what_one_is_asked_waits_for_a_batch(
    built: list[Counted], tmp_path: Path
) -> None:
    here, away = use("a", "http://here/v1"), use("b", "http://away/v1")
    async with providers_for([here, away], Limits()) as providers:
        with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
            link = local_run(Limits(), store.calls, Ledger(), Stop())
        senders = iter([Sends(takes_permit=True), Sends(takes_permit=False)])
        pool = EndpointPool(
            Limits(batch=True),
            providers,
            link,
            print,
            sender=lambda *_: cast("Sender", next(senders)),
        )
        assert not pool.client("", {"judge": here}).gathers
        assert (
            not pool.gathers
        )  # as when all judges are in this process, though the recipe has batches
        assert pool.client("", {"judge": here, "other": away}).gathers
        assert pool.gathers
