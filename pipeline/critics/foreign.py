"""A critic that a plugin brings: what it returns is looked at before anything follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.calls.asking import TurnTask
from pipeline.critics.registry import CRITICS, Critic
from pipeline.expected_calls import ArmParts
from scenarios.dialogue import Critique, Draft
from scenarios.extensions import told_of_plugin
from scenarios.foreign_records import checked_records


@dataclass(frozen=True, slots=True)
class ForeignCritic:
    """Criticises as a critic of a plugin does; what is no list of critiques fails the case."""

    name: str
    critic: Critic

    async def critique(self, task: TurnTask, draft: Draft, revision: int) -> tuple[Critique, ...]:
        """Return what is wrong with a draft.

        Raises:
            TypeError: a critique is none, or a field of it is of another type.
        """
        found = await self.critic.critique(task, draft, revision)
        return checked_records(Critique, found, f"the critic {self.name!r}")


def built_critic(name: str, parts: ArmParts) -> Critic:
    """Return the critic of that name; what one of a plugin returns is looked at."""
    with told_of_plugin(CRITICS, name):
        critic = CRITICS.get(name).build(parts)
        if not hasattr(critic, "critique"):
            raise TypeError(f"it built {critic!r:.100}, expected an object with critique")
    return critic if name in CRITICS.shipped else ForeignCritic(name, critic)
