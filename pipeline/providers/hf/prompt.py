"""What a model in this process is asked, sample by sample, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from pipeline.providers.hf.settings import LocalSettings
from pipeline.providers.protocol import Choice
from prompts.question import Message
from scenarios.arms import Parameters


def model_key(model: str, parameters: Parameters) -> str:
    """Return what tells loaded models apart: a name, and the settings it is loaded with."""
    return orjson.dumps([model, dict(parameters.extra)]).decode()


@dataclass(frozen=True, slots=True)
class LocalPrompt:
    """One answer that is asked for."""

    model: str
    settings: LocalSettings
    key: str
    """Prompts with one key are for the same model with the same settings."""
    messages: tuple[Message, ...]
    parameters: Parameters
    seed: int
    timeout_s: float
    """Seconds that writing the answer may take, without the time it waits for its turn."""
    schema: Mapping[str, object] | None
    """What the answer is held to; None: nothing."""


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """What was written, and its sizes in tokens."""

    choice: Choice
    prompt_tokens: int
    reused_tokens: int
    """Of the prompt's, those that had been computed for another."""
    completion_tokens: int
