"""Merge runs: what may be put together, in which order, and what is missing afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import orjson

from hipo.app.batching import left_notes
from hipo.app.preparation import plan_of
from hipo.app.run_folders import check_output, is_run
from outputs.recorded_exports import EXPORTS, RecordedExport, folder_seen_from, record_export
from pipeline.chunks import chunks
from pipeline.engine import CHUNK
from pipeline.plan import Plan
from pipeline.quota_record import recorded_quota
from pipeline.run_identity import differences, joined
from pipeline.run_material import RunMaterial, load_material
from pipeline.shard import Shard
from pipeline.stop import INTERRUPTED
from pipeline.store.locks import is_locked, refuse_network_disk
from pipeline.store.merging.merge import Merged, merge_databases
from pipeline.store.queries.aims import read_open
from pipeline.store.queries.status import ended
from pipeline.store.reading import open_snapshot
from pipeline.store.recipe_file import write_recipe
from pipeline.store.run_store import RunStore
from scenarios.atomic_files import new_folder
from scenarios.case import Case
from scenarios.errors import HipoError, UsageError
from scenarios.run_configuration import RunConfiguration, RunIdentity

Keep = Literal["first", "last"]


@dataclass(frozen=True, slots=True)
class MergedRun:
    """A run that was put together of others."""

    folder: Path
    runs: tuple[Path, ...]
    merged: Merged
    generated: int
    failed: int
    missing: int
    """Dialogues of the plan that none of the runs has."""
    missing_shards: tuple[str, ...]
    """Shards that none of the runs is of, as ``i/n``."""
    notes: tuple[str, ...]
    """What else the user has to know, a sentence each."""


@dataclass(frozen=True, slots=True)
class _Source:
    folder: Path
    material: RunMaterial
    identity: RunIdentity
    shards: frozenset[str]
    has_quota: bool
    """Whether its cases were drawn for the cells of a quota, so that no plan lists them."""


def merge_runs(runs: Sequence[Path], output: Path, keep: Keep = "first") -> MergedRun:
    """Put runs of one configuration together into a new one; they are only read.

    Every case is there once, in the order of the plan; calls, costs, labels, flags, verdicts,
    reviews and records of exports are those of all runs, each once. The new folder is made as a
    whole or not at all.

    Args:
        runs: their folders, at least one; merged runs, too.
        output: the new folder.
        keep: whose dialogue is kept where two runs have different ones of a case.

    Raises:
        UsageError: a run is not there, is being written, was written by another version of hipo, or
            has another configuration; or the folder is not fit.
    """
    folders = list({run.resolve(): run for run in runs}.values())
    for folder in folders:
        if is_locked(folder):
            raise UsageError(f"{folder} is being written by another process", "wait for it to end")
    sources = [_read(folder) for folder in folders]
    for other in sources[1:]:
        _refuse_different(sources[0], other)
    refuse_network_disk(output)
    plan = None if any(source.has_quota for source in sources) else _plan(sources[0])
    config = _configuration(sources, plan)
    ordered = folders if keep == "first" else folders[::-1]
    with new_folder(output, _check_new) as draft:
        ids = () if plan is None else (case.id for case in plan)
        merged = merge_databases(ordered, draft, output.resolve().name, config, ids)
        for folder in folders:
            if is_locked(folder):
                raise UsageError(f"{folder} was written to meanwhile", "merge once it has ended")
        missing = _finish(draft, config, plan)
        _copy_exports(folders, draft, output)
    with RunStore.open(output, readonly=True) as store:
        state = store.state()
    return MergedRun(
        output, tuple(folders), merged, state.generated, sum(state.failed.values()), missing,
        _missing_shards(sources) if missing else (), (*merged.notes, *left_notes(state.batches)),
    )  # fmt: skip


def _check_new(output: Path) -> None:
    if is_run(output):
        raise UsageError(f"{output} holds a run already", "choose a new folder with -o")
    check_output(output)


def _read(folder: Path) -> _Source:
    """Read what a run was made with.

    Raises:
        UsageError: there is no run of this version of hipo, or it does not say what it is made of.
    """
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
        has_quota = recorded_quota(store) is not None
    identities = [c.identity for c in material.configs if c.identity is not None]
    if not identities:
        raise UsageError(
            f"{folder} does not say what decides its dialogues",
            "only runs that hipo generate or hipo import made can be merged",
        )
    shards = {str(config.recipe.get("shard") or "") for config in material.configs}
    return _Source(folder, material, joined(identities), frozenset(shards - {""}), has_quota)


def _refuse_different(first: _Source, other: _Source) -> None:
    """Refuse to merge runs whose dialogues are made in different ways; which cases is no matter."""
    changes = differences(first.identity, other.identity)
    changes = changes or differences(other.identity, first.identity)
    if changes:
        listed = "\n".join(f"  {change}" for change in changes)
        raise UsageError(
            f"{first.folder} and {other.folder} are of different configurations:\n{listed}",
            "merge runs of one recipe; compare others with: hipo report, or hipo export of both",
        )


def _plan(source: _Source) -> Plan | None:
    """Return the whole plan of a run; None where it cannot be made here (any more)."""
    with suppress(HipoError):
        recipe = source.material.recipe.with_changes({"shard": None})
        return plan_of(recipe, source.material)
    return None


def _configuration(sources: Sequence[_Source], plan: Plan | None) -> RunConfiguration:
    """Return what the new run goes on with: the recipe of the first, of all shards."""
    newest = sources[0].material.configs[-1]
    identity = joined([source.identity for source in reversed(sources)])
    recipe = {**newest.recipe, **({"shard": None} if "shard" in newest.recipe else {})}
    cases = newest.cases if plan is None else len(plan)
    return replace(newest, recipe=recipe, identity=identity, cases=cases)


def _finish(draft: Path, config: RunConfiguration, plan: Plan | None) -> int:
    """Say where the new run stands, and return how many dialogues of its cases are missing.

    Opening it charges requests that were in flight when the process of a source died.
    """
    write_recipe(draft, config.recipe)
    with RunStore.open(draft) as store:
        arms = [] if config.identity is None else list(config.identity.arms)
        if plan is None:
            with open_snapshot(draft) as connection:
                listed: Iterable[Case] = read_open(connection, arms)
        else:
            listed = plan
        missing = 0
        for chunk in chunks(listed, CHUNK):
            missing += sum(len(store.pending(chunk, arm)) for arm in arms)
        state = store.state()
        failed = bool(sum(state.failed.values()))
        name = f"stopped:{INTERRUPTED}" if missing else ended(failures=failed)
        store.set_state(name, planned=state.settled + missing)
    return missing


def _missing_shards(sources: Sequence[_Source]) -> tuple[str, ...]:
    """Return the shards of each division of the plan that no run is of."""
    there = {Shard.parse(text) for source in sources for text in source.shards}
    return tuple(
        str(shard)
        for of in sorted({shard.of for shard in there})
        for shard in (Shard(index, of) for index in range(1, of + 1))
        if shard not in there
    )


def _copy_exports(folders: Sequence[Path], draft: Path, output: Path) -> None:
    """Take over the records of exports, seen from where the new run will lie."""
    lines = {line for folder in folders for line in _exports(folder, output)}
    for export in sorted(lines):
        record_export(draft, RecordedExport.from_plain(orjson.loads(export[1])))


def _exports(folder: Path, output: Path) -> Iterator[tuple[float, bytes]]:
    path = folder / EXPORTS
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            export = RecordedExport.from_plain(orjson.loads(line))
            seen = folder_seen_from(output, export.place(folder))
            yield export.at, orjson.dumps(replace(export, folder=seen).plain())
