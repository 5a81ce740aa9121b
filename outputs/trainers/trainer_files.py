"""What stands in a training set for trainers: a script for TRL, configurations for two others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from outputs.dataset.card import TRAINERS
from outputs.dataset.manifest import ExportedFile
from outputs.formats.axolotl import read_as
from outputs.formats.shape import lines_files
from outputs.token_lengths import DEFAULT_WINDOW, TokenLengths

MODEL: Final = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""What is trained where nothing else is named: small, and anybody may load it."""
AXOLOTL, LLAMA_FACTORY, DATASET_INFO = "axolotl.yaml", "llamafactory.yaml", "dataset_info.json"
_SCRIPTS = Path(__file__).parents[1] / "templates"
_TEMPLATE = 256
"""Tokens of a chat template that stand for nothing in a row; of a row no tokenizer makes more than it
has bytes, and its JSON has more."""
_ROOM = 1.3
"""What lengths are multiplied by: they are estimates, and nothing is to be cut."""


def write_trainer_files(
    folder: Path, files: Sequence[ExportedFile], lengths: Sequence[TokenLengths], *, pairs: bool
) -> None:
    """Write a script, configurations and the rows they read into the folder of an export.

    Args:
        folder: with its files of rows.
        files: the rows, in a format of messages.
        lengths: of the rows.
        pairs: whether a row is a prompt with a better and a worse answer.
    """
    lines = lines_files(files)
    if not any(file.split == "train" for file in lines):
        return
    (folder / TRAINERS).mkdir()
    most = max(
        _write_messages(folder / file.path, folder / _path(file), pairs=pairs) for file in lines
    )
    longest = _rounded(max((one.longest for one in lengths), default=DEFAULT_WINDOW))
    for path, content in (
        (AXOLOTL, _yaml(_AXOLOTL_HEAD, axolotl(lines, longest, pairs=pairs))),
        (LLAMA_FACTORY, _yaml(_LLAMA_HEAD, llama_factory(lines, most, pairs=pairs))),
        (DATASET_INFO, _json(dataset_info(lines, pairs=pairs))),
        (f"train_{'dpo' if pairs else 'sft'}.py", script(lines, pairs=pairs)),
    ):
        (folder / path).write_text(content, encoding="utf-8")


def script(lines: Sequence[ExportedFile], *, pairs: bool) -> str:
    """Return a program that trains on the rows with TRL, whatever machine it runs on."""
    text = (_SCRIPTS / f"train_{'dpo' if pairs else 'sft'}.py.txt").read_text("utf-8")
    names = list(dict.fromkeys(file.subset for file in lines))
    known = {"@CONFIGURATIONS@": orjson.dumps(names).decode(), "@MODEL@": MODEL}
    for blank, value in known.items():
        text = text.replace(blank, value)
    return text


_AXOLOTL_HEAD = """\
# In this folder: axolotl train axolotl.yaml
# Of a conversation the last line alone is learnt. Longer rows stop the training instead of being cut.
"""
_LLAMA_HEAD = """\
# In this folder: llamafactory-cli train llamafactory.yaml
# Of a conversation the last line alone is learnt (mask_history). The template is the model's own.
# It cuts longer rows in silence, so cutoff_len is as many tokens as the longest has bytes.
"""


def axolotl(lines: Sequence[ExportedFile], longest: int, *, pairs: bool) -> dict[str, object]:
    """Return the configuration of Axolotl."""
    config: dict[str, object] = {"base_model": MODEL}
    if pairs:
        config["rl"] = "dpo"
    learnt = {"roles_to_train": [], "message_field_training": "train"}
    for key, split in (("datasets", "train"), ("test_datasets", "validation")):
        found = [read_as(_path(f), learnt, pairs=pairs) for f in lines if f.split == split]
        if found:
            config[key] = found
    return config | {
        "sequence_len": longest,
        "excess_length_strategy": "raise",
        "adapter": "lora",
        "lora_r": 16,
        "lora_alpha": 32,
        "lora_dropout": 0.05,
        "lora_target_linear": True,
        "micro_batch_size": 1,
        "gradient_accumulation_steps": 16,
        "num_epochs": 1,
        "optimizer": "adamw_torch",
        "lr_scheduler": "cosine",
        "learning_rate": 2e-5 if pairs else 2e-4,
        "warmup_ratio": 0.03,
        "bf16": "auto",
        "output_dir": "./tuned-axolotl",
    }


