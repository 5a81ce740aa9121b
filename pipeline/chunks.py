"""Cut a stream into lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def chunks(stream: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut a stream into lists of ``size``, the last of which may be shorter.

    ``itertools.batched`` does the same from Python 3.12 on.
    """
    iterator = iter(stream)
    while chunk := list(islice(iterator, size)):
        yield chunk
