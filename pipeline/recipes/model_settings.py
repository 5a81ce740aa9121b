"""Which model plays a role in a recipe, where it is reached, and how it samples."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from pipeline.providers.prices import PriceSetting
from pipeline.providers.registry import PROVIDERS
from pipeline.providers.untrusted import MOST_TOKENS
from scenarios.arms import StructuredWish
from scenarios.strict import Strict

_ENDPOINT_FIELDS = ("base_url", "api_key_env", "structured", "extra")


AnswerTokens = Annotated[int, Field(ge=16, le=MOST_TOKENS)]
"""How long an answer may be."""


class ModelSettings(Strict):
    """Which model plays a role, where it is reached, and how it samples."""

    model: str | None = None
    """``provider/model``, e.g. ``openai/gpt-4o``, ``compatible/qwen3`` or ``offline/rules``."""
    base_url: str | None = None
    api_key_env: str | None = None
    """Name of the environment variable that holds the key, never the key itself; ``HEADER:VARIABLE``
    sends it in that header."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: AnswerTokens | None = None
    extra: dict[str, Any] | None = None
    """Further body fields, sent as they are; those that hipo fills in itself are refused, and keys, see
    ``pipeline/providers/own_fields.py``."""
    price: PriceSetting | None = None
    structured: StructuredWish | None = None
    """Whether the endpoint enforces the answer's schema; ``auto`` tries it and remembers."""

    def over(self, default: ModelSettings) -> ModelSettings:
        """Return these settings with gaps filled from ``default``.

        Sampling parameters are always inherited. The address, the key and the other endpoint
        settings only are where the provider is the same, the price only where the model is. A
        default that names no model has them for whichever is asked elsewhere than in this process.
        """
        model = self.model or default.model
        own = self.model_dump(exclude_none=True, include=set(ModelSettings.model_fields))
        inherited = default.model_dump(exclude_none=True)
        shares = _shares_endpoint(model, default.model)
        if not shares:
            for field in _ENDPOINT_FIELDS:
                inherited.pop(field, None)
        if not shares or default.model not in (None, model):
            inherited.pop("price", None)
        return ModelSettings.model_validate({**inherited, **own})


def _shares_endpoint(model: str | None, default: str | None) -> bool:
    """Return whether what is said of the endpoint of a default holds for a model."""
    if default is not None:
        return _provider(model) == _provider(default)
    entry = PROVIDERS.find(_provider(model))
    return entry is None or not entry.is_local


def _provider(model: str | None) -> str:
    return (model or "").partition("/")[0]


def _model_or_name(value: object) -> object:
    """Let ``provider/model`` stand for ``{model: provider/model}``."""
    return {"model": value} if isinstance(value, str) else value


Role = Annotated[ModelSettings, BeforeValidator(_model_or_name)]


class Models(Strict):
    """The model of every role; what a role leaves open comes from ``default``.

    The paper's sampling parameters are the defaults. A strategy may ask further roles: each has a
    field of its name.

    Source: HIPO, section 4.3 (temperature 0.2, top-p 0.6).
    """

    default: Role = ModelSettings()
    initiator: Role = ModelSettings()
    responder: Role = ModelSettings()
    reflector: Role = ModelSettings()
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Role] = Field(init=False)

    @property
    def by_role(self) -> dict[str, ModelSettings]:
        """What the recipe says of each role."""
        own = {"initiator": self.initiator, "responder": self.responder}
        return {**own, "reflector": self.reflector, **(self.__pydantic_extra__ or {})}

    def role(self, name: str) -> ModelSettings:
        """Return the complete settings of one role."""
        settings = self.by_role.get(name, ModelSettings())
        paper = ModelSettings(temperature=0.2, top_p=0.6, max_tokens=1024)
        default = ModelSettings.model_validate(
            {**paper.model_dump(exclude_none=True), **self.default.model_dump(exclude_none=True)}
        )
        # What helps the responder is the model that spoke, unless the recipe names another.
        speaks = name in ("initiator", "responder")
        base = default if speaks else self.responder.over(default)
        return settings.over(base)
