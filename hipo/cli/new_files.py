"""Write a file that a user begins: whatever is there already stays."""

from __future__ import annotations

from pathlib import Path

from scenarios.errors import UsageError
from scenarios.text_file import shown_path


def write_new(path: Path, text: str) -> Path:
    """Write a text to a file that must not exist, and return the file.

    Raises:
        UsageError: it exists, or cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise UsageError(f"{shown_path(path)} exists already", "take another id, or remove it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {shown_path(path)}: {error.strerror}") from None
    return path
