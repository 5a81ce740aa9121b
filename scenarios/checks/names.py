"""Check that placeholders are declared and used, and that no real name stands in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenarios.checks.checked_scenario import CheckedScenario, Place, all_texts
from scenarios.errors import Problem
from scenarios.located import shortened
from scenarios.spelling import suggestion

_BRACES = re.compile(r"\{([^{}]*)\}|[{}]")


def check_names(subject: CheckedScenario) -> Iterator[Problem]:
    """Find undeclared and unused placeholders, stray braces, and real names in the open."""
    placeholders = subject.template.placeholders
    used: set[str] = set()
    for path, text in all_texts(subject.template):
        for match in _BRACES.finditer(text):
            name = match.group(1)
            if name in placeholders:
                used.add(name)
                continue
            yield subject.error(
                path,
                f"{shortened(match.group())}, which no placeholder declares",
                "{name} of a declared placeholder, or no braces",
                hint=suggestion(name, placeholders, listing="placeholders") if name else "",
                code="placeholder",
            )
        if path[:1] != ("sources",):
            yield from _real_names(subject, path, text)
    for name, placeholder in placeholders.items():
        if name not in used:
            yield subject.warning(
                ("placeholders", name),
                f"the placeholder {name!r} that no text uses",
                "placeholders that are used",
                hint="remove it",
                code="unused-placeholder",
            )
        if placeholder.real is not None and _holds(placeholder.alias, placeholder.real):
            yield subject.error(
                ("placeholders", name, "alias"),
                "the real name",
                "a fictional alias",
                code="real-name",
            )
        for field in ("alias", "real"):
            if "{" in (getattr(placeholder, field) or ""):
                yield subject.error(
                    ("placeholders", name, field), "a brace", "a name", code="placeholder"
                )


def _real_names(subject: CheckedScenario, path: Place, text: str) -> Iterator[Problem]:
    for name, placeholder in subject.template.placeholders.items():
        if placeholder.real is not None and _holds(text, placeholder.real):
            yield subject.error(
                path,
                "a real name in the open",
                f"the placeholder {{{name}}}",
                hint="real names stand under placeholders only",
                code="real-name",
            )


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
