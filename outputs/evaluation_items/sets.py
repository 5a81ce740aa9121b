"""The items of an exported set on disk: benchmark or swap, JSON lines or Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from outputs.contamination.comparable import Row
from outputs.dataset.columns import label_column
from outputs.dataset.manifest import MANIFEST
from outputs.dataset.reader import data_files, folders_of, row_set
from outputs.dataset.scheme_file import SCHEME, read_scheme
from outputs.evaluation_items.intention_rows import intention_item, is_intention_question
from outputs.evaluation_items.rows import benchmark_item, is_benchmark, is_swap, swap_item
from outputs.kinds.split_shares import SPLITS
from outputs.selecting.people_labels import labelled_dimensions
from quality.evaluation.item import EvaluationItem
from quality.evaluation.item_set import ItemSet
from quality.persuasion.spoken_dialogues import INTENTION
from scenarios.errors import InputError, Problem, UsageError
from scenarios.located import Located
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme, versions_of

NOBODY_JUDGED = (
    "{name} holds no label that its judges agree on, so that no score is against what is agreed:"
    " verify the run with --judge provider/name"
)


def load_set(path: Path, *, scheme: str | None = None) -> ItemSet:
    """Read the items of an exported set.

    Args:
        path: the folder of an export, or one of its files.
        scheme: id or file of the scheme of its labels; None: what its manifest names, of those that
            ship, or what lies beside it.

    Raises:
        UsageError: there is no such set, it is of another kind, or its scheme is not known.
        InputError: a row is none of such a set.
    """
    folder, manifest = _manifest(path)
    used = _scheme(path, folder, manifest, scheme)
    items = tuple(_items(path, used))
    if not items:
        raise UsageError(
            f"{path}: holds no item that can be scored",
            "of swap items those are scored whose line is of known claims (status: scored)",
        )
    _refuse_twice(path, items)
    kind = "swap" if items[0].kind == "swap" else "benchmark"
    notes = _of_splits(path, items)
    if kind == "benchmark" and not any("agreed" in item.references for item in items):
        notes.append(NOBODY_JUDGED.format(name=path) + ", and export it anew")
    return ItemSet(
        name=path.resolve().name,
        kind="swap" if kind == "swap" else "benchmark",
        scheme=used,
        items=items,
        judges=_texts(manifest.get("judges")),
        openings=_counts(manifest.get("openings")),
        notes=tuple(notes),
    )


def _of_splits(path: Path, items: Sequence[EvaluationItem]) -> list[str]:
    """Say of a set that is divided that its part for training is asked, too."""
    splits = Counter(item.split for item in items)
    if "train" not in splits or len(splits) < 2:
        return []
    parts = ", ".join(f"{name} {splits[name]:,}" for name in SPLITS if name in splits)
    told = (
        f"{path} is divided ({parts}), and items of every split are asked: a model that was tuned on"
        " the same runs has seen the scenarios of train; name the file of the split test alone"
    )
    return [told]


def _items(path: Path, scheme: Scheme) -> Iterator[EvaluationItem]:
    first = True
    for file in data_files(path):
        split = next((name for name in SPLITS if file.name.startswith(name)), "")
        for number, row in enumerate(row_set(file).rows(), 1):
            if first:
                _check_columns(path, row, scheme)
                first = False
            located = Located(row, str(file), {(): number})
            if is_swap(row):
                item = swap_item(located, scheme, split=split)
            elif is_benchmark(row):
                item = benchmark_item(located, scheme, split=split)
            elif is_intention_question(row):
                item = intention_item(located, scheme, split=split)
            else:
                raise InputError([_no_item(str(file), number)])
            if item is not None:
                yield item


def _no_item(file: str, number: int) -> Problem:
    return Problem(
        file, number, "", "no item of a benchmark or swap set", "what hipo export writes",
        "give a set of hipo export --to benchmark, swap or intention-mcq",
    )  # fmt: skip


def _check_columns(path: Path, row: Row, scheme: Scheme) -> None:
    """Refuse a set whose first row has labels of other dimensions than the scheme."""
    if is_swap(row):
        dimension = next(ruled_out_by_truth(scheme), ("", ""))[0]
        expected = {label_column(dimension)}
    elif is_benchmark(row):
        expected = {label_column(d.id) for d in labelled_dimensions(scheme)}
    elif is_intention_question(row):
        expected = {label_column(INTENTION)}
        if INTENTION not in {dimension.id for dimension in scheme.dimensions}:
            raise UsageError(
                f"{path}: asks about intentions, and the scheme {scheme.name} has none",
                "name the scheme of its labels with --scheme",
            )
    else:
        raise UsageError(
            f"{path}: holds items of neither a benchmark nor a swap set",
            "give a set of hipo export --to benchmark, swap or intention-mcq; or a run",
        )
    there = {name for name in row if name.startswith(label_column(""))}
    if there != expected:
        names = ", ".join(sorted(there)) or "no label"
        raise UsageError(
            f"{path}: has {names}, and the scheme {scheme.name} has {', '.join(sorted(expected))}",
            "the set has labels of another scheme: name it with --scheme",
        )


def _refuse_twice(path: Path, items: tuple[EvaluationItem, ...]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise UsageError(
                f"{path}: the item {item.id} stands there twice",
                "give one file or one export; formats of one export hold the same rows",
            )
        seen.add(item.id)


def _manifest(path: Path) -> tuple[Path, Mapping[str, Any]]:
    """Return the folder of the export that a file or folder belongs to, and its manifest.

    Where there is no manifest it is empty, and the folder is the one that is looked in first.
    """
    folders = folders_of(path)
    for folder in folders:
        file = folder / MANIFEST
        if file.is_file():
            try:
                found = orjson.loads(file.read_bytes())
            except (OSError, orjson.JSONDecodeError) as error:
                raise UsageError(
                    f"{file} cannot be read: {error}", "export the set anew"
                ) from error
            if not isinstance(found, dict):
                raise UsageError(f"{file} is no manifest of an export", "export the set anew")
            return folder, found
    return folders[0], {}


def _scheme(path: Path, folder: Path, manifest: Mapping[str, Any], name: str | None) -> Scheme:
    """Return the scheme of a set's labels: the one that is named, one that ships, or its own."""
    named = manifest.get("scheme")
    if name is not None:
        return _same(path, named, load_scheme(name), name)
    if not isinstance(named, dict):
        return load_scheme("hipo")
    versions = versions_of(str(named.get("id")))
    shipped = next((s for s in versions if s.fingerprint == named.get("fingerprint")), None)
    if shipped is not None:
        return shipped
    own = read_scheme(folder)
    if own is None:
        called = _called(named)
        changed = called in {scheme.name for scheme in versions}
        which = "which has changed since" if changed else "which is none of those that ship"
        raise UsageError(
            f"{path} has labels of the scheme {called}, {which}",
            "export the set anew from its run, or give the file of the scheme with --scheme",
        )
    return _same(path, named, own, str(folder / SCHEME))


def _same(path: Path, named: object, scheme: Scheme, name: str) -> Scheme:
    """Return a scheme, unless the manifest of the set names another one."""
    if isinstance(named, dict) and named.get("fingerprint") != scheme.fingerprint:
        same = ", with other labels or definitions" if _called(named) == scheme.name else ""
        raise UsageError(
            f"{path} has labels of the scheme {_called(named)}, and {name} is {scheme.name}{same}",
            "give the file of the scheme that the set was made with, or export the set anew",
        )
    return scheme


def _called(named: Mapping[str, Any]) -> str:
    return f"{named.get('id')}@{named.get('version')}"


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _counts(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {str(name): n for name, n in value.items() if isinstance(n, int) and name}
