"""Prose for a terminal: lines end between words, whatever the width of the window."""

from __future__ import annotations

import shutil
import sys
import textwrap
import unicodedata


class _Visible(dict[int, str]):
    """What each character is shown as, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # Joiners and directional marks belong to the spelling of many languages.
        kept = char in "\n\t\u200c\u200d" or unicodedata.category(char) not in ("Cc", "Cf", "Cs")
        self[code] = char if kept else f"\\x{code:02x}"
        return self[code]


_VISIBLE = _Visible()


def harmless(text: str) -> str:
    """Return ``text`` with control characters made visible, so that it cannot drive a terminal."""
    return text.translate(_VISIBLE)


def terminal_width() -> int:
    """Return the columns of the window; 100 where there is none and ``COLUMNS`` is not set."""
    return shutil.get_terminal_size((100, 24)).columns


def wrapped(text: str, width: int) -> str:
    """Break lines that are too long between words; rows of tables stay as they are.

    A row is a line with two blanks in a row behind its first word. A line that goes on is indented
    as its first part is.
    """
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    prose = line.lstrip()
    if len(line) <= width or "  " in prose:
        return line
    indent = line[: len(line) - len(prose)]
    parts = textwrap.wrap(
        prose,
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(parts)


def write_text(text: str) -> None:
    """Print text for people: on a terminal broken between words, elsewhere as it is."""
    print(wrapped(harmless(text), terminal_width()) if sys.stdout.isatty() else text)
