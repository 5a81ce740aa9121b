"""The judges that ship, and those of plugins."""

from __future__ import annotations

from typing import Final

from quality.judges.protocol import JudgeExtension
from scenarios.extensions import ExtensionPoint

JUDGES: Final[ExtensionPoint[JudgeExtension]] = ExtensionPoint(
    "judge",
    JudgeExtension,
    {
        "self": "quality.judges.blind_judge:SELF",
        "external": "quality.judges.blind_judge:EXTERNAL",
        "self-dialogue": "quality.judges.dialogue_judge:SELF",
        "external-dialogue": "quality.judges.dialogue_judge:EXTERNAL",
        "verifier": "quality.judges.verifying_judge:JUDGE",
    },
)
"""Every judge by its name."""
