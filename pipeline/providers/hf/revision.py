"""The state of a model's files: a name under which other weights lie tomorrow is another model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from pipeline.providers.hf.location import ModelSource, locate
from pipeline.providers.hf.settings import LocalSettings
from scenarios.arms import ModelSpec

WHOLE: Final = 64 * 2**20
"""Bytes of a file up to which all of it is hashed."""
BLOCK, BLOCKS = 64 * 2**10, 256
"""Of a longer one so many blocks of so many bytes are, spread evenly from its beginning to its end:
16 MiB of it, for training moves nearly every weight."""
DIGITS = 16

_DECIDING = (
    "config.json", "generation_config.json", "adapter_config.json", "tokenizer*.json",
    "special_tokens_map.json", "added_tokens.json", "chat_template.jinja", "vocab.*",
    "merges.txt", "*.model", "*.safetensors", "pytorch_model*.bin", "adapter_model.bin",
)  # fmt: skip
"""The files of a folder that decide what the model says; what trainers leave beside them does not."""


def revision_of(spec: ModelSpec) -> str:
    """Return what tells one state of a model's files from another, having checked its settings.

    Of the hub it is the commit, of files a hash of their contents: equal copies are the same model
    wherever they lie, and a folder that was trained on is another one.

    Raises:
        UsageError: there is no such model, or its settings are not ones it takes.
    """
    settings = LocalSettings.of(spec)
    files = locate(spec.model)
    parts = [_state(files.base)]
    if files.adapter is not None:
        parts.append(_state(files.adapter))
    if template := settings.template_file:
        parts.append(_digest((template,)))
    return "+".join(parts)


def _state(source: ModelSource) -> str:
    if source.commit is not None:
        return source.commit
    folder = Path(source.place)
    if source.gguf is not None:
        return _digest((folder / source.gguf,))
    return _digest(tuple(sorted({f for pattern in _DECIDING for f in folder.glob(pattern)})))


def _digest(files: tuple[Path, ...]) -> str:
    """Hash files by name and content; one that has not changed since is not read again."""
    whole = hashlib.sha256()
    for file in files:
        facts = file.stat()
        content = _content_digest(file, facts.st_size, facts.st_mtime_ns)
        whole.update(f"{file.name} {facts.st_size} {content}\n".encode())
    return whole.hexdigest()[:DIGITS]


@lru_cache(maxsize=256)
def _content_digest(file: Path, size: int, _changed_ns: int) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        for start, length in _spans(size):
            stream.seek(start)
            digest.update(stream.read(length))
    return digest.hexdigest()


def _spans(size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, length) of what is hashed of a file."""
    if size <= WHOLE:
        yield 0, size
        return
    for i in range(BLOCKS):
        yield (size - BLOCK) * i // (BLOCKS - 1), BLOCK
