"""What decides the answers of an evaluation, and whether a folder may be gone on with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hipo.app.evaluation.plan import ReadyEvaluation, history_in_words
from hipo.app.options.values import Resume, check_named
from hipo.app.runs.folders import check_empty, is_run
from pipeline.store.evaluation_store import EvaluationStore, Identity
from pipeline.store.sqlite import EVALUATION
from scenarios.errors import UsageError
from scenarios.located import shortened

EVALUATION_VERSION: Final = 1
"""Raised whenever the code would ask models otherwise for the same identity."""


def identity_of(ready: ReadyEvaluation) -> dict[str, Any]:
    """Return what decides the answers, as plain data.

    Limits, budget and prices are no part of it, nor is how often items are asked about.
    """
    items, plan, drawn = ready.items, ready.plan, ready.drawn
    return {
        "version": EVALUATION_VERSION,
        "set": {
            "fingerprint": items.fingerprint,
            "name": items.name,
            "kind": items.kind,
            "items": len(items.items),
            "scheme": items.scheme.name,
        },
        "drawn": None
        if drawn is None
        else {"n": drawn.n, "dimension": drawn.dimension, "seed": drawn.seed},
        "seed": plan.seed,
        "tasks": {
            task.name: {
                "id": task.prompts.task.id,
                "mode": task.prompts.mode,
                "fingerprint": task.prompts.fingerprint,
                "title": task.prompts.task.title,
                "dimensions": [dimension.id for dimension in task.prompts.dimensions],
                "subject": task.prompts.task.subject,
                "history": history_in_words(task.prompts.task),
                "draws": task.prompts.draws,
                "items": len(task.items),
                "shares": {} if drawn is None else dict(drawn.by_task[task.prompts.task.id]),
            }
            for task in plan.tasks
        },
        "models": {name: dict(fields) for name, fields in plan.models.items()},
    }


def joined_identity(before: Identity | None, now: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity with the tasks and models that were asked before, if the set is the same."""
    if before is None or before.get("set", {}).get("fingerprint") != now["set"]["fingerprint"]:
        return dict(now)
    return {
        **now,
        "tasks": {**before.get("tasks", {}), **now["tasks"]},
        "models": {**before.get("models", {}), **now["models"]},
    }


def identity_differences(before: Identity, now: Mapping[str, Any]) -> Iterator[str]:
    """Yield what would make other answers than before, one ``field: old -> new`` each.

    Tasks and models that only one of them has are no difference: they stand side by side. Nor are
    more items: a larger draw holds the smaller one.
    """
    old, new = before.get("set", {}), now["set"]
    if old.get("scheme") != new["scheme"]:
        yield _change("scheme", old.get("scheme"), new["scheme"])
    if old.get("fingerprint") != new["fingerprint"]:
        yield _change("items", _called(old), _called(new))
    for name in ("version", "seed"):
        if before.get(name) != now[name]:
            yield _change(name, before.get(name), now[name])
    if not _holds_all(now["drawn"], before.get("drawn")):
        yield _change("-n, --balance", before.get("drawn"), now["drawn"])
    for name, task in now["tasks"].items():
        known = before.get("tasks", {}).get(name)
        if known is not None and known.get("fingerprint") != task["fingerprint"]:
            yield f"task {name}: its prompts, options or examples have changed"
    for name, fields in now["models"].items():
        known = before.get("models", {}).get(name)
        for field in fields if known is not None else ():
            if known.get(field) != fields[field]:
                yield _change(f"{field} of {name}", known.get(field), fields[field])


def check_folder(folder: Path, ready: ReadyEvaluation, resume: Resume) -> Identity | None:
    """Return what was asked before in the folder of an evaluation; None: there is none yet.

    Nothing is made.

    Raises:
        UsageError: the folder holds something else, or an evaluation that ``resume`` does not let
            us continue.
    """
    check_named("resume", resume, Resume)
    if is_run(folder):
        raise UsageError(f"{folder} holds a run", "choose another folder with -o, e.g. one in it")
    if not (folder / EVALUATION).exists():
        check_empty(folder, "an evaluation", EVALUATION)
        return None
    if not EvaluationStore.exists(folder):
        return None
    if resume == "never":
        raise UsageError(
            f"{folder} holds an evaluation already",
            "choose another folder with -o, or continue it with --resume if-possible",
        )
    with EvaluationStore.open(folder) as store:
        before = store.identity
    if before is None or resume == "always":
        return before
    changes = list(identity_differences(before, identity_of(ready)))
    if changes:
        listed = "\n".join(f"  {change}" for change in changes)
        raise UsageError(
            f"{folder} holds another evaluation:\n{listed}",
            "choose another folder with -o, undo the change, or go on regardless with --resume"
            " always (what differs is asked anew, and the change is recorded)",
        )
    return before


def _holds_all(drawn: Mapping[str, Any] | None, before: Mapping[str, Any] | None) -> bool:
    """Return whether every item that was drawn before is drawn now, too; None: all items are."""
    if drawn is None or before is None:
        return drawn is None
    return {**before, "n": drawn["n"]} == drawn and drawn["n"] >= before["n"]


def _called(described: Mapping[str, Any]) -> str:
    mark = str(described.get("fingerprint", ""))[:8]
    return f"{described.get('items')} of {described.get('name')} ({mark})"


def _change(name: str, old: object, new: object) -> str:
    return f"{name}: {_plain(old)} -> {_plain(new)}"


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return value if isinstance(value, str) else "none" if value is None else shortened(value)
