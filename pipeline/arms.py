"""An arm: the strategy, the models and the settings that dialogues are generated with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from pipeline.providers.protocol import Parameters
from scenarios.errors import UsageError
from scenarios.fingerprint import content_id

StrategyName = Literal["direct", "reflective", "consistency"]
StructuredWish = Literal["auto", "native", "instruct"]
ActingRole = Literal["initiator", "responder", "reflector"]

STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model, where it is asked, and how."""

    provider: str
    model: str
    base_url: str | None = None
    parameters: Parameters = field(default_factory=Parameters)
    structured: StructuredWish = "auto"

    @property
    def name(self) -> str:
        """``provider/model``, as it is written on the command line."""
        return f"{self.provider}/{self.model}"

    def fields(self) -> dict[str, object]:
        """Return everything that can change an answer, as plain data."""
        return {
            "provider": self.provider,
            "model": self.model,
            "base_url": self.base_url,
            "temperature": self.parameters.temperature,
            "top_p": self.parameters.top_p,
            "max_tokens": self.parameters.max_tokens,
            "extra": dict(self.parameters.extra),
            "structured": self.structured,
        }


@dataclass(frozen=True, slots=True)
class Arm:
    """Strategy, one model per role, and the settings of the strategy.

    A setting that belongs to another strategy is no part of the identity: two direct arms with a
    different ``k`` are the same arm.

    Raises:
        UsageError: a role without a model, or a setting out of range.
    """

    strategy: StrategyName
    models: Mapping[ActingRole, ModelSpec]
    """``initiator`` and ``responder``; for the reflective strategy also ``reflector``."""
    k: int = 4
    """Candidates per utterance (consistency)."""
    encoder: str | None = None
    """What the candidates are embedded with (consistency)."""
    max_revisions: int = 1
    """How often a draft may be revised (reflective)."""
    id: str = field(init=False)
    """Content id of :meth:`fields`."""

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise UsageError(
                f"unknown strategy {self.strategy!r}", f"choose one of: {', '.join(STRATEGIES)}"
            )
        missing = [role for role in self.roles if role not in self.models]
        if missing:
            raise UsageError(f"the {self.strategy} strategy needs a model for the {missing[0]}")
        if self.strategy == "consistency" and self.k < 2:
            raise UsageError(f"voting needs at least 2 candidates, got {self.k}")
        if self.strategy == "reflective" and self.max_revisions < 0:
            raise UsageError(f"max_revisions cannot be negative, got {self.max_revisions}")
        object.__setattr__(self, "id", content_id(self.fields()))

    @property
    def roles(self) -> tuple[ActingRole, ...]:
        """The roles whose models this strategy asks."""
        if self.strategy == "reflective":
            return ("initiator", "responder", "reflector")
        return ("initiator", "responder")

    @property
    def settings(self) -> dict[str, object]:
        """The settings this strategy reads."""
        if self.strategy == "consistency":
            return {"k": self.k, "encoder": self.encoder}
        if self.strategy == "reflective":
            return {"max_revisions": self.max_revisions}
        return {}

    @property
    def label(self) -> str:
        """A short name for people, e.g. ``consistency openai/gpt-4o``; not necessarily unique."""
        return f"{self.strategy} {self.models['responder'].name}"

    def fields(self) -> dict[str, object]:
        """Return what the arm consists of, as plain data; its hash is :attr:`id`."""
        return {
            "strategy": self.strategy,
            "models": {role: self.models[role].fields() for role in self.roles},
            "settings": self.settings,
        }
