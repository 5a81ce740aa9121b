"""Prompts on the stream: what crossed it before is named by its number.

Most of a prompt stands in others, too: rules, labels, the scene. Both ends number the sections of
prompts in the order in which they cross the stream. Before a prompt with which they would hold too
many characters, both forget all of them and count from 0 again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from pipeline.store.texts import Parts

MOST_CHARS = 4_000_000
"""Characters that an end holds; a prompt that is larger by itself is held all the same."""

Layout = tuple[tuple[str, tuple[Annotated[int, Field(ge=0)], ...]], ...]
"""The role of each message, and the numbers of its sections."""


class SentTexts:
    """The sections that this end has sent."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._chars = 0

    def numbered(self, prompt: Parts) -> tuple[tuple[str, ...], Layout]:
        """Return the sections to be sent with a prompt, and how it is put together."""
        texts = dict.fromkeys(text for _, some in prompt for text in some)
        new = [text for text in texts if text not in self._numbers]
        chars = sum(map(len, new))
        if self._chars + chars > MOST_CHARS:
            self._numbers.clear()
            new = list(texts)
            self._chars, chars = 0, sum(map(len, new))
        self._chars += chars
        numbers = self._numbers
        for text in new:
            numbers[text] = len(numbers)
        layout = tuple((role, tuple(numbers[text] for text in some)) for role, some in prompt)
        return tuple(new), layout


class ReceivedTexts:
    """The sections that the other end has sent."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._chars = 0

    def parts(self, new: Sequence[str], layout: Layout) -> Parts:
        """Return the sections of a prompt.

        Raises:
            ValueError: a section of it has not been sent.
        """
        chars = sum(map(len, new))
        if self._chars + chars > MOST_CHARS:
            self._texts.clear()
            self._chars = 0
        self._chars += chars
        texts = self._texts
        texts += new
        try:
            return tuple(
                (role, tuple([texts[number] for number in numbers])) for role, numbers in layout
            )
        except IndexError:
            raise ValueError("a prompt has a section that was not sent") from None
