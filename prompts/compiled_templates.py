"""Templates that are compiled once in a process, however many environments load them."""

from __future__ import annotations

from types import CodeType
from typing import Final

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

MOST_COMPILED: Final = 1_000
"""Templates kept by one cache; some eighty ship."""


class CompiledOnce(BytecodeCache):
    """Keeps what was compiled in this process, by the text it was compiled from.

    Environments that share one differ in nothing that the code of a template depends on.
    """

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give back what was compiled from the same text."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled; all is forgotten where it has become very much."""
        if len(self._codes) >= MOST_COMPILED:
            self._codes.clear()
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code
