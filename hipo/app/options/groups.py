"""Under which heading the help of a command lists an option."""

from __future__ import annotations

from enum import StrEnum


class OptionGroup(StrEnum):
    """The headings, in the order in which a help has them; options without one come first."""

    SCENARIOS = "Scenarios"
    DIALOGUES = "Dialogues"
    STRATEGIES = "Strategies"
    TASKS = "Tasks"
    MODELS = "Models"
    LIMITS = "Limits"
    VERIFICATION = "Verification"
    JURORS = "Jurors"
    ROWS = "Rows"
    SPLITS = "Splits"
    CHECKS = "Checks"
    PUBLISHING = "Publishing"
    TRAINING = "Training"
    OUTPUT = "Output"
