"""Fields of a body that hipo fills in itself, and that ``extra`` of a model cannot carry.

What a request can cost is known before it is sent, and what it asks is what is stored of it: both
hold for what hipo writes into the body, not for what would replace it there. Nor can it carry a key:
``extra`` is stored with the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_LENGTH: Final = "write 'max_tokens' beside 'extra'; it is sent in the spelling the endpoint takes"
_SAMPLES: Final = "the strategy says how many samples are drawn, e.g. consistency: {k: 3}"
_WORDS: Final = "what is asked comes from templates: replace them with 'prompt_dir'"
_WHOLE: Final = "leave it out: an answer is read in one piece"
_TEXT: Final = "leave it out: answers are texts, and nothing else is priced"
_PRICED: Final = "write what its tokens cost as 'price' beside 'extra'"
"""Of fields that change what tokens cost; they are allowed beside a ``price``."""

_KEY: Final = (
    "leave it out, since a recipe is stored with the run: keys come from the environment, by the name"
    " in 'api_key_env' beside 'extra'"
)
_OF_A_KEY: Final = re.compile(
    r"(x-)?api[-_]?key|(proxy-)?authorization|(access|auth|bearer)[-_]token|password|secret",
    re.IGNORECASE,
)

_COMMON: Final[Mapping[str, str]] = {
    "model": "write the model in 'model' beside 'extra', as provider/name",
    "messages": _WORDS,
    "max_tokens": _LENGTH,
    "temperature": "write 'temperature' beside 'extra'",
    "top_p": "write 'top_p' beside 'extra'",
    "stream": _WHOLE,
    "tools": _TEXT,
    "tool_choice": _TEXT,
    "service_tier": _PRICED,
}
_OPENAI: Final[Mapping[str, str]] = {
    **_COMMON,
    "max_completion_tokens": _LENGTH,
    "max_output_tokens": _LENGTH,
    "max_new_tokens": _LENGTH,
    "n_predict": _LENGTH,
    "n": _SAMPLES,
    "best_of": _SAMPLES,
    "seed": "write 'seed' in the recipe: every sample has one of its own",
    "prompt": _WORDS,
    "stream_options": _WHOLE,
    "functions": _TEXT,
    "function_call": _TEXT,
    "web_search_options": _TEXT,
    "plugins": _TEXT,
    "modalities": _TEXT,
    "audio": _TEXT,
    "models": "name one model in 'model' beside 'extra': each has a price of its own",
}
_OWN_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "openai": _OPENAI,
    "compatible": _OPENAI,
    "anthropic": {
        **_COMMON,
        "system": _WORDS,
        "mcp_servers": _TEXT,
        "speed": _PRICED,
        "inference_geo": _PRICED,
        "cache_control": _PRICED,
    },
}
"""By provider that sends ``extra`` as it is: the fields, and what to write instead."""


def refused_in_extra(
    model: str | None, extra: Mapping[str, object] | None, *, has_price: bool
) -> Mapping[str, str]:
    """Return the fields of ``extra`` that a model cannot be sent, with what to write instead.

    Args:
        model: ``provider/model``; None refuses keys alone.
        extra: as a recipe has it.
        has_price: whether a price stands beside it.
    """
    own = _OWN_FIELDS.get((model or "").partition("/")[0], {})
    return {
        name: _KEY if _names_a_key(name, value) else own[name]
        for name, value in (extra or {}).items()
        if _names_a_key(name, value) or (name in own and not (own[name] == _PRICED and has_price))
    }


def _names_a_key(name: str, value: object) -> bool:
    """Whether a field, or one inside it, is called as keys are: all of ``extra`` is stored."""
    inner = [("", one) for one in value] if isinstance(value, list | tuple) else []
    if isinstance(value, Mapping):
        inner = [(str(field), one) for field, one in value.items()]
    return _OF_A_KEY.fullmatch(name) is not None or any(_names_a_key(*one) for one in inner)
