"""An embedding model in a process of its own, so that a busy event loop does not hold it up.

Between two steps of a model its thread needs the lock of the interpreter: beside a loop that
computes all the time it waits for it thousands of times. The processes talk in frames: eight bytes
of length, then texts as JSON one way, and a matrix as ``npy`` the other.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.embeddings.minilm import MiniLm
from pipeline.processors import processors
from pipeline.search_path import module_path
from pipeline.torch_setup import keep_tokenizers_quiet
from prompts.plain_text import whole
from scenarios.errors import RunError

_LENGTH = 8
_REMEMBERED = 4_096
"""Texts whose rows are kept (6 MB): dialogues that say the same come close to each other."""


class EmbeddingProcess:
    """Embeds texts by the bundled model in another process, which ends with this object."""

    def __init__(self, folder: Path) -> None:
        """Start it; it loads the model from its folder while this process goes on.

        It leaves one processor to this one.
        """
        threads = max(1, processors() - 1)
        self._process = subprocess.Popen(  # noqa: S603 - a module of our own
            # -P: the user's folder may hold modules of the same names, which are none of ours
            [sys.executable, "-P", "-m", "pipeline.embeddings.process", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONPATH": module_path()},
        )
        self._latest: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit row per text, shape ``(len(texts), dim)``.

        Raises:
            RunError: the process has ended.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._latest]
        rows = dict(self._latest)
        if new:
            rows.update(zip(new, self._asked(new), strict=True))
        found = np.stack([rows[text] for text in texts])
        self._latest = dict(islice(rows.items(), max(0, len(rows) - _REMEMBERED), None))
        return found

    def _asked(self, texts: Sequence[str]) -> NDArray[np.float32]:
        asked, answers = (
            cast("BinaryIO", self._process.stdin),
            cast("BinaryIO", self._process.stdout),
        )
        try:
            _write(asked, orjson.dumps([whole(text) for text in texts]))
            answer = _read(answers)
        except OSError:
            answer = None
        if answer is None:
            raise RunError(
                f"the process that embeds texts ended with {self._process.wait()}; start the same"
                " command again, or compare words alone (--no-embeddings)"
            )
        found: NDArray[np.float32] = np.load(io.BytesIO(answer), allow_pickle=False)
        return found

    def close(self) -> None:
        """Let the process end, and wait for it."""
        self._process.communicate()


def _serve(folder: Path, asked: BinaryIO, answers: BinaryIO) -> None:
    """Embed what is asked for until there is no more."""
    keep_tokenizers_quiet()
    model = MiniLm(folder)
    while (texts := _read(asked)) is not None:
        rows = io.BytesIO()
        np.save(rows, model.embed(orjson.loads(texts)))
        _write(answers, rows.getvalue())


def _write(stream: BinaryIO, content: bytes) -> None:
    stream.write(len(content).to_bytes(_LENGTH, "big") + content)
    stream.flush()


def _read(stream: BinaryIO) -> bytes | None:
    """Return the next frame; None at the end, also where it comes in the middle of a frame."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    size = int.from_bytes(length, "big")
    content = stream.read(size)
    return content if len(content) == size else None


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides when it ends
    with suppress(BrokenPipeError):
        _serve(Path(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer)