def llama_factory(lines: Sequence[ExportedFile], most: int, *, pairs: bool) -> dict[str, object]:
    """Return the configuration of LLaMA-Factory; no row has ``most`` tokens, and none is cut."""
    named = {
        split: ",".join(_name(file) for file in lines if file.split == split)
        for split in ("train", "validation")
    }
    config: dict[str, object] = {
        "model_name_or_path": MODEL,
        "stage": "dpo" if pairs else "sft",
        "do_train": True,
        "finetuning_type": "lora",
        "lora_rank": 16,
        "lora_alpha": 32,
        "lora_target": "all",
        "dataset_dir": ".",
        "dataset": named["train"],
        "cutoff_len": most,
        "output_dir": "./tuned-llamafactory",
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 16,
        "num_train_epochs": 1,
        "learning_rate": 2e-5 if pairs else 2e-4,
        "lr_scheduler_type": "cosine",
        "report_to": "none",
    }
    if named["validation"]:
        config |= {"eval_dataset": named["validation"], "eval_strategy": "epoch"}
    return config if pairs else config | {"mask_history": True}


def dataset_info(lines: Sequence[ExportedFile], *, pairs: bool) -> dict[str, object]:
    """Return what LLaMA-Factory is told of the files."""
    columns = {"messages": "messages"}
    if pairs:
        columns |= {"chosen": "chosen", "rejected": "rejected"}
    entry = {
        "formatting": "sharegpt",
        "columns": columns,
        "tags": {
            "role_tag": "role", "content_tag": "content", "user_tag": "user",
            "assistant_tag": "assistant", "system_tag": "system",
        },
        **({"ranking": True} if pairs else {}),
    }  # fmt: skip
    return {_name(file): {"file_name": _path(file), **entry} for file in lines}


def _path(file: ExportedFile) -> str:
    # JSON lines, and not called so: whoever reads the set finds each row once
    return f"{TRAINERS}/{file.subset}-{file.split}.json"


def _name(file: ExportedFile) -> str:
    return f"hipo_{file.subset}_{file.split}"


def _write_messages(source: Path, target: Path, *, pairs: bool) -> int:
    """Write the messages of a file, and return how many tokens no row of it can exceed."""
    most = 0
    with source.open("rb") as lines, target.open("wb") as out:
        for line in lines:
            made = _pair(orjson.loads(line)) if pairs else _conversation(orjson.loads(line))
            written = orjson.dumps(made, option=orjson.OPT_APPEND_NEWLINE)
            out.write(written)
            most = max(most, len(written))
    return -(-(most + _TEMPLATE) // 256) * 256


def _conversation(row: Mapping[str, Any]) -> dict[str, object]:
    """Return a conversation in which the last line alone is to be learnt."""
    messages = row["messages"] if "messages" in row else [*row["prompt"], *row["completion"]]
    last = len(messages) - 1
    return {"messages": [{**m, "train": place == last} for place, m in enumerate(messages)]}


def _pair(row: Mapping[str, Any]) -> dict[str, object]:
    return {"messages": row["prompt"], "chosen": row["chosen"][0], "rejected": row["rejected"][0]}


def _rounded(tokens: int) -> int:
    """Return a length with some room, in whole multiples of 256."""
    return max(DEFAULT_WINDOW, -(-int(tokens * _ROOM) // 256) * 256)


def _yaml(head: str, content: Mapping[str, object]) -> str:
    return head + yaml.safe_dump(dict(content), sort_keys=False)


def _json(content: Mapping[str, object]) -> str:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"
