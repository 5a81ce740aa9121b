"""Fine-tune on an exported set with TRL: a few steps on a tiny random model, to see that it fits.

python examples/export_to_trl.py runs/example/sft

Put a real model and its tokenizer in the place of ``tiny_model`` to train one.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from datasets import load_dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}"


def tiny_model(texts: list[str]) -> tuple[GPT2LMHeadModel, PreTrainedTokenizerFast]:
    """Return a random model of some thousand parameters, and a tokenizer of these texts."""
    words = Tokenizer(models.WordLevel(unk_token="[unk]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.train_from_iterator(
        texts, trainers.WordLevelTrainer(vocab_size=800, special_tokens=["[unk]", "[end]"])
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[unk]", eos_token="[end]", pad_token="[end]"
    )
    tokenizer.chat_template = CHAT
    size = GPT2Config(
        vocab_size=len(tokenizer), n_positions=2048, n_embd=16, n_layer=1, n_head=2,
        bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    return GPT2LMHeadModel(size), tokenizer


def refuse(data_set: Path, found: str) -> NoReturn:
    """Say what is wrong with what was given, and end."""
    print(
        f"error: {data_set}: found {found}, expected a training set of prompts and completions\n"
        "  export the run: hipo export RUN --to sft -o SET",
        file=sys.stderr,
    )
    sys.exit(2)


def main(data_set: Path) -> None:
    manifest = data_set / "manifest.json"
    if not manifest.is_file():
        refuse(data_set, "a run" if (data_set / "run.sqlite").exists() else "no manifest.json")
    if (kind := json.loads(manifest.read_bytes())["task"]) != "sft":
        refuse(data_set, f"a set for {kind}")
    rows = load_dataset(str(data_set), split="train")
    if not {"prompt", "completion"} <= set(rows.column_names):
        refuse(data_set, f"rows of {', '.join(rows.column_names[:8])}")
    rows = rows.select_columns(["prompt", "completion"])
    texts = [message["content"] for row in rows for message in row["prompt"] + row["completion"]]
    model, tokenizer = tiny_model(texts)
    with tempfile.TemporaryDirectory() as folder:
        settings = SFTConfig(
            output_dir=folder, max_steps=2, per_device_train_batch_size=1, max_length=1024,
            report_to="none", use_cpu=True, bf16=False, disable_tqdm=True,
        )  # fmt: skip
        trainer = SFTTrainer(
            model=model, args=settings, train_dataset=rows, processing_class=tokenizer
        )
        result = trainer.train()
    print(f"{result.global_step} steps on {len(rows)} rows, loss {result.training_loss:.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python examples/export_to_trl.py SET", file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]))
