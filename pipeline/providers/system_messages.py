"""Models that know no messages of the system: how they say so, and what they are sent instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

SYSTEM_ROLE: Final = "system_role"
"""Stands for messages of the system among the fields of a request that an endpoint does not take."""

_NO_SYSTEM_ROLE = re.compile(
    r"roles must alternate|must alternate (?:user|between)|developer instruction is not enabled"
    r"|\bsystem['\"` ]*(?:role|messages?|prompts?|instructions?)\b.{0,30}\bnot (?:supported|allowed|enabled)"
    r"|does not support ['\"`]?system\b|\bgot ['\"`]?system\b|\brole:? ['\"`]?system\b"
    r"|unknown variant ['\"`]system\b",
    re.IGNORECASE,
)
"""What the templates of some models say, of which a server only passes the words on."""


def refuses_system_role(message: str) -> bool:
    """Return whether an error speaks of the messages of the system, which not every model knows."""
    return _NO_SYSTEM_ROLE.search(message) is not None


def without_system(messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Put what the system messages say at the head of the first other message."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    others = [dict(message) for message in messages if message["role"] != "system"]
    if system and others:
        others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others
