"""An arm: the strategy, the models and the settings that dialogues are generated with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from scenarios.fingerprint import content_id

StructuredWish = Literal["auto", "native", "instruct"]
AnswerOrder = Literal["plan", "paper"]
"""What a responder's answer begins with: a short plan, or as in the paper the utterance."""

UNKNOWN: Final = "unknown"
"""Stands for a strategy or a model of which nothing is recorded."""
IMPORTED: Final = "imported"
"""The strategy of dialogues that were made elsewhere."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Sampling parameters; ``None`` leaves the endpoint's default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 512
    extra: Mapping[str, object] = field(default_factory=dict)
    """Further body fields, sent as they are, e.g. ``{"top_k": 20}``."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model, where it is asked, and how."""

    provider: str
    model: str
    base_url: str | None = None
    parameters: Parameters | None = field(default_factory=Parameters)
    """None where no more than the name is known: the model of imported dialogues."""
    structured: StructuredWish = "auto"
    revision: str | None = None
    """State of the files of a model in this process; None where the name settles what answers."""

    @property
    def name(self) -> str:
        """``provider/model``, as it is written on the command line."""
        return f"{self.provider}/{self.model}"

    def fields(self) -> dict[str, object]:
        """Return everything that can change an answer, as plain data."""
        named: dict[str, object] = {"provider": self.provider, "model": self.model}
        if self.parameters is None:
            return named
        state = {} if self.revision is None else {"revision": self.revision}
        return {
            **named,
            **state,
            "base_url": self.base_url,
            "temperature": self.parameters.temperature,
            "top_p": self.parameters.top_p,
            "max_tokens": self.parameters.max_tokens,
            "extra": dict(self.parameters.extra),
            "structured": self.structured,
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> ModelSpec:
        """Return the model that :meth:`fields` described."""
        provider, model = str(fields.get("provider", UNKNOWN)), str(fields.get("model", UNKNOWN))
        if "max_tokens" not in fields:
            return cls(provider, model, parameters=None)
        return cls(
            provider,
            model,
            fields.get("base_url"),
            Parameters(
                fields.get("temperature"),
                fields.get("top_p"),
                fields["max_tokens"],
                fields.get("extra") or {},
            ),
            fields.get("structured") or "auto",
            fields.get("revision"),
        )


@dataclass(frozen=True, slots=True)
class Arm:
    """A strategy, one model for each role it asks, and the settings it reads.

    The arm of imported dialogues has the strategy ``imported``; of its models at most the
    responder is known, and by its name alone.
    """

    strategy: str
    models: Mapping[str, ModelSpec]
    """By role: ``initiator``, ``responder``, and what else the strategy asks."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """The settings that can change what is said."""
    id: str = field(init=False)
    """Content id of :meth:`fields`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", content_id(self.fields()))

    @property
    def writer(self) -> str | None:
        """``provider/model`` that wrote the answers; None where it is not known."""
        responder = self.models.get("responder")
        return None if responder is None else responder.name

    @property
    def model(self) -> str:
        """:attr:`writer`, or ``unknown``."""
        return self.writer or UNKNOWN

    @property
    def label(self) -> str:
        """Strategy and model, e.g. ``consistency openai/gpt-4o``; not necessarily unique."""
        return f"{self.strategy} {self.model}"

    def fields(self) -> dict[str, object]:
        """Return what the arm consists of, as plain data; its hash is :attr:`id`."""
        return {
            "strategy": self.strategy,
            "models": {role: model.fields() for role, model in self.models.items()},
            "settings": dict(self.settings),
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Arm:
        """Return the arm that :meth:`fields` described, read from a store."""
        return cls(
            str(fields.get("strategy", UNKNOWN)),
            {
                role: ModelSpec.from_fields(model)
                for role, model in (fields.get("models") or {}).items()
            },
            fields.get("settings") or {},
        )
