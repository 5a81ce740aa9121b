"""MiniLM computed here: embeddings on the CPU without the packages that take seconds to import.

Source: Devlin et al. 2019 (BERT), Wang et al. 2020 (MiniLM), Reimers and Gurevych 2019 (mean of the
tokens).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from prompts.plain_text import whole

Matrix = NDArray[np.float32]

TOKENS_AT_ONCE = 1_024
"""Tokens that go through the layers together: enough for a product of matrices, few for a cache."""
TOKENS_BEFORE_TORCH = 12_000
"""After how many tokens importing torch, which computes faster, costs less than it saves."""
_FEWEST_TOKENS: Final = 256
"""Fewer are not divided among threads."""
_HEAD: Final = 32
"""Numbers of a token in one head."""
_COMPUTED: Final[Mapping[str, Any]] = {
    "config.json": {
        "model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute",
        "layer_norm_eps": 1e-12, "hidden_size": 384, "num_attention_heads": 12,
    },
    "1_Pooling/config.json": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
}  # fmt: skip
"""What the files of the model say of what is computed here."""


class Arithmetic(Protocol):
    """The steps that depend on what computes them. Matrices have a row a token."""

    threads: int
    """How many groups of texts are computed at once."""

    def each(self, work: Callable[[list[int]], None], groups: Sequence[list[int]]) -> None:
        """Do the work on each group; the other steps are taken within it."""

    def matrix(self, numbers: Matrix) -> Any:
        """Return numbers as what the other steps take."""

    def linear(self, rows: Any, weight: Any, bias: Any) -> Any:
        """Return ``rows @ weight + bias``."""

    def normed(self, rows: Any, scale: Any, shift: Any) -> Any:
        """Return rows of mean 0 and variance 1, scaled and shifted."""

    def gelu(self, rows: Any) -> Any:
        """Return ``x * Phi(x)`` of each number, which may overwrite it."""

    def attended(self, joint: Any, texts: int, heads: int) -> Any:
        """Return what the tokens of each text take from each other, shape ``(rows, width)``.

        Args:
            joint: queries, keys and values side by side, shape ``(rows, 3 * width)``.
            texts: how many there are, all of the same length.
            heads: into which each of them is divided.
        """

    def joined(self, parts: Sequence[Any]) -> Any:
        """Return the rows of several matrices as one."""

    def numbers(self, rows: Any) -> Matrix:
        """Return a matrix as numpy has it."""


class NumpyArithmetic:
    """Computes with numpy, which is imported anyway."""

    threads = 1
    """Beside a busy event loop, more would spin and wait for each other."""
    _EDGE: Final = 64
    """Rows whose numbers stay in a cache."""

    def each(self, work: Callable[[list[int]], None], groups: Sequence[list[int]]) -> None:
        """Do the work on each group, on this thread alone."""
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with hipo[embeddings]

        with threadpool_limits(1, user_api="blas"):
            for group in groups:
                work(group)

    def matrix(self, numbers: Matrix) -> Matrix:
        """Return them as they are."""
        return numbers

    def linear(self, rows: Matrix, weight: Matrix, bias: Matrix) -> Matrix:
        """Return ``rows @ weight + bias``."""
        out: Matrix = rows @ weight
        out += bias
        return out

    def normed(self, rows: Matrix, scale: Matrix, shift: Matrix) -> Matrix:
        """Return rows of mean 0 and variance 1, scaled and shifted."""
        out: Matrix = rows - rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", out, out)[:, None] / np.float32(out.shape[1])
        out /= np.sqrt(variance + np.float32(1e-12))
        out *= scale
        out += shift
        return out

    def gelu(self, rows: Matrix) -> Matrix:
        """Overwrite each number x with ``x * Phi(x)``, which is ``max(x, 0) - |x| * Phi(-|x|)``."""
        for first in range(0, len(rows), self._EDGE):
            part = rows[first : first + self._EDGE]
            size = np.abs(part)
            below = _normal_above(size)
            below *= size
            np.maximum(part, 0, out=part)
            part -= below
        return rows

    def attended(self, joint: Matrix, texts: int, heads: int) -> Matrix:
        """Return what the tokens of each text take from each other."""
        query, key, value = joint.reshape(texts, -1, 3, heads, _HEAD).transpose(2, 0, 3, 1, 4)
        shares = query @ key.transpose(0, 1, 3, 2)
        shares *= np.float32(_HEAD**-0.5)
        shares -= shares.max(axis=3, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=3, keepdims=True)
        mixed: Matrix = (shares @ value).transpose(0, 2, 1, 3).reshape(len(joint), -1)
        return mixed

    def joined(self, parts: Sequence[Matrix]) -> Matrix:
        """Return the rows of several matrices as one."""
        return np.concatenate(parts)

    def numbers(self, rows: Matrix) -> Matrix:
        """Return them as they are."""
        return rows


def _normal_above(x: Matrix) -> Matrix:
    """Return the share of a normal distribution above each number from 0 on, to within 1e-7.

    Source: Abramowitz and Stegun 1964, 7.1.26.
    """
    near = x * np.float32(0.3275911 * math.sqrt(0.5))
    near += np.float32(1)
    np.divide(np.float32(1), near, out=near)
    share = near * np.float32(0.5 * 1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        share += np.float32(0.5 * term)
        share *= near
    np.multiply(x, x, out=near)
    near *= np.float32(-0.5)
    share *= np.exp(near, out=near)
    return share


class TorchArithmetic:
    """Computes with torch, on as many threads as torch would take."""

    def __init__(self) -> None:
        """Import torch, which takes seconds."""
        import torch  # noqa: PLC0415

        self._torch = torch
        self.threads = torch.get_num_threads()

    def each(self, work: Callable[[list[int]], None], groups: Sequence[list[int]]) -> None:
        """Do the work on each group, several groups at a time.

        Each thread takes a group of its own. Several on one group, as torch has them, wait for each
        other after every step, and for long where another process has one of the processors.
        """

        def alone(group: list[int]) -> None:
            with self._torch.inference_mode():  # nothing is kept for gradients
                work(group)

        try:
            with ThreadPoolExecutor(
                self.threads, "minilm", self._torch.set_num_threads, (1,)
            ) as pool:
                list(pool.map(alone, groups))
        finally:
            self._torch.set_num_threads(self.threads)  # torch also takes it for threads to come

    def matrix(self, numbers: Matrix) -> Any:
        """Return a tensor over the same memory."""
        return self._torch.from_numpy(numbers)

    def linear(self, rows: Any, weight: Any, bias: Any) -> Any:
        """Return ``rows @ weight + bias``."""
        return self._torch.addmm(bias, rows, weight)

    def normed(self, rows: Any, scale: Any, shift: Any) -> Any:
        """Return rows of mean 0 and variance 1, scaled and shifted."""
        return self._torch.nn.functional.layer_norm(rows, scale.shape, scale, shift, 1e-12)

    def gelu(self, rows: Any) -> Any:
        """Return ``x * Phi(x)`` of each number."""
        return self._torch.nn.functional.gelu(rows)

    def attended(self, joint: Any, texts: int, heads: int) -> Any:
        """Return what the tokens of each text take from each other."""
        query, key, value = joint.view(texts, -1, 3, heads, _HEAD).permute(2, 0, 3, 1, 4)
        mixed = self._torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return mixed.transpose(1, 2).reshape(len(joint), -1)

    def joined(self, parts: Sequence[Any]) -> Any:
        """Return the rows of several matrices as one."""
        return self._torch.cat(list(parts))

    def numbers(self, rows: Any) -> Matrix:
        """Return a matrix as numpy has it."""
        found: Matrix = rows.numpy()
        return found


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer: (weight, bias) or (scale, shift) of each step."""

    joint: tuple[Any, Any]
    mixed: tuple[Any, Any]
    mixed_norm: tuple[Any, Any]
    wide: tuple[Any, Any]
    narrow: tuple[Any, Any]
    norm: tuple[Any, Any]


