"""The files that lm-evaluation-harness reads: one task per aspect and dimension."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson
import yaml

from outputs.dataset.columns import label_column
from outputs.dataset.manifest import ExportedFile
from outputs.kinds.aspects import Aspect
from outputs.lm_eval.choice_prompts import ChoicePrompts, prompt_column
from scenarios.schemes.model import Dimension, Scheme

MODULE: Final = "hipo_items.py"
"""Loads the items and averages F1; a copy of it lies beside the task files."""
_END_OF_RAW = re.compile(r"\{%(?=[-+]?\s*endraw\b)")
_SHOWN_END = "{% endraw %}{{ '{%' }}{% raw %}"
_SPLITS = ("test", "validation", "train")
_HEAD = """\
# lm_eval --include_path . --tasks {task} --model hf --model_args pretrained=MODEL --apply_chat_template
# The likeliest of the answers is what a model is taken to say: what it would write is not asked.
custom_dataset: !function hipo_items.items
"""
_METRICS = """\
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: acc_norm, aggregation: mean, higher_is_better: true}
  # of the labels that are right for some item, each alike
  - {metric: f1, aggregation: !function hipo_items.macro_f1, higher_is_better: true}
"""


def task_name(aspect: Aspect, dimension: str) -> str:
    """Return the name of a task: letters, digits and underscores."""
    return re.sub(r"\W", "_", f"hipo_{aspect}_{dimension}")


def task_files(
    scheme: Scheme, prompts: ChoicePrompts, files: Sequence[ExportedFile], folder: Path
) -> dict[str, str]:
    """Return the task files and the module they name, text by relative path.

    A task that nothing is asked of has none: the harness ends at it, also where all tasks are asked
    for.

    Args:
        scheme: whose labels are asked for.
        prompts: what the rows hold.
        files: the files of rows; the held-out split is what models are scored on.
        folder: where they are.
    """
    written = {file.split for file in files}
    scored = next(split for split in _SPLITS if split in written)
    of_split = [folder / f.path for f in files if f.split == scored and f.format == "jsonl"]
    labels = {aspect: _labels(scheme, asked) for aspect, asked in prompts.asked.items()}
    filled = _filled(labels, of_split)
    learnt = {"fewshot_split": "train"} if "train" in written - {scored} else {}
    found = {MODULE: Path(__file__).with_name(MODULE).read_text(encoding="utf-8")}
    for aspect, asked in prompts.asked.items():
        for dimension in asked:
            if (aspect, dimension.id) not in filled:
                continue
            name = task_name(aspect, dimension.id)
            content = {
                "task": name,
                "tag": ["hipo", f"hipo_{aspect}"],
                "dataset_kwargs": {
                    "aspect": aspect,
                    "prompt": prompt_column(dimension.id),
                    "label": labels[aspect][dimension.id],
                    "labels": list(dimension.values),
                },
                "test_split": scored,
                **learnt,
                **_asked(dimension, prompts.systems[aspect, dimension.id]),
            }
            found[f"{name}.yaml"] = _yaml(name, content)
    return found


def _labels(scheme: Scheme, asked: Iterable[Dimension]) -> dict[str, str]:
    """Return the columns of the right labels by dimension."""
    return {d.id: "goal" if d.id == scheme.assigned else label_column(d.id) for d in asked}


def _filled(
    labels: Mapping[Aspect, Mapping[str, str]], files: Iterable[Path]
) -> set[tuple[Aspect, str]]:
    """Return the aspects and dimensions that some row is asked about and has a label of."""
    wanted = {(aspect, name) for aspect, columns in labels.items() for name in columns}
    found: set[tuple[Aspect, str]] = set()
    for file in files:
        with file.open("rb") as lines:
            for row in map(orjson.loads, lines):
                found |= {
                    (row["aspect"], name)
                    for name, column in labels.get(row["aspect"], {}).items()
                    if row[prompt_column(name)] is not None and row[column] is not None
                }
                if found == wanted:
                    return found
    return found


def _asked(dimension: Dimension, systems: Mapping[bool, str]) -> dict[str, object]:
    """Return the part of a task that says what is asked, and what is right."""
    return {
        "output_type": "multiple_choice",
        "description": _description(systems),
        "doc_to_text": "prompt",
        "doc_to_choice": [_answer(dimension.id, label) for label in dimension.values],
        "doc_to_target": "right",
        "target_delimiter": "\n\n",
        "metadata": {"version": 1},
    }


def _description(systems: Mapping[bool, str]) -> str:
    """Return the system message as a template; where there are two, each item takes its own.

    lm-evaluation-harness runs templates without a sandbox, and a scheme may be a stranger's: none of
    its words may end the part that is taken as it is.
    """
    plain = {way: _END_OF_RAW.sub(_SHOWN_END, text) for way, text in systems.items()}
    raw = {way: f"{{% raw %}}{text}{{% endraw %}}" for way, text in plain.items()}
    if len(raw) == 1:
        return next(iter(raw.values()))
    return f"{{% if listed %}}{raw[True]}{{% else %}}{raw[False]}{{% endif %}}"


def _yaml(name: str, content: Mapping[str, object]) -> str:
    text = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=100)
    return _HEAD.format(task=name) + text + _METRICS


def _answer(dimension: str, label: str) -> str:
    return json.dumps({dimension: label}, ensure_ascii=False)
