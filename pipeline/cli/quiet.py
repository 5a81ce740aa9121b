"""Keep libraries from talking over the command line."""

from __future__ import annotations

import logging
import os
import warnings

_CHATTY = ("sentence_transformers", "transformers", "huggingface_hub", "httpx2", "asyncio")


def hush() -> None:
    """Silence warnings, progress bars and log lines of libraries, unless ``HIPO_DEBUG`` is set."""
    if os.environ.get("HIPO_DEBUG"):
        return
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    warnings.simplefilter("ignore")
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
