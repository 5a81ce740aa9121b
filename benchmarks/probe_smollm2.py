"""A small model fine-tuned on the set of labels, by LoRA, asked about scenarios it has not seen.

One fold of scenarios is held out; the model learns the lines of the others. It is shown the line and
the question that it answers, in a prompt of some fifty tokens: the shipped prompts hold the whole
procedure, which is forty times as long and too much for a processor without a GPU. The base and
the tuned model choose among the labels of each dimension by the likelihood of their names, one
dimension after the other, so that no answer is unreadable.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.probe_items import ProbeItem
from scenarios.fingerprint import seed_from

SEED = 0
RANK, ALPHA = 16, 32
RATE = 5e-4
BATCH = 2
STEPS = 200
ASKED = 100
"""Lines of each set that are asked at most, drawn by their ids."""
Labels = Mapping[str, Sequence[str]]
"""The labels of each dimension, in the order in which the dimensions are asked."""


@dataclass(frozen=True, slots=True)
class SmallModelReading:
    """What base and tuned model answered, and how it was learnt."""

    asked: Mapping[str, Sequence[ProbeItem]]
    """By set."""
    answers: Mapping[tuple[str, str], Sequence[Mapping[str, str]]]
    """By model (``base``, ``tuned``) and set: of each line the label of each dimension."""
    losses: Sequence[float]
    seconds: float


def prompt(item: ProbeItem, labels: Labels) -> str:
    """Return what the model is shown of a line, up to the first label."""
    return f"Question: {item.question}\nAnswer: {item.line}\n{next(iter(labels))}:"


def completion(item: ProbeItem, labels: Labels) -> str:
    """Return the labels as they follow the prompt."""
    first, *others = labels
    return f" {item.labels[first]}" + "".join(f"\n{name}: {item.labels[name]}" for name in others)


def drawn(items: Sequence[ProbeItem], most: int) -> list[ProbeItem]:
    """Return some of the items, by a hash of their ids, in their order."""
    chosen = sorted(items, key=lambda item: seed_from(SEED, "probe", item.key))[:most]
    kept = {item.key for item in chosen}
    return [item for item in items if item.key in kept]


def read(
    folder: Path,
    learnt: Sequence[ProbeItem],
    held_out: Mapping[str, Sequence[ProbeItem]],
    labels: Labels,
    *,
    steps: int = STEPS,
    most: int = ASKED,
) -> SmallModelReading:
    """Ask the base model, fine-tune it, and ask it again.

    Args:
        folder: of the base model: of transformers, or with one ``.gguf`` file.
        learnt: the lines to learn from.
        held_out: by set, lines of other scenarios.
        labels: of each dimension.
        steps: of the optimiser, ``BATCH`` lines each.
        most: lines of each set that are asked.
    """
    import torch  # noqa: PLC0415 heavy, extra train

    torch.manual_seed(SEED)
    tokenizer, model = _loaded(folder)
    asked = {name: drawn(items, most) for name, items in held_out.items()}
    answers = {}
    for name, items in asked.items():
        answers["base", name] = [_answer(model, tokenizer, item, labels) for item in items]
    began = time.monotonic()
    tuned, losses = _tuned(model, tokenizer, learnt, labels, steps)
    seconds = time.monotonic() - began
    for name, items in asked.items():
        answers["tuned", name] = [_answer(tuned, tokenizer, item, labels) for item in items]
    return SmallModelReading(asked, answers, losses, seconds)


def _loaded(folder: Path) -> tuple[Any, Any]:
    import torch  # noqa: PLC0415 heavy, extra train
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    files = sorted(folder.glob("*.gguf"))
    of = {"gguf_file": files[0].name} if files else {}
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **of)
    return AutoTokenizer.from_pretrained(folder, **of), model


def _tuned(
    model: Any, tokenizer: Any, learnt: Sequence[ProbeItem], labels: Labels, steps: int
) -> tuple[Any, list[float]]:
    """Return the model with an adapter that has learnt the labels, and the loss of every step."""
    import torch  # noqa: PLC0415 heavy, extra train
    from peft import LoraConfig, get_peft_model  # noqa: PLC0415

    how = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM")
    tuned = get_peft_model(model, how).train()
    weights = [weight for weight in tuned.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    losses = []
    for rows in _batches(learnt, steps):
        optimiser.zero_grad()
        total = 0.0
        for item in rows:
            asked = tokenizer(prompt(item, labels))["input_ids"]
            said = tokenizer(completion(item, labels))["input_ids"]
            ids = torch.tensor([asked + said])
            wanted = torch.tensor([[-100] * len(asked) + said])
            loss = tuned(input_ids=ids, labels=wanted).loss / len(rows)
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        schedule.step()
        losses.append(total)
    return tuned.eval(), losses


def _batches(items: Sequence[ProbeItem], steps: int) -> Iterator[list[ProbeItem]]:
    """Yield so many batches, going through all items in a new order again and again."""
    rng = np.random.default_rng(SEED)
    order: list[int] = []
    for _ in range(steps):
        while len(order) < BATCH:
            order += rng.permutation(len(items)).tolist()
        yield [items[place] for place in order[:BATCH]]
        del order[:BATCH]


def _answer(model: Any, tokenizer: Any, item: ProbeItem, labels: Labels) -> dict[str, str]:
    """Return the likeliest label of each dimension, given those that were chosen before."""
    import torch  # noqa: PLC0415 heavy, extra train

    answer: dict[str, str] = {}
    text, past = prompt(item, labels), None
    with torch.no_grad():
        for name, values in labels.items():
            if answer:
                text = f" {next(reversed(answer.values()))}\n{name}:"
            ids = torch.tensor([tokenizer(text)["input_ids"]])
            read = model(input_ids=ids, past_key_values=past, use_cache=True)
            past = read.past_key_values
            names = [tokenizer(f" {value}")["input_ids"] for value in values]
            scores = _likelihoods(model, past, read.logits[0, -1], names)
            answer[name] = values[int(np.argmax(scores))]
    return answer


def _likelihoods(model: Any, past: Any, first: Any, names: Sequence[Sequence[int]]) -> list[float]:
    """Return the log-likelihood of each of some names after what the model has read.

    Args:
        model: what reads.
        past: its cache, which stays as it is.
        first: the scores of the token that comes next.
        names: the tokens of each.
    """
    import torch  # noqa: PLC0415 heavy, extra train

    begun = torch.log_softmax(first, -1)
    rest = max(len(name) for name in names) - 1
    if not rest:
        return [float(begun[name[0]]) for name in names]
    # Shorter names are filled up behind their end, where nothing looks back at it.
    ids = torch.tensor([[*name[:-1], *[0] * (rest + 1 - len(name))] for name in names])
    branches = copy.deepcopy(past)
    branches.batch_repeat_interleave(len(names))
    after = torch.log_softmax(model(input_ids=ids, past_key_values=branches).logits, -1)
    return [
        float(
            begun[name[0]] + sum(after[row, place, token] for place, token in enumerate(name[1:]))
        )
        for row, name in enumerate(names)
    ]
