"""Translations shown beside the original, read from one file of text pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from quality.web.page_language import PageLanguage, read_page_language
from scenarios.errors import InputError, Problem
from scenarios.json_lines import numbered_lines
from scenarios.located import shortened
from scenarios.nested_texts import spaced
from scenarios.schemes.model import Scheme
from scenarios.schemes.translation import shipped_translation, text_pairs

ORIGINAL = "original"
LANGUAGES = Path(__file__).parent / "languages"
"""The page itself in other languages."""
NAMES = {
    "zh": "Chinese", "de": "German", "es": "Spanish", "fr": "French", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese",
    "tr": "Turkish", "ar": "Arabic", "hi": "Hindi", "ru": "Russian", "uk": "Ukrainian",
}  # fmt: skip


class Translations:
    """Texts in other languages, looked up by the text they translate."""

    def __init__(self, texts: Mapping[str, Mapping[str, str]]) -> None:
        """Hold language code -> text -> translation."""
        self._texts = {code: dict(pairs) for code, pairs in texts.items()}

    @classmethod
    def load(cls, paths: Sequence[Path]) -> Translations:
        """Read files of JSON lines ``{"language", "text", "translation"}``.

        Raises:
            InputError: a file cannot be read; or lines are something else, and all are named.
        """
        texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
        problems: list[Problem] = []
        for path in paths:
            for number, line in numbered_lines(path, "give a file of JSON lines"):
                row = _row(line)
                if row is None:
                    problems.append(_problem(path, number, line))
                else:
                    language, text, translation = row
                    texts[language][spaced(text)] = translation
        if problems:
            raise InputError(problems)
        return cls(texts)

    @property
    def languages(self) -> dict[str, str]:
        """Code -> what the choice is called, the original first."""
        offered = {ORIGINAL: "English"}
        for code in sorted(self._texts):
            offered[code] = f"English + {NAMES.get(code, code)}"
        return offered

    def of(self, text: str, language: str | None) -> str:
        """Return the translation of a text; empty where there is none."""
        return self._texts.get(language or ORIGINAL, {}).get(spaced(text), "")


def page_languages(scheme: Scheme) -> dict[str, PageLanguage]:
    """Return the languages that the page itself ships in, with the texts of a scheme, by code."""
    found = [read_page_language(path) for path in sorted(LANGUAGES.glob("*.yaml"))]
    return {one.code: one.with_texts(_scheme_texts(scheme, one.code)) for one in found}


def _scheme_texts(scheme: Scheme, language: str) -> dict[str, str]:
    """Return the texts of a scheme in a language, its labels included; none where it has none.

    Labels of one name that mean different things in different questions, such as ratings, stay as
    they are: their definitions tell them apart.
    """
    translation = shipped_translation(scheme, language)
    if translation is None:
        return {}
    names: defaultdict[str, set[str]] = defaultdict(set)
    for dimension in scheme.dimensions:
        for value in dimension.values:
            names[value].add(translation.label(dimension.id, value))
    labels = {value: found.pop() for value, found in names.items() if len(found) == 1}
    titles = {
        name: translation.dimensions[dimension.id].title
        for dimension in scheme.dimensions
        for name in (dimension.id, dimension.id.replace("_", " "))
    }
    examples = {
        f"\u201c{label.example}\u201d": f"\u201c{into.strip(chr(0x201C) + chr(0x201D))}\u201d"
        for dimension in scheme.dimensions
        for label in dimension.labels
        if (into := translation.dimensions[dimension.id].labels[label.id].example)
    }
    return {**titles, **text_pairs(scheme, translation), **examples, **labels}


def missing(translations: Translations, language: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that have no translation into a language."""
    return [text for text in texts if not translations.of(text, language)]


def _row(line: bytes) -> tuple[str, str, str] | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(row, dict):
        return None
    values = [row.get(key) for key in ("language", "text", "translation")]
    language, text, translation = values
    if not (isinstance(language, str) and isinstance(text, str) and isinstance(translation, str)):
        return None
    return language, text, translation


def _problem(path: Path, number: int, line: bytes) -> Problem:
    return Problem(
        str(path),
        number,
        "",
        shortened(line.strip().decode("utf-8", "replace")),
        'a JSON object {"language", "text", "translation"}',
    )
