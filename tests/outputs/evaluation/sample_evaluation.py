"""An evaluation in a folder, made of plain rows: models of known skill on items of three tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from quality.evaluation.evaluation_record import (
    EvaluatedModel,
    EvaluatedSet,
    EvaluatedTask,
    EvaluationRecord,
    write_record,
)
from quality.evaluation.result_row import RESULTS, ResultRow, is_right
from quality.evaluation.shown_items import ShownItem, write_items

HOSTILE = "</script><img src=x onerror=alert(1)>&amp;\u202e\x07<svg/onload=1>"
SET = "5e7f"
LABELS = {
    "intention": ("Inform", "Convince", "Motivate", "Affect"),
    "veracity": ("Quantity", "Quality", "Relevance", "Manner", "None"),
    "goal": ("deception", "truthful non-disclosure"),
}
TITLES = {"intention": "Communicative intention (why)", "veracity": "Veracity strategy (how)"}
UTTERANCE = EvaluatedTask(
    id="hipo-utterance",
    title="Single utterances",
    mode="zero-shot",
    dimensions=("intention", "veracity"),
    history="the standing question",
)
CUMULATIVE = EvaluatedTask(
    id="hipo-cumulative",
    title="Utterances with what came before",
    mode="zero-shot",
    dimensions=("intention", "veracity"),
    history="everything before",
)
CONVERSATION = EvaluatedTask(
    id="hipo-conversation",
    title="Whole conversations",
    mode="zero-shot",
    dimensions=("goal",),
    subject="dialogue",
    history="all of it",
)
SKILL = {"lab/strong": 85, "lab/weak-with-a-rather-long-name-7b": 45, "offline/judge": 60}
"""Right in how many of a hundred."""


def chance(*parts: object) -> int:
    """Return a number below 100 that follows from the parts."""
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") % 100


def record(
    tasks: Sequence[EvaluatedTask] = (UTTERANCE, CUMULATIVE, CONVERSATION),
    models: Sequence[str] = tuple(SKILL),
    **fields: object,
) -> EvaluationRecord:
    """Return the record of an evaluation of some models on some tasks."""
    of_set = {
        "name": "runs/sample/benchmark",
        "kind": "benchmark",
        "fingerprint": SET,
        "items": 100,
        "scheme": "hipo@2",
        "labels": LABELS,
        "titles": TITLES,
        "offline": True,
        "generators": ("offline/rules",),
        "judges": ("offline/judge",),
    }
    return EvaluationRecord(
        name="sample",
        code_version="1.2.3",
        seed=42,
        set=EvaluatedSet.model_validate(of_set | fields),
        tasks=tuple(tasks),
        models=tuple(
            EvaluatedModel(
                name=name,
                requests=300,
                prompt_tokens=120_000,
                completion_tokens=9_000,
                cost_usd=None if name == "offline/judge" else 0.31,
            )
            for name in models
        ),
    )


def rows(record: EvaluationRecord, *, cases: int = 36, words: str = "") -> Iterator[ResultRow]:
    """Yield the rows of an evaluation, as far as they follow from the skill of its models."""
    labels = record.set.labels
    for task in record.tasks:
        for case in range(cases):
            for turn in (None,) if task.subject == "dialogue" else (4, 6, 8)[: 1 + case % 3]:
                for model in record.models:
                    for draw in range(task.draws):
                        yield _row(
                            task, case, turn, model.name, draw, labels, words, record.set.offline
                        )


def _row(task, case, turn, model, draw, labels, words, offline):  # type: ignore[no-untyped-def]
    place = task.id if turn is None else f"{turn}/{task.id}"
    item = f"case{case:02}/arm/{place}"
    declared, given, faults, raw = {}, {}, {}, {}
    for name in task.dimensions:
        values = labels[name]
        weight = chance("truth", item, name)
        declared[name] = values[0] if weight < 45 else values[1 + weight % (len(values) - 1)]
        right = chance(model, task.mode, draw, item, name) < SKILL.get(model, 50)
        other = values[chance("other", model, item, name) % len(values)]
        given[name] = declared[name] if right else other
        if not right and chance("fault", model, item, name) < 12:
            given[name], faults[name] = None, "unknown label"
            raw[name] = f"no such label {words}"
    agreed = {name: x for name, x in declared.items() if chance("agreed", item, name) < 70}
    references = {"declared": declared} | ({"agreed": agreed} if agreed else {})
    marks = ("its own judge", *(("same grammar",) if offline else ()))
    return ResultRow(
        item=item,
        task=task.id,
        mode=task.mode,
        draw=draw,
        model=model,
        set=SET,
        scheme="hipo@2",
        case=f"case{case:02}",
        arm="arm",
        scenario=f"scenario{case % 12}",
        category=("Products", "Finance")[case % 2],
        turn=turn,
        goal=LABELS["goal"][case % 2],
        strategy=("direct", "reflective")[case % 2],
        generator="offline/rules",
        marks=marks if model == "offline/judge" else (),
        reply=f'{{"label": "{next(iter(given.values()))}"}} because I say so {words}',
        status="answered",
        labels=given,
        raw=raw,
        faults=faults,
        options={name: tuple(labels[name]) for name in task.dimensions},
        references=references,
        right={
            reference: {name: is_right(given[name], label) for name, label in found.items()}
            for reference, found in references.items()
        },
    )


def items(found: Sequence[ResultRow], *, words: str = "") -> Iterator[ShownItem]:
    """Yield what people are shown of the items of some rows."""
    for item in dict.fromkeys(row.item for row in found):
        lines = (
            ("Buyer", f"Was there ever any damage? {words}"),
            ("Seller", f"It has always been in my garage. {words}"),
        )
        target = None if item.endswith("conversation") else 1
        yield ShownItem(
            item=item,
            situation=f"A sale. {words}",
            lines=lines,
            target=target,
            fact=f"It has hit a rail. {words}",
        )


def write_sample(
    folder: Path, of: EvaluationRecord | None = None, *, cases: int = 36, words: str = ""
) -> Path:
    """Write record, rows and items into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = of or record()
    found = list(rows(made, cases=cases, words=words))
    write_record(folder, made)
    with (folder / RESULTS).open("wb") as file:
        file.writelines(row.to_line() for row in found)
    write_items(folder, items(found, words=words))
    return folder
