"""Requests to a model in this process, and what it says."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

import pytest

from pipeline.providers.protocol import Request
from prompts.question import Message
from scenarios.arms import Parameters

MARKS = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # of peft, about transformers
    pytest.mark.skipif(
        any(find_spec(package) is None for package in ("torch", "transformers", "peft")),
        reason="needs pip install 'hipo[local]'",
    ),
]
SCHEMA = {
    "type": "object",
    "properties": {"act": {"enum": ["Directives", "Expressives"]}, "why": {"type": "string"}},
    "required": ["act", "why"],
    "additionalProperties": False,
}


def request(model, text="What was that?", **changes):
    parameters = {"temperature": 0.0, "max_tokens": 12, **changes.pop("parameters", {})}
    fields = {
        "model": str(model),
        "messages": (Message("system", "You answer."), Message("user", text)),
        "parameters": Parameters(**parameters),
        "schema": SCHEMA,
        "schema_name": "answer",
        "seed": 1,
        "structured": "instruct",
    }
    return Request(**{**fields, **changes})


async def texts(hf, *requests):
    replies = await asyncio.gather(*(hf.send(one, 60) for one in requests))
    return [choice.text for reply in replies for choice in reply.choices]
