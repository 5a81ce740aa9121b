"""Codes of languages, spelled in one way: what differs in capitals alone is one language."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator

from scenarios.errors import UsageError

_CODE: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


def spelled_code(language: str) -> str:
    """Return a code as it is commonly written: ``en``, ``en-GB``, ``zh-Hant``.

    Capitals mean nothing in a code (BCP 47, section 2.1.1), and an underscore is a hyphen. What is no
    code stays as it is.
    """
    if not _CODE.fullmatch(language):
        return language
    first, *others = re.split("[-_]", language.lower())
    private = next((i for i, part in enumerate(others) if len(part) == 1), len(others))
    return "-".join([first, *map(_spelled, others[:private]), *others[private:]])


LanguageCode = Annotated[str, AfterValidator(spelled_code)]
"""The field of a record that holds one."""


def check_code(language: str) -> None:
    """Do nothing where a language is named as BCP 47 does.

    Raises:
        UsageError: it is not, as in ``German``.
    """
    if not _CODE.fullmatch(language):
        raise UsageError(
            f"{language!r} is no code of a language",
            "write de for German, zh for Chinese, en-GB for English as in Britain (BCP 47)",
        )


def _spelled(part: str) -> str:
    """Spell what follows the language: a region in capitals, a script with one."""
    if len(part) == 4 and part.isalpha():
        return part.capitalize()
    return part.upper() if len(part) == 2 else part
