"""Merge runs: what may be put together, in which order, and what is missing afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from hipo.app.models.batching import left_notes
from hipo.app.preparation.prepared import plan_of
from hipo.app.runs.folders import check_output, is_run
from hipo.app.runs.merged_reviews import review_notes, settle_reviews
from outputs.export.recorded import EXPORTS, RecordedExport, folder_seen_from, record_export
from pipeline.chunks import chunks
from pipeline.planning.plan import Plan
from pipeline.planning.shard import Shard
from pipeline.playing.engine import CHUNK
from pipeline.quotas.record import read_quota_of
from pipeline.run_identity import differences, joined
from pipeline.run_material import RunMaterial, load_material
from pipeline.stopping.stop import INTERRUPTED
from pipeline.store.locks import is_locked, refuse_network_disk
from pipeline.store.materials import MaterialItem
from pipeline.store.merging.merge import Merged, merge_databases
from pipeline.store.queries.aims import read_open
from pipeline.store.queries.status import ended
from pipeline.store.reading import open_snapshot
from pipeline.store.recipe_file import write_recipe
from pipeline.store.run_store import RunStore
from scenarios.arms import IMPORTED
from scenarios.atomic_files import new_folder
from scenarios.case import Case
from scenarios.errors import HipoError, UsageError
from scenarios.run_configuration import RunConfiguration, RunIdentity
from scenarios.text_file import real_path

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
    """Dialogues of the plan, and of cases that were drawn for a quota, that none of the runs has."""
    begun: int
    """Those of ``missing`` that are of cases drawn for a quota."""
    missing_shards: tuple[str, ...]
    """Shards that none of the runs is of, as ``i/n``."""
    notes: tuple[str, ...]
    """What else the user has to know, a sentence each."""


@dataclass(frozen=True, slots=True)
class _MergeSource:
    folder: Path
    material: RunMaterial
    identity: RunIdentity
    shards: frozenset[str]
    quota: MaterialItem | None
    """What it was last played towards; None: it is of a plan alone."""

    @property
    def planned(self) -> RunConfiguration | None:
        """The newest configuration that plays a plan; None: cases were imported, or of a quota."""
        if self.identity.tactics == IMPORTED:
            return None
        configs = self.material.configs
        if self.quota is None:
            return configs[-1]
        if all(config.cases for config in configs):
            return None  # made by older code, which did not say which of them were of a quota
        return next((config for config in reversed(configs) if config.cases), None)


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
    folders = list({real_path(run): run for run in runs}.values())
    for folder in folders:
        if is_locked(folder):
            raise UsageError(f"{folder} is being written by another process", "wait for it to end")
    sources = [_read(folder) for folder in folders]
    for other in sources[1:]:
        _refuse_different(sources[0], other)
    refuse_network_disk(output)
    plan = _plan(sources)
    config = _configuration(sources, plan)
    ordered = folders if keep == "first" else folders[::-1]
    with new_folder(output, _check_new) as draft:
        ids = () if plan is None else (case.id for case in plan)
        merged = merge_databases(ordered, draft, real_path(output).name, config, ids)
        for folder in folders:
            if is_locked(folder):
                raise UsageError(f"{folder} was written to meanwhile", "merge once it has ended")
        missing, begun, outside = _finish(draft, config, plan)
        settle_reviews(draft, merged)
        _copy_exports(folders, draft, output)
    with RunStore.open(output, readonly=True) as store:
        state = store.state()
        kept = read_quota_of(store.materials())
    is_whole = not missing and plan is not None and kept is None
    shards = () if is_whole else _shards(sources)
    return MergedRun(
        output, tuple(folders), merged, state.generated, sum(state.failed.values()), missing, begun,
        _missing_shards(shards),
        (*_mixture_notes(shards), *merged.notes, *_outside_notes(outside, folders[0]), *review_notes(merged), *_quota_notes(sources, kept), *left_notes(state.batches)),
    )  # fmt: skip


def _check_new(output: Path) -> None:
    if is_run(output):
        raise UsageError(f"{output} holds a run already", "choose a new folder with -o")
    check_output(output)


def _read(folder: Path) -> _MergeSource:
    """Read what a run was made with.

    Raises:
        UsageError: there is no run of this version of hipo, or it does not say what it is made of.
    """
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
        quota = read_quota_of(store.materials())
    identities = [c.identity for c in material.configs if c.identity is not None]
    if not identities:
        raise UsageError(
            f"{folder} does not say what decides its dialogues",
            "only runs that hipo generate or hipo import made can be merged",
        )
    shards = {str(config.recipe.get("shard") or "") for config in material.configs}
    return _MergeSource(folder, material, joined(identities), frozenset(shards - {""}), quota)


def _refuse_different(first: _MergeSource, other: _MergeSource) -> None:
    """Refuse to merge runs whose dialogues are made in different ways; which cases is no matter."""
    changes = differences(first.identity, other.identity)
    changes = changes or differences(other.identity, first.identity)
    if changes:
        listed = "\n".join(f"  {change}" for change in changes)
        raise UsageError(
            f"{first.folder} and {other.folder} are of different configurations:\n{listed}",
            "merge runs of one recipe; hipo export takes several others into one set, and hipo view"
            " shows them side by side",
        )


def _plan(sources: Sequence[_MergeSource]) -> Plan | None:
    """Return the largest plan that the runs are parts of.

    None where there is none, as all cases were imported or drawn for quotas, or it cannot be made
    here (any more).
    """
    planned = [(source, source.planned) for source in sources]
    configs = [(source, config) for source, config in planned if config is not None]
    if not configs:
        return None
    source, config = configs[0]
    with suppress(HipoError):
        material = replace(source.material, configs=(config,))
        plan = plan_of(material.recipe.with_changes({"shard": None}), material)
        sizes = {(c.recipe.get("n"), c.recipe.get("repetitions") or 1) for _, c in configs}
        plans = [replace(plan, n=n, repetitions=times) for n, times in sizes]
        return max(plans, key=lambda one: one.total)
    return None


def _configuration(sources: Sequence[_MergeSource], plan: Plan | None) -> RunConfiguration:
    """Return what the new run goes on with: the recipe of the first, of all shards and cases."""
    newest = sources[0].material.configs[-1]
    identity = joined([source.identity for source in reversed(sources)])
    whole: dict[str, Any] = {"shard": None}
    if plan is not None:
        whole |= {"n": plan.n, "repetitions": plan.repetitions}
    recipe = {key: whole.get(key, value) for key, value in newest.recipe.items()}
    cases = newest.cases if plan is None else len(plan)
    return replace(newest, recipe=recipe, identity=identity, cases=cases)


def _finish(draft: Path, config: RunConfiguration, plan: Plan | None) -> tuple[int, int, int]:
    """Say where the new run stands, and return how many dialogues are missing.

    Opening it charges requests that were in flight when the process of a source died.

    Returns:
        All of them, those of cases that were drawn for a quota, and how many dialogues are there that
        are neither of the plan nor of a quota.
    """
    write_recipe(draft, config.recipe)
    with RunStore.open(draft) as store:
        arms = [] if config.identity is None else list(config.identity.arms)
        with open_snapshot(draft) as connection:
            drawn = read_open(connection, arms)
        begun = _pending(store, arms, drawn)
        of_plan = _pending(store, arms, () if plan is None else plan)
        missing = begun + of_plan
        state = store.state()
        is_planned = plan is not None and read_quota_of(store.materials()) is None
        there = len(plan) * len(arms) - of_plan if plan is not None else 0
        outside = max(0, state.settled - there) if is_planned else 0
        failed = bool(sum(state.failed.values()))
        name = f"stopped:{INTERRUPTED}" if missing else ended(failures=failed)
        store.set_state(name, planned=state.settled + missing)
    return missing, begun, outside


def _pending(store: RunStore, arms: Sequence[str], cases: Iterable[Case]) -> int:
    """Return how many dialogues of these cases are still to be played."""
    return sum(len(store.pending(chunk, arm)) for chunk in chunks(cases, CHUNK) for arm in arms)


def _quota_notes(sources: Sequence[_MergeSource], kept: MaterialItem | None) -> Iterator[str]:
    """Say which quota the new run has where the runs had different ones."""
    quotas = [(source.folder, source.quota) for source in sources if source.quota is not None]
    others = [str(folder) for folder, quota in quotas if quota != kept]
    if kept is not None and others:
        same = next((folder for folder, quota in quotas if quota == kept), None)
        yield (
            f"the quota of {same} is kept, {', '.join(others)} had another one: "
            "hipo generate --quota FILE takes any, and counts by it"
        )


def _outside_notes(dialogues: int, first: Path) -> Iterator[str]:
    """Say how many dialogues are not of the plan that the new run goes on with."""
    if dialogues:
        are = "dialogue is" if dialogues == 1 else "dialogues are"
        yield (
            f"{dialogues:,} {are} of cases outside the plan of {first}, which the new run goes on with: a"
            " run was played with another -n, or with other scenarios, goals, turns or axes"
        )


def _shards(sources: Sequence[_MergeSource]) -> tuple[Shard, ...]:
    """Return the shards that the runs are of, those of one division of the plan beside each other."""
    there = {Shard.parse(text) for source in sources for text in source.shards}
    return tuple(sorted(there, key=lambda shard: (shard.of, shard.index)))


def _missing_shards(there: Sequence[Shard]) -> tuple[str, ...]:
    """Return the shards of each division of the plan that no run is of."""
    return tuple(
        str(shard)
        for of in dict.fromkeys(shard.of for shard in there)
        for shard in (Shard(index, of) for index in range(1, of + 1))
        if shard not in there
    )


def _mixture_notes(there: Sequence[Shard]) -> Iterator[str]:
    """Say where the runs are shards of several divisions of the plan."""
    if len({shard.of for shard in there}) > 1:
        yield (
            f"the runs divide the plan in different ways (shards {', '.join(map(str, there))}): a case may"
            " be in several of them, and for what is missing the shards of one division are enough"
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
