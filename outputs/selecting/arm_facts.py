"""What exports and reports know of an arm: who played in it, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.store.queries.status import ArmState
from scenarios.arms import IMPORTED


@dataclass(frozen=True, slots=True)
class ArmFacts:
    """Who played in an arm, and how."""

    id: str
    strategy: str
    models: Mapping[str, str]
    """``provider/model`` by role."""

    @property
    def model(self) -> str:
        """The model that speaks the labelled utterances."""
        return self.models.get("responder", "unknown")

    @property
    def is_imported(self) -> bool:
        """Whether its dialogues were brought in from a file: of its models at most a name is known."""
        return self.strategy == IMPORTED


def arm_facts(state: ArmState) -> ArmFacts:
    """Return what is known of the arm of a run."""
    models = {role: model.name for role, model in state.arm.models.items()}
    return ArmFacts(state.id, state.arm.strategy, models)
