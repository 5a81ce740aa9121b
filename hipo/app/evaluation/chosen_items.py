"""Ask about some items alone: those that a file names, or that people answered in a quiz."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson

from hipo.app.evaluation.people import quiz_answers
from hipo.app.runs.folders import RUNS, find_run, is_run
from quality.evaluation.item import EvaluationItem
from quality.evaluation.item_set import ItemSet
from scenarios.errors import InputError, Problem, UsageError
from scenarios.json_lines import numbered_lines

_HINT = "give one id in a line, or a file of results"


def chosen_items(items: ItemSet, wish: str) -> ItemSet:
    """Keep the items that were asked about before, so that two results stand on the same ones.

    Args:
        items: of a set or a run.
        wish: a run or ``RUN:STUDY``, for the dialogues of its quiz; or a file with an item's id in
            each line, alone or as ``item`` or ``id`` of a JSON object, such as ``results.jsonl``.

    Raises:
        UsageError: there is no such file or quiz, or the set lacks an item that the file names.
        InputError: a line names no item.
    """
    if Path(wish).is_file():
        return _named(items, Path(wish))
    name, _, study = wish.partition(":") if not _is_run(wish) else (wish, "", "")
    if not _is_run(name):
        raise UsageError(
            f"--items {wish}: there is neither a file nor a run of this name",
            "give a file with one id in a line, or the run of a quiz (RUN or RUN:STUDY)",
        )
    dialogues = set(quiz_answers(find_run(name), study or None).dialogues)
    kept = tuple(item for item in items.items if f"{item.case}/{item.arm}" in dialogues)
    if not kept:
        raise UsageError(
            f"{items.name} holds no dialogue of the quiz of {name}",
            "evaluate the run of the quiz itself (--any: every dialogue), or a set made of it",
        )
    return replace(items, items=kept)


def _is_run(name: str) -> bool:
    return is_run(Path(name)) or is_run(RUNS / name)


def _named(items: ItemSet, file: Path) -> ItemSet:
    wanted = set(_ids(file))
    kept: tuple[EvaluationItem, ...] = tuple(item for item in items.items if item.id in wanted)
    missing = sorted(wanted - {item.id for item in kept})
    if missing:
        raise UsageError(
            f"{file}: {len(missing)} of its {len(wanted)} items are not in {items.name}; the first"
            f" is {missing[0]}",
            "give the set or the run that the items are of",
        )
    if not kept:
        raise UsageError(f"{file} names no item", "give a file with one id in a line")
    return replace(items, items=kept)


def _ids(file: Path) -> Iterator[str]:
    for number, line in numbered_lines(file, _HINT):
        text = line.strip()
        if not text.startswith(b"{"):
            yield text.decode("utf-8", "replace")
            continue
        try:
            row = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _no_item(file, number, f"a line that is no JSON ({error})") from error
        name = row.get("item", row.get("id"))
        if not isinstance(name, str):
            raise _no_item(file, number, "an object without item or id")
        yield name


def _no_item(file: Path, number: int, found: str) -> InputError:
    return InputError([Problem(str(file), number, "", found, "the id of an item", _HINT)])
