"""Write a file that a user begins: whatever is there already stays."""

from __future__ import annotations

from pathlib import Path

from scenarios.atomic_files import write_text
from scenarios.errors import UsageError
from scenarios.text_file import shown_path


def write_new(path: Path, text: str) -> Path:
    """Write a text to a file that must not exist, and return the file.

    Raises:
        UsageError: it exists, or cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise UsageError(f"{shown_path(path)} exists already", "take another id, or remove it")
    write_text(path, text)
    return path
