"""A small model fine-tuned on the set of labels, by LoRA, asked about scenarios it has not seen.

A fold of scenarios is held out; the model learns the lines of the others. It is shown the line and
the question that it answers, in a prompt of some fifty tokens: the shipped prompts hold the whole
procedure, which is forty times as long and too much for a processor without a GPU. The base and
the tuned model choose among the labels of each dimension by the likelihood of their names, one
dimension after the other, so that no answer is unreadable. A GPU is taken where there is one.
"""

from __future__ import annotations

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
NOT_LEARNT = -100
"""What stands for a token whose loss does not count."""
TOGETHER, TOGETHER_ON_A_CPU = 24, 4
"""Lines that are asked at once, with all labels of a dimension each."""
Tokens = Sequence[int]
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
    batch: int = BATCH,
    most: int = ASKED,
) -> SmallModelReading:
    """Ask the base model, fine-tune it, and ask it again.

    Args:
        folder: of the base model: of transformers, or with one ``.gguf`` file.
        learnt: the lines to learn from.
        held_out: by set, lines of other scenarios.
        labels: of each dimension.
        steps: of the optimiser.
        batch: lines of a step.
        most: lines of each set that are asked.
    """
    import torch  # noqa: PLC0415 heavy, extra train

    torch.manual_seed(SEED)
    tokenizer, model = _loaded(folder)
    asked = {name: drawn(items, most) for name, items in held_out.items()}
    answers = {}
    for name, items in asked.items():
        answers["base", name] = _answers(model, tokenizer, items, labels)
    began = time.monotonic()
    tuned, losses = _tuned(model, tokenizer, _batches(learnt, steps, batch), steps, labels)
    seconds = time.monotonic() - began
    for name, items in asked.items():
        answers["tuned", name] = _answers(tuned, tokenizer, items, labels)
    return SmallModelReading(asked, answers, losses, seconds)


def _loaded(folder: Path) -> tuple[Any, Any]:
    import torch  # noqa: PLC0415 heavy, extra train
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    files = sorted(folder.glob("*.gguf"))
    of = {"gguf_file": files[0].name} if files else {}
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **of)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return AutoTokenizer.from_pretrained(folder, **of), model.to(device)


def _tuned(
    model: Any, tokenizer: Any, batches: Iterator[list[ProbeItem]], steps: int, labels: Labels
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
    for rows in batches:
        optimiser.zero_grad()
        asked = tokenizer([prompt(item, labels) for item in rows])["input_ids"]
        said = tokenizer([completion(item, labels) for item in rows])["input_ids"]
        loss = -_likelihoods(tuned, asked, said, mean=True).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return tuned.eval(), losses


def _batches(items: Sequence[ProbeItem], steps: int, batch: int) -> Iterator[list[ProbeItem]]:
    """Yield so many batches, going through all items in a new order again and again."""
    rng = np.random.default_rng(SEED)
    order: list[int] = []
    for _ in range(steps):
        while len(order) < batch:
            order += rng.permutation(len(items)).tolist()
        yield [items[place] for place in order[:batch]]
        del order[:batch]


def _answers(
    model: Any, tokenizer: Any, items: Sequence[ProbeItem], labels: Labels
) -> list[dict[str, str]]:
    """Return the likeliest label of each dimension, given those that were chosen before."""
    size = TOGETHER_ON_A_CPU if model.device.type == "cpu" else TOGETHER
    return [
        answer
        for start in range(0, len(items), size)
        for answer in _answered(model, tokenizer, items[start : start + size], labels)
    ]


def _answered(
    model: Any, tokenizer: Any, items: Sequence[ProbeItem], labels: Labels
) -> list[dict[str, str]]:
    import torch  # noqa: PLC0415 heavy, extra train

    read: list[list[int]] = [[] for _ in items]
    answers: list[dict[str, str]] = [{} for _ in items]
    for number, (name, values) in enumerate(labels.items()):
        texts = [prompt(item, labels) if number == 0 else f"\n{name}:" for item in items]
        said = tokenizer([f" {value}" for value in values])["input_ids"]
        for so_far, new in zip(read, tokenizer(texts)["input_ids"], strict=True):
            so_far.extend(new)
        with torch.inference_mode():
            likely = _likelihoods(
                model, [so_far for so_far in read for _ in values], [*said] * len(items)
            )
        best = likely.reshape(len(items), len(values)).argmax(dim=1).tolist()
        for so_far, answer, place in zip(read, answers, best, strict=True):
            answer[name] = values[place]
            so_far.extend(said[place])
    return answers


def _likelihoods(
    model: Any, asked: Sequence[Tokens], said: Sequence[Tokens], *, mean: bool = False
) -> Any:
    """Return the log-likelihood of each answer after what it was asked, shape ``(rows,)``.

    Args:
        model: what reads.
        asked: of each row.
        said: of each row, at least one token.
        mean: of the tokens of an answer, in place of their sum.
    """
    import torch  # noqa: PLC0415 heavy, extra train

    rows = [[*before, *after] for before, after in zip(asked, said, strict=True)]
    width = max(map(len, rows))
    # Filled up behind their end, where nothing looks back at it.
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=model.device)
    wanted = torch.full_like(ids, NOT_LEARNT)
    for place, (before, after) in enumerate(zip(asked, said, strict=True)):
        wanted[place, len(before) : len(before) + len(after)] = torch.tensor(after)
    scores = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, :-1].float()
    losses = torch.nn.functional.cross_entropy(
        scores.transpose(1, 2), wanted[:, 1:], ignore_index=NOT_LEARNT, reduction="none"
    )
    sums = -losses.sum(dim=1)
    return sums / torch.tensor([len(one) for one in said], device=sums.device) if mean else sums
