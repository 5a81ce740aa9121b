"""The quota of a run as it is stored in the run, so that whoever reads it can count by its cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

from pipeline.aims import CellKey
from pipeline.quotas.quota import Quota
from pipeline.store.materials import MaterialItem
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, parsing
from scenarios.fingerprint import fingerprint


@dataclass(frozen=True, slots=True)
class RecordedQuota:
    """A quota, and the cells of it that no case could be drawn for."""

    quota: Quota
    out_of_reach: Mapping[CellKey, str]
    """Why, in words."""

    @property
    def item(self) -> MaterialItem:
        """It as a piece of the material of a run."""
        reasons = [[list(map(list, key)), why] for key, why in self.out_of_reach.items()]
        content = {"quota": self.quota.fields(), "out_of_reach": reasons}
        return MaterialItem("quota", "", fingerprint(content), orjson.dumps(content).decode())


def record_quota(store: RunStore, recorded: RecordedQuota) -> None:
    """Store the quota that a run goes on with; durable on return."""
    item = recorded.item
    if read_quota_of(store.materials()) != item:
        store.complete_materials([item], complete=False)  # makes one that was there the newest


def read_quota_of(items: Iterable[MaterialItem]) -> MaterialItem | None:
    """Return the newest quota among pieces of material; None: there was none."""
    return next((item for item in reversed(list(items)) if item.kind == "quota"), None)


def recorded_quota(store: RunStore) -> RecordedQuota | None:
    """Return the quota that a run was last played with; None: with none.

    Raises:
        StoreUnusable: it is not what hipo stores.
    """
    item = read_quota_of(store.materials())
    if item is None:
        return None
    with parsing(store.folder / DATABASE, "the stored quota"):
        content = orjson.loads(item.content)
        reasons = {
            tuple((str(name), str(label)) for name, label in key): str(why)
            for key, why in content["out_of_reach"]
        }
        return RecordedQuota(Quota.from_fields(content["quota"]), reasons)
