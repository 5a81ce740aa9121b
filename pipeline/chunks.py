"""Cut a stream into lists, or a text at its headings."""

from __future__ import annotations

import re
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


def marked_parts(text: str, marks: Iterable[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield every mark in a text, in order, with what stands between it and the next one."""
    marks = list(marks)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):  # the text has an end where no mark is, too
        yield mark, text[mark.end() : end]
