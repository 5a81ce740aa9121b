"""Which dialogues of which runs are asked for; :mod:`outputs.selecting.selection` finds them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

WantedVerdict = Literal["accepted", "any"]
Labels = Literal["adjudicated", "declared", "verifier"]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked for; None leaves a field unrestricted."""

    runs: tuple[Path, ...]
    """Folders of runs."""
    verdict: WantedVerdict = "accepted"
    """``any`` takes every generated dialogue, whatever was decided on it."""
    scenarios: tuple[str, ...] | None = None
    """Ids, categories, globs or ``tag:...``."""
    goals: tuple[str, ...] | None = None
    strategies: tuple[str, ...] | None = None
    arms: tuple[str, ...] | None = None
    """Ids of arms, or beginnings of them."""
    languages: tuple[str, ...] | None = None
    labels: Labels = "adjudicated"
    """``adjudicated`` puts what an expert decided in review in place of what was declared, and what
    most people say where nothing was; ``verifier`` takes what a program found that checks what is said,
    and no other labels."""
    newest: bool = False
    """Whether, of a scenario whose text was changed while a run was made, dialogues of its newest text
    alone are asked for."""
