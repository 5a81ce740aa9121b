"""Models of known behaviour for evaluations: they read the options in the prompt and choose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from scenarios.fingerprint import seed_from

Messages = Sequence[tuple[str, str]]
FIELD = re.compile(r'"(\w+)": "<(one of: ([^>]+)|text)>"')


def fields(messages: Messages) -> dict[str, list[str]]:
    """Return what is asked for, by key; a text has no options."""
    found = FIELD.findall(messages[-1][1])
    return {key: options.split(" | ") if options else [] for key, _, options in found}


def choose(pick: Callable[[str, list[str]], str]) -> Callable[[Messages, int], str]:
    """Return a model that gives what ``pick`` says of a dimension and its options."""

    def answer(messages: Messages, seed: int) -> str:
        return json.dumps(
            {
                key: pick(key, options) if options else "so it seems"
                for key, options in fields(messages).items()
            }
        )

    return answer


first_option = choose(lambda key, options: options[0])
"""Whatever is listed first."""


def by_hash(messages: Messages, seed: int) -> str:
    """Choose by the words of the prompt: wrong and right, the same at every time."""
    words = messages[-1][1]
    return choose(lambda key, o: sorted(o)[seed_from(words, key) % len(o)])(messages, seed)
