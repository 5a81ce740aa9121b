"""The judges that ship, and those of plugins."""

from __future__ import annotations

from typing import Final

from quality.judges.protocol import JudgeExtension
from scenarios.extensions import ExtensionPoint

JUDGES: Final[ExtensionPoint[JudgeExtension]] = ExtensionPoint(
    "judge",
    JudgeExtension,
    {
        "self": "quality.judges.self_judge:JUDGE",
        "external": "quality.judges.external_judge:JUDGE",
    },
)
"""Every judge by its name."""
