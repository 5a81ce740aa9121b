"""Find what an evaluation is of: the gold lines, a run, or an exported set."""

from __future__ import annotations

from pathlib import Path

from hipo.app.runs.folders import RUNS, find_run, is_evaluation, names_run
from outputs.evaluation_items.gold import NAME as GOLD
from outputs.evaluation_items.gold import load_gold
from outputs.evaluation_items.runs import load_run
from outputs.evaluation_items.sets import load_set
from quality.evaluation.item_set import ItemSet
from scenarios.errors import UsageError


def load_items(source: str, *, scheme: str | None = None, any_verdict: bool = False) -> ItemSet:
    """Return the items of a set, of a run, or the gold lines.

    Args:
        source: ``gold`` (also beside an evaluation of that name); the folder of a run or its name
            under ``./runs``; or the folder or a file of an exported set.
        scheme: of the labels of a set, where its manifest does not name one that ships.
        any_verdict: of a run, every dialogue instead of the accepted ones.

    Raises:
        UsageError: there is no such thing, or it holds nothing to ask about.
        InputError: a row of a set is none.
    """
    path = Path(source)
    if source == GOLD and (is_evaluation(path) or not path.exists()):
        if scheme is not None or any_verdict:
            raise UsageError(
                "the gold lines have one scheme, and nobody decides on them",
                "leave --scheme and --any out",
            )
        return load_gold()
    if names_run(source):
        if scheme is not None:
            raise UsageError(f"{source} is a run and has its own scheme", "leave --scheme out")
        return load_run(find_run(source), verdict="any" if any_verdict else "accepted")
    if is_evaluation(path):
        raise UsageError(
            f"{path} holds an evaluation, not items", "give the set or the run that it was of"
        )
    if not path.exists():
        raise UsageError(
            f"there is no {source!r}: neither a set nor a run, here or under ./{RUNS}",
            "give the folder of an export or of a run, or: gold",
        )
    if any_verdict:
        raise UsageError(f"{source} is a set, and --any is for runs", "leave it out")
    return load_set(path, scheme=scheme)
