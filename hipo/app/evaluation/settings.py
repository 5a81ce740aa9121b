"""What an evaluation is asked for: of what, which tasks and modes, which models, within what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pipeline.recipes.recipe import Limits

DEFAULT_MAX_TOKENS: Final = 1024
REPEATED: Final = 100
"""Items that are asked about several times, where that is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """Everything an evaluation is asked for."""

    source: str = ""
    """A set, a run, or ``gold``."""
    tasks: Sequence[str] = ()
    """Names or files."""
    models: Sequence[str] = ()
    """``provider/name``."""
    modes: Sequence[str] = ()
    """None: the first mode of each task."""
    examples: Path | None = None
    """A file of worked examples for the mode ``icl``; None: what ships for the scheme."""
    scheme: str | None = None
    """Of the labels of a set without manifest."""
    any_verdict: bool = False
    """Of a run, every dialogue instead of the accepted ones."""
    only: str | None = None
    """A file of items, or the run of a quiz: no other item is asked about. None: all."""
    n: int | None = None
    """Items per task, drawn evenly over the classes of ``balance``; None: all."""
    balance: str | None = None
    """A dimension; None: the goal, or else the first that every item has a label of."""
    seed: int = 0
    """Of the draw of items, of worked examples, and of the models."""
    repeat: int = 1
    """How often up to ``REPEATED`` items are asked about, to see how often answers change."""
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    """None: 0."""
    max_tokens: int | None = None
    structured: str | None = None
    limits: Limits = field(default_factory=Limits)
    budget_usd: float | None = None
    budget_tokens: int | None = None
    prices: Path | None = None
    prompt_dir: Path | None = None
    plugins: Sequence[Path] = ()
    retry_failed: bool = False
    keep_going: bool = False
    """Go on though nothing that a model says can be read: such answers are wrong."""