class MiniLm:
    """Embeds texts by a MiniLM from its folder: first with numpy, later with torch if it is worth it."""

    def __init__(self, folder: Path) -> None:
        """Read the model.

        Raises:
            OSError: a file is missing.
        """
        from safetensors.numpy import load_file  # noqa: PLC0415 - comes with hipo[embeddings]
        from tokenizers import Tokenizer  # noqa: PLC0415

        config = json.loads((folder / "config.json").read_bytes())
        longest = json.loads((folder / "sentence_bert_config.json").read_bytes())["max_seq_length"]
        self._heads: int = config["num_attention_heads"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        weights = load_file(folder / "model.safetensors")
        self._words: Matrix = weights["embeddings.word_embeddings.weight"]
        self._places: Matrix = (
            weights["embeddings.position_embeddings.weight"]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._weights = _steps(weights, config["num_hidden_layers"])
        self._tokens = 0
        self._use(NumpyArithmetic())

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return unit rows, shape ``(len(texts), dim)``."""
        found = self._tokenizer.encode_batch([whole(text) for text in texts])
        tokens = [np.asarray(text.ids) for text in found]
        self._tokens += sum(map(len, tokens))
        if isinstance(self._arithmetic, NumpyArithmetic) and self._tokens > TOKENS_BEFORE_TORCH:
            self._use(TorchArithmetic())
        rows: Matrix = np.empty((len(texts), self._words.shape[1]), np.float32)

        def compute(chosen: list[int]) -> None:
            rows[chosen] = self._means([tokens[i] for i in chosen])

        groups = _groups([len(text) for text in tokens], self._arithmetic.threads)
        self._arithmetic.each(compute, list(groups))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def _use(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self._first_norm, *rest = (
            (arithmetic.matrix(first), arithmetic.matrix(second)) for first, second in self._weights
        )
        self._layers = [_Layer(*rest[i : i + 6]) for i in range(0, len(rest), 6)]

    def _means(self, texts: Sequence[NDArray[np.int64]]) -> Matrix:
        """Return the mean of the last layer over the tokens of each text; the shorter ones come first.

        A row is a token of a text, and none fills a shorter one up: only attention asks for texts
        of one length, and goes over those that have it.
        """
        use = self._arithmetic
        rows: Matrix = self._words[np.concatenate(texts)]
        rows += np.concatenate([self._places[: len(text)] for text in texts])
        state = use.normed(use.matrix(rows), *self._first_norm)
        alike = list(_of_one_length(texts))
        for layer in self._layers:
            joint = use.linear(state, *layer.joint)
            taken = use.joined([use.attended(joint[of], n, self._heads) for of, n in alike])
            mixed = use.linear(taken, *layer.mixed)
            mixed += state
            state = use.normed(mixed, *layer.mixed_norm)
            out = use.linear(use.gelu(use.linear(state, *layer.wide)), *layer.narrow)
            out += state
            state = use.normed(out, *layer.norm)
        starts = np.cumsum([0, *map(len, texts[:-1])])
        means: Matrix = np.add.reduceat(use.numbers(state), starts, axis=0)
        means /= np.array([[len(text)] for text in texts], np.float32)
        return means


def is_computed(folder: Path) -> bool:
    """Return whether the model in a folder is one that is computed here."""
    for name, expected in _COMPUTED.items():
        try:
            found = json.loads((folder / name).read_bytes())
        except (OSError, ValueError):
            return False
        if any(found.get(key) != value for key, value in expected.items()):
            return False
    return True


def _steps(weights: Mapping[str, Matrix], layers: int) -> list[tuple[Matrix, Matrix]]:
    """Return both numbers of every step, the norm of the beginning first; weights map rows."""

    def pair(name: str) -> tuple[Matrix, Matrix]:
        weight = weights[f"{name}.weight"]
        straight = np.ascontiguousarray(weight.T) if weight.ndim > 1 else weight
        return straight, weights[f"{name}.bias"]

    found = [pair("embeddings.LayerNorm")]
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        three = [pair(f"{layer}.attention.self.{part}") for part in ("query", "key", "value")]
        found.append(
            (np.concatenate([w for w, _ in three], axis=1), np.concatenate([b for _, b in three]))
        )
        found += [
            pair(f"{layer}.{name}")
            for name in (
                "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",
                "output.dense", "output.LayerNorm",
            )
        ]  # fmt: skip
    return found


def _groups(lengths: Sequence[int], threads: int) -> Iterator[list[int]]:
    """Yield which texts go through the layers together, by their places, the shorter ones first."""
    most = min(TOKENS_AT_ONCE, max(_FEWEST_TOKENS, math.ceil(sum(lengths) / threads)))
    group: list[int] = []
    tokens = 0
    for place in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if group and tokens + lengths[place] > most:
            yield group
            group, tokens = [], 0
        group.append(place)
        tokens += lengths[place]
    if group:
        yield group


def _of_one_length(texts: Sequence[NDArray[np.int64]]) -> Iterator[tuple[slice, int]]:
    """Yield the rows of texts that follow each other and have one length, and how many they are."""
    first = 0
    for length, same in groupby(map(len, texts)):
        count = sum(1 for _ in same)
        yield slice(first, first + count * length), count
        first += count * length
