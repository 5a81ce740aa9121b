"""A small export with real files, and the facts its documents are written from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from outputs.dataset.manifest import (
    Column,
    ExportedFile,
    ExportFacts,
    FileFormat,
    Generator,
    Support,
)
from outputs.rows.benchmark_set import CategoryCounts
from scenarios.schemes.registry import load_scheme

COLUMNS = (
    Column("messages", "messages", "What is said, and the answer."),
    Column("case", "text", "Content hash of the case."),
    Column("tags", "texts", "Tags of the scenario."),
    Column("turn", "int", "Number of the utterance."),
    Column("score", "float", "How consistent it is."),
    Column("fictional", "bool", "Always true."),
)
BY_RULES = (Generator("offline/rules", ("initiator", "responder"), ("direct",), 8),)
"""The generators of an export that no language model wrote."""


def rows(split: str, count: int) -> list[dict[str, Any]]:
    return [
        {
            "messages": [
                {"role": "user", "content": f"{split} question {i}, «quoted» | and so on"},
                {"role": "assistant", "content": f"answer {i}"},
            ][: 1 + i % 2],
            "case": f"{i:019d}a",
            "tags": ["money", "fraud"][: i % 3],
            "turn": i,
            "score": None if i == 1 else i / 4,
            "fictional": True,
        }
        for i in range(count)
    ]


def write_file(
    folder: Path, path: str, subset: str, split: str, data: Sequence[Any]
) -> ExportedFile:
    """Write rows as JSON lines or Parquet, after the ending of the path."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    kind: FileFormat = "jsonl"
    if target.suffix == ".parquet":
        kind = "parquet"
        message = pa.struct([("role", pa.string()), ("content", pa.string())])
        schema = pa.schema(
            [
                ("messages", pa.list_(message)), ("case", pa.string()),
                ("tags", pa.list_(pa.string())), ("turn", pa.int64()), ("score", pa.float64()),
                ("fictional", pa.bool_()),
            ]
        )  # fmt: skip
        pq.write_table(pa.Table.from_pylist(list(data), schema=schema), target)
    else:
        target.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in data))
    content = target.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return ExportedFile(path, kind, subset, split, len(data), len(content), digest, COLUMNS)


def sample_facts(folder: Path, **changes: Any) -> ExportFacts:
    """Write two subsets, one of them also as JSON lines, and return the facts of the export."""
    files = (
        write_file(folder, "data/label/train.parquet", "label", "train", rows("train", 5)),
        write_file(folder, "data/label/test.parquet", "label", "test", rows("test", 3)),
        write_file(folder, "data/label/train.jsonl", "label", "train", rows("train", 5)),
        write_file(folder, "data/label/test.jsonl", "label", "test", rows("test", 3)),
        write_file(folder, "data/actor/train.parquet", "actor", "train", rows("other", 4)),
    )
    facts = ExportFacts(
        name="harbour",
        folder=folder,
        task="sft",
        hub_tasks=("text-generation", "text-classification"),
        files=files,
        scheme=load_scheme("hipo"),
        options={"to": "sft", "split": {"by": "scenario", "test": 0.2}, "arms": None},
        code_version="0.1.0",
        runs=("demo",),
        generators=(
            Generator("openai/gpt-4o", ("initiator", "responder"), ("direct",), 6),
            Generator("deepseek/v3", ("responder",), ("consistency", "reflective"), 2),
        ),
        judges=("anthropic/judge",),
        verdict="accepted",
        dialogues=8,
        scenarios=3,
        facts=4,
        by_goal={"deception": 6, "truthful non-disclosure": 2},
        by_category={"products": 5, "finance": 3},
        counts={
            "finance": CategoryCounts({"a"}, {("a", "x")}, 3, 6, 12).plain(),
            "products": CategoryCounts({"b", "c"}, {("b", "x"), ("c", "y")}, 5, 1200, 20).plain(),
        },
        by_language={"en": 8},
        by_label={"intention": {"Inform": 3, "Convince": 9}, "veracity": {"None": 1200}},
        support=(
            Support("intention", "Convince", "deception", "train", 6),
            Support("intention", "Convince", "deception", "test", 1),
            Support("intention", "Convince", "truthful non-disclosure", "train", 2),
            Support("intention", "Inform", "deception", "test", 1),
            Support("intention", "Inform", "truthful non-disclosure", "test", 2),
        ),
        openings={"shared": 5, "by-goal": 3},
        includes_deception=False,
        real_names=False,
    )
    return replace(facts, **changes)
