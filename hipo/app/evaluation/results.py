"""Write what an evaluation found: the rows of results, the items, and the record of what was asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hipo.app.evaluation.plan import ReadyEvaluation
from outputs.export.facts import code_version
from pipeline.providers.hf.location import base_of_adapter
from pipeline.store.answers import EvaluationSeat
from pipeline.store.evaluation_store import Answering, EvaluationStore, Identity, ModelUsage
from quality.evaluation.evaluation_record import (
    AskingTook,
    DrawnEvenly,
    EvaluatedModel,
    EvaluatedSet,
    EvaluatedTask,
    EvaluationRecord,
    write_record,
)
from quality.evaluation.item import EvaluationItem
from quality.evaluation.plan import seat_config
from quality.evaluation.replies import marks_of, result_of
from quality.evaluation.result_row import RESULTS, ResultRow
from quality.evaluation.shown_items import ShownItem, write_items
from scenarios.atomic_files import new_file

OFFLINE_READERS: Final = ("offline/judge", "offline/reader")
"""Programs of the same making as ``offline/rules``: on what it wrote they read their own grammar."""


@dataclass(frozen=True, slots=True)
class WrittenResults:
    """What was written."""

    rows: int
    path: Path


def write_results(
    folder: Path, store: EvaluationStore, ready: ReadyEvaluation, identity: Identity
) -> WrittenResults:
    """Write rows, items and record, each as a whole or not at all.

    What was asked of other models and tasks about the same items stands beside it.

    Raises:
        UsageError: the folder cannot be written to.
    """
    seats = _seats(store, identity)
    items = {item.id: item for item in ready.items.items}
    asked: dict[str, EvaluationItem] = {}
    count, limits = 0, defaultdict[str, Counter[int]](Counter)
    with new_file(folder / RESULTS) as file:
        for row in _rows(store, ready, seats, items):
            asked.setdefault(row.item, items[row.item])
            file.write(row.to_line())
            count += 1
            if row.max_tokens is not None:
                limits[row.model][row.max_tokens] += 1
    canary = ready.items.canary
    write_items(folder, (_shown(item, canary) for item in items.values() if item.id in asked))
    record = _record(store, ready, identity, seats, asked)
    models = tuple(
        model.model_copy(update={"lower_limits": dict(sorted(limits[model.name].items()))})
        for model in record.models
    )
    write_record(folder, record.model_copy(update={"models": models}))
    return WrittenResults(count, folder / RESULTS)


def _seats(store: EvaluationStore, identity: Identity) -> list[EvaluationSeat]:
    """Return the seats whose answers count under an identity, in the order they were added."""
    config = {
        (task, model): seat_config(
            identity["set"]["fingerprint"], described["fingerprint"], fields, identity["seed"]
        )
        for task, described in identity["tasks"].items()
        for model, fields in identity["models"].items()
    }
    return [
        seat
        for seat in store.answers.seats()
        if config.get((_name(seat), seat.model)) == seat.config
    ]


def _name(seat: EvaluationSeat) -> str:
    return f"{seat.task} {seat.mode}"


def _rows(
    store: EvaluationStore,
    ready: ReadyEvaluation,
    seats: list[EvaluationSeat],
    items: Mapping[str, EvaluationItem],
) -> Iterator[ResultRow]:
    """Yield the rows: seat by seat, items in the order of their set."""
    planned = {task.name: task.by_id for task in ready.plan.tasks}
    order = {name: place for place, name in enumerate(items)}
    item_set = ready.items
    for seat in seats:
        wanted = planned.get(_name(seat), items)
        answers = [answer for answer in store.answers.of(seat) if answer.item in wanted]
        for answer in sorted(answers, key=lambda answer: order[answer.item]):
            item = items[answer.item]
            marks = marks_of(
                seat.model, item.generator, item_set.judges, offline_readers=OFFLINE_READERS
            )
            yield result_of(
                item, seat, answer,
                set_fingerprint=item_set.fingerprint, scheme=item_set.scheme.name, marks=marks,
            )  # fmt: skip


def _shown(item: EvaluationItem, canary: str) -> ShownItem:
    asked = item.asked
    names = {"initiator": asked.scene.initiator, "responder": asked.scene.responder}
    names |= {one.role: one.name for one in asked.scene.people}
    return ShownItem(
        item=item.id,
        situation=asked.scene.situation,
        lines=tuple((names.get(role, role), text) for role, text in asked.turns),
        target=asked.target,
        fact=asked.fact.text if asked.fact is not None else " ".join(x.text for x in asked.facts),
        language=asked.scene.language.partition(" ")[0],
        canary=canary,
    )


def _record(
    store: EvaluationStore,
    ready: ReadyEvaluation,
    identity: Identity,
    seats: list[EvaluationSeat],
    asked: Mapping[str, EvaluationItem],
) -> EvaluationRecord:
    items, scheme = ready.items, ready.items.scheme
    usage, answering = store.usage(), store.answering()
    return EvaluationRecord(
        name=store.folder.resolve().name,
        code_version=code_version(),
        seed=ready.plan.seed,
        set=EvaluatedSet(
            name=items.name,
            kind=items.kind,
            fingerprint=items.fingerprint,
            items=len(asked),
            scheme=scheme.name,
            labels={d.id: d.values for d in scheme.dimensions if d.values},
            several=tuple(d.id for d in scheme.dimensions if d.measurement == "multi"),
            titles={d.id: d.title for d in scheme.dimensions if d.title},
            goal=scheme.assigned,
            recipe=items.recipe,
            openings=dict(items.openings),
            offline=items.offline,
            generators=items.generators,
            judges=items.judges,
            drawn=_drawn(ready, identity),
            canary=items.canary,
        ),
        tasks=tuple(_task(identity["tasks"][name]) for name in dict.fromkeys(map(_name, seats))),
        models=tuple(
            _model(
                name, identity["models"][name], usage.get(name, ModelUsage()), answering.get(name)
            )
            for name in dict.fromkeys(seat.model for seat in seats)
        ),
        lost=AskingTook(**_took(usage.get("", ModelUsage(cost_usd=0.0)))),
    )


def _drawn(ready: ReadyEvaluation, identity: Identity) -> DrawnEvenly | None:
    """Return how items were drawn, with the shares of tasks that were asked before."""
    if ready.drawn is None:
        return None
    known = {task["id"]: task["shares"] for task in identity["tasks"].values() if "shares" in task}
    return ready.drawn.model_copy(update={"by_task": {**known, **ready.drawn.by_task}})


def _task(described: Mapping[str, Any]) -> EvaluatedTask:
    return EvaluatedTask(
        id=described["id"],
        title=described["title"],
        mode=described["mode"],
        dimensions=tuple(described["dimensions"]),
        subject=described["subject"],
        history=described["history"],
        draws=described["draws"],
        items=described.get("items", 0),
    )


def _model(
    name: str, asked: Mapping[str, Any], used: ModelUsage, answering: Answering | None
) -> EvaluatedModel:
    """Return a model with how it was asked, what answered, and what that took."""
    provider, _, place = name.partition("/")
    told: dict[str, Any] = {}
    if answering is not None:
        told = {
            "omitted": tuple(sorted(answering.omitted)),
            "structured": tuple(answering.structured),
            "answered_as": tuple(answering.names),
            "first_at": _moment(answering.first_at),
            "last_at": _moment(answering.last_at),
        }
    return EvaluatedModel(
        name=name,
        base=base_of_adapter(place) if provider == "hf" else None,
        **{
            key: asked[key]
            for key in ("temperature", "top_p", "max_tokens", "extra")
            if key in asked
        },
        **told,
        **_took(used),
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _took(used: ModelUsage) -> dict[str, Any]:
    """Return what requests took, as it is recorded."""
    return {
        "requests": used.requests,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "cost_usd": used.cost_usd,
        "known_usd": used.known_usd,
        "unpriced": used.unpriced,
        "bound_usd": max(0.0, round(used.charged_usd - used.known_usd, 9)),
    }
