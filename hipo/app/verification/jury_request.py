"""Which jurors are asked, and what, as a command says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prompts.tasks.modes import Mode
    from prompts.tasks.prompts import TaskPrompts

JUROR_TASK: Final = "cobra-juror"
JUROR_SCHEME: Final = "cobra"


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryRequest:
    """Who is asked, and what."""

    models: Sequence[str]
    """Jurors as ``provider/model``."""
    task: str = JUROR_TASK
    """A task by name or file."""
    mode: Mode | None = None
    """How it is asked; None: the first mode of the task."""
    scheme: str = JUROR_SCHEME
    """Whose labels are given, by id or file."""

    def name(self, model: str, prompts: TaskPrompts) -> str:
        """Return how labels are signed: the model, after whatever is not as usual."""
        unusual = [] if prompts.task.id == JUROR_TASK else [prompts.task.id]
        if prompts.mode != prompts.task.modes[0]:
            unusual.append(prompts.mode)
        return f"{'+'.join(unusual)}={model}" if unusual else model
