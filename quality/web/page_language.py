"""Pages in another language: texts between tags are looked up in a file of pairs.

Templates are written in English, and so is what the program says. What a page shows of people's
words, and of dialogues, carries ``translate="no"`` or a ``lang`` of its own: it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape
from pathlib import Path
from typing import Final

from scenarios.located_validation import validate_model
from scenarios.nested_texts import spaced
from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml

_TAG: Final = re.compile(r"(<[^>]*>)")
_NAME: Final = re.compile(r"</?([a-zA-Z0-9]+)")
_ATTRIBUTE: Final = re.compile(r'\b(aria-label|title|placeholder|data-label|data-submit)="([^"]*)"')
_KEPT: Final = re.compile(r'\slang="|\stranslate="no"')
_BLANK: Final = re.compile(r"\{(\w+)\}")
_VOID: Final = frozenset({"meta", "link", "input", "br", "hr", "img"})
_VERBATIM: Final = frozenset({"script", "style", "textarea", "kbd", "code"})
DEEPEST: Final = 3
"""How often what stands in the place of a blank may hold blanks itself."""

FEWEST_LETTERS: Final = 4
"""Fixed letters a text with blanks has; with fewer, all that stands in the blanks has to be known."""


class _TextPairsFile(Strict):
    """A file of pairs."""

    language: str
    name: str
    texts: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A text with blanks, taken apart."""

    fixed: tuple[str, ...]
    """What stands before, between and after the blanks; empty where nothing does."""
    names: tuple[str, ...]
    """Of the blanks, in the order of the text."""
    into: str
    """The translation."""
    is_loose: bool
    """Whether so few letters are fixed, as in "or", that any sentence may fit."""

    def blanks(self, said: str) -> dict[str, str] | None:
        """Return what stands in each blank, by name; None where ``said`` does not fit.

        A blank holds at least one character, and each as few as can be. The fixed parts are looked
        for once, one after the other: a text that anybody wrote, however it repeats them, takes a
        time in proportion to its length.
        """
        first, *middle, last = self.fixed
        if not said.startswith(first):
            return None
        start = len(first)
        found = []
        for part in middle:
            end = said.find(part, start + 1)
            if end < 0:
                return None
            found.append(said[start:end])
            start = end + len(part)
        end = len(said) - len(last)
        if end <= start or not said.endswith(last):
            return None
        return dict(zip(self.names, (*found, said[start:end]), strict=True))


@dataclass(frozen=True)
class PageLanguage:
    """The texts of pages in one language."""

    code: str
    """BCP 47."""
    name: str
    """What the language calls itself."""
    texts: Mapping[str, str]
    """English -> translation; ``{name}`` in both stands for what varies."""

    def of(self, text: str, depth: int = 0) -> str:
        """Return a text in this language; the text itself where there is no translation."""
        plain = spaced(text)
        known = self.texts.get(plain)
        if known is not None:
            return known
        if depth >= DEEPEST or not plain:
            return text
        for pattern in self._patterns:
            said = pattern.blanks(plain)
            if said is None:
                continue
            values = {name: self.of(value, depth + 1) for name, value in said.items()}
            if not pattern.is_loose or all(_is_known(said[name], values[name]) for name in said):
                return _filled(pattern.into, values)
        return text

    def page(self, html: str) -> str:
        """Return a rendered page in this language."""
        html = html.replace('<html lang="en">', f'<html lang="{self.code}">', 1)
        return "".join(self._pieces(_TAG.split(html)))

    def with_texts(self, more: Mapping[str, str]) -> PageLanguage:
        """Return the language with further texts; those of pages go first."""
        return PageLanguage(self.code, self.name, {**more, **self.texts})

    @cached_property
    def _patterns(self) -> list[_Pattern]:
        """Texts with blanks, those with the most fixed words first."""
        varying = [text for text in self.texts if _BLANK.search(text)]
        varying.sort(key=lambda text: -len(_BLANK.sub("", text)))
        return [_pattern(text, self.texts[text]) for text in varying]

    def _pieces(self, pieces: Iterable[str]) -> Iterator[str]:
        inside: list[str] = []
        """Names of the open elements from the one on that is kept as it is."""
        for piece in pieces:
            if not piece.startswith("<"):
                yield piece if inside else self._text(piece)
                continue
            name = _NAME.match(piece)
            tag = name[1].lower() if name else ""
            if inside:
                if tag == inside[0]:
                    inside = inside[:-1] if piece.startswith("</") else [*inside, tag]
            elif tag and not piece.startswith("</") and tag not in _VOID and tag != "html":
                inside = [tag] if tag in _VERBATIM or _KEPT.search(piece) else []
            yield _ATTRIBUTE.sub(self._attribute, piece)

    def _text(self, piece: str) -> str:
        plain = unescape(piece)
        if not plain.strip():
            return piece
        lead = plain[: len(plain) - len(plain.lstrip())]
        tail = plain[len(plain.rstrip()) :]
        return escape(f"{lead}{self.of(plain.strip())}{tail}", quote=False)

    def _attribute(self, found: re.Match[str]) -> str:
        return f'{found[1]}="{escape(self.of(unescape(found[2])))}"'


def read_page_language(path: Path) -> PageLanguage:
    """Read a file of pairs.

    Raises:
        InputError: it is none.
    """
    file = validate_model(_TextPairsFile, read_yaml(path))
    texts = {spaced(text): into for text, into in file.texts.items()}
    return PageLanguage(file.language, file.name, texts)


def accepted(header: str, known: Iterable[str]) -> str | None:
    """Return the language of a browser (``Accept-Language``) that comes first and is known."""
    codes = list(known)
    for part in header.split(","):
        wanted = part.partition(";")[0].strip().casefold()
        if wanted.partition("-")[0] == "en":
            return None
        for code in codes:
            if wanted == code.casefold() or wanted.startswith(f"{code.casefold()}-"):
                return code
    return None


def _pattern(text: str, into: str) -> _Pattern:
    parts = _BLANK.split(text)  # the names stand between what is fixed
    fixed = tuple(parts[::2])
    is_loose = sum(map(str.isalpha, "".join(fixed))) < FEWEST_LETTERS
    return _Pattern(fixed, tuple(parts[1::2]), into, is_loose)


def _is_known(said: str, translated: str) -> bool:
    return translated != said or not any(map(str.isalpha, said))


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _BLANK.sub(lambda blank: values.get(blank[1], blank[0]), text)
