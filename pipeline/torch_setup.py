"""What is seen to before torch and transformers are used: the device, and that they keep quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scenarios.errors import UsageError

_TOKENIZER_THREADS = "TOKENIZERS_PARALLELISM"
_NOT_NOW = "off"
_quiet_in: set[int] = set()
"""The process in which the variable was set here: this one, or one that it was forked from."""
_LINUX_GPUS = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl", "/dev/nvgpu", "/dev/kfd")
"""What there is of NVIDIA's drivers, under WSL and on a Jetson too, or of AMD's."""


def choose_device(device: str, hint: str) -> str:
    """Return ``cuda``, ``mps`` or ``cpu``, or the device itself if it names one, e.g. ``cuda:1``.

    Attention is computed there by what takes every length as it comes: since version 2.11, torch prefers
    cuDNN on an H100 or B200, which makes a plan for every number of texts and of tokens that it has not
    met. Texts and prompts have all lengths, and each token of an answer is one more.

    Args:
        device: what was asked for; ``auto`` takes CUDA, else Apple's MPS, else the CPU.
        hint: what to do where it is not there.

    Raises:
        UsageError: the device that was asked for is not there.
    """
    import torch  # noqa: PLC0415

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    there = {"cuda": count > 0, "mps": torch.backends.mps.is_available(), "cpu": True}
    if there["cuda"]:
        torch.backends.cuda.enable_cudnn_sdp(False)
    if device == "auto":
        return next(name for name, available in there.items() if available)
    kind, _, index = device.partition(":")
    if not there[kind] or (index and int(index) >= count):
        raise UsageError(f"there is no {device} device here", hint)
    return device


def may_have_gpu() -> bool:
    """Return whether this machine may have a device besides the CPU, without importing torch."""
    return sys.platform != "linux" or any(Path(path).exists() for path in _LINUX_GPUS)


def keep_quiet() -> None:
    """Turn off the progress bars and remarks of the Hugging Face libraries."""
    keep_tokenizers_quiet()
    from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    disable_progress_bars()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]


def keep_tokenizers_quiet() -> None:
    """Let the tokenizers start no threads by themselves, of which they warn at every fork."""
    if _TOKENIZER_THREADS not in os.environ:
        os.environ[_TOKENIZER_THREADS] = _NOT_NOW
        _quiet_in.add(os.getpid())


@contextmanager
def tokenizing_on_all_cores() -> Iterator[None]:
    """Let the tokenizers use all cores within; they do not warn of forks while they are told so.

    One core turns some 700,000 tokens a second from text, on which a GPU would wait. What the user
    has set stays as it is, and a process that was forked keeps to one core: it would wait for ever
    for the threads that its parent started.
    """
    set_here = os.getpid() in _quiet_in
    if _quiet_in and not set_here:
        os.environ[_TOKENIZER_THREADS] = _NOT_NOW  # the parent may have been within just then
    if not set_here or os.environ.get(_TOKENIZER_THREADS) != _NOT_NOW:
        yield
        return
    os.environ[_TOKENIZER_THREADS] = "true"
    try:
        yield
    finally:
        os.environ[_TOKENIZER_THREADS] = _NOT_NOW
