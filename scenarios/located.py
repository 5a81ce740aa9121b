"""Data read from a file, with the line of every part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scenarios.errors import Problem, Severity

Step = str | int
"""A key of a mapping or an index of a list."""


@dataclass(frozen=True, slots=True)
class Located:
    """The data of one file and the lines (from 1) of its nodes, keyed by their path."""

    data: object
    file: str
    lines: Mapping[tuple[Step, ...], int] = field(default_factory=dict)

    def line(self, path: Sequence[Step]) -> int | None:
        """Return the line of the node at ``path``, or of its nearest parent that exists."""
        steps = tuple(path)
        for length in range(len(steps), -1, -1):
            if steps[:length] in self.lines:
                return self.lines[steps[:length]]
        return None

    def problem(
        self,
        path: Sequence[Step],
        *,
        found: str,
        expected: str,
        hint: str = "",
        code: str = "invalid",
        severity: Severity = "error",
    ) -> Problem:
        """Build a problem that points at the node at ``path``."""
        return Problem(
            file=self.file,
            line=self.line(path),
            field=dotted(path),
            found=found,
            expected=expected,
            hint=hint,
            code=code,
            severity=severity,
        )


def dotted(path: Sequence[Step]) -> str:
    """Write a path the way people do: ``facts[2].owner``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{shortened(step)}]"
    return text


def shortened(value: object, limit: int = 60) -> str:
    """Describe a value in at most about ``limit`` characters, containers by their size."""
    if isinstance(value, Mapping):
        keys = [repr(str(key)[:20])[1:-1][:20] for key in list(value)[:4]]
        more = ["..."] * (len(value) > 4)
        return f"a mapping ({', '.join(keys + more)})" if value else "a mapping without fields"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None:
        return "nothing"
    if not isinstance(value, str):
        return repr(value)
    quoted = repr(value[: limit + 1])  # signs that do not print grow by their escapes
    return quoted if len(quoted) <= limit + 2 else f"{quoted[: limit - 2]}...{quoted[0]}"
