"""English names of the languages that dialogues are likely to be written in."""

from __future__ import annotations

from typing import Final

_NAMES: Final = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "ga": "Irish", "gl": "Galician", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "kn": "Kannada",
    "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ml": "Malayalam", "mr": "Marathi",
    "ms": "Malay", "nb": "Norwegian", "nl": "Dutch", "no": "Norwegian", "pa": "Punjabi",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "yo": "Yoruba", "yue": "Cantonese",
    "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip


_SIGNS_ARE_WORDS: Final = frozenset({"ja", "wuu", "yue", "zh"})


def writing_note(described: str) -> str:
    """Return what whoever writes in a language has to be told; nothing of English.

    Rules for lines count words, which Chinese and Japanese do not separate, and fixed lines call
    the other by one of the forms of address that English does not have.

    Args:
        described: what :func:`described_language` returns.
    """
    code = described.partition(" ")[0].partition("-")[0]
    if code == "en":
        return ""
    counted = " Where words are counted, two signs are a word." if code in _SIGNS_ARE_WORDS else ""
    return f"Keep to the form of address that was used so far.{counted}"


def described_language(code: str) -> str:
    """Return a BCP 47 code with its English name where it is known: ``de (German)``."""
    name = _NAMES.get(code.replace("_", "-").split("-")[0].casefold())
    return f"{code} ({name})" if name else code
