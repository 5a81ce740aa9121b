"""Read untrusted YAML safely: plain data, the line of every node, and one clear error each time.

The reading is that of the YAML 1.2 core schema: ``yes``, ``no``, ``None`` and dates stay text, and
the keys of mappings are always text. What a scenario does not need is refused: tags of any
language, merge keys, keys that are no plain text, several documents, numbers without end.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from yaml import events

from scenarios.errors import InputError, Problem
from scenarios.located import Located, Step, dotted, shortened
from scenarios.located_validation import validate_model
from scenarios.text_file import read_text, shown_path

__all__ = ["Located", "read_yaml", "read_yaml_text", "validate_model"]

MAX_DEPTH = 40
MAX_NODES = 100_000
"""Nodes of one file after every alias is written out."""
MAX_ALIASES = 200
MAX_CHARACTERS = 20_000
"""Of one text. The longest that ships has a tenth of it; and what takes a text apart, word by word
or by its meaning, takes its time by its length."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_UNPRINTABLE = re.compile(
    r"[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_HAN = "\u3000-\u30ff\u3400-\u9fff\uff01-\uff60"
_QUOTES = "\u2014\u2018-\u201d\u2026"
_GAP = re.compile(rf"(?<=[{_HAN}]) (?=[{_HAN}{_QUOTES}])|(?<=[{_QUOTES}]) (?=[{_HAN}])")
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})


def read_yaml(path: Path, *, within: Path | None = None) -> Located:
    """Read one YAML file of at most 1 MiB.

    Args:
        path: the file.
        within: a directory that the file, once links are followed, must not lie outside of.

    Raises:
        InputError: the file cannot be read, or is not plain, bounded YAML; one problem with its line.
    """
    return read_yaml_text(read_text(path, within=within), shown_path(path))


def read_yaml_text(text: str, file: str) -> Located:
    """Read YAML from a string; ``file`` is the name that errors show.

    Raises:
        InputError: the text is not plain, bounded YAML; one problem with its line.
    """
    reader = _EventReader(file)
    try:
        data = reader.document(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        found = " ".join(str(error.problem or error.context or "broken YAML").split())
        raise _refused(
            file,
            None if mark is None else mark.line + 1,
            f"broken YAML ({found})",
            "YAML",
            'check the indentation, and put texts with ": " or " #" in quotes',
        ) from None
    except yaml.YAMLError as error:
        line = _line_of_bad_character(text)
        found = " ".join(str(error).split())[:120]
        raise _refused(file, line, f"broken YAML ({found})", "printable text") from None
    return Located(data=data, file=file, lines=reader.lines)


def _refused(file: str, line: int | None, found: str, expected: str, hint: str = "") -> InputError:
    return InputError([Problem(file, line, "", found, expected, hint, "yaml")])


def _line_of_bad_character(text: str) -> int | None:
    bad = _UNPRINTABLE.search(text)
    return None if bad is None else text.count("\n", 0, bad.start()) + 1


def _joined(event: events.ScalarEvent) -> str:
    """Return a text without the spaces that YAML has for line breaks where none belongs.

    Chinese and Japanese write no spaces: a text of several lines is one without gaps.
    """
    text: str = event.value
    if text.isascii() or event.style == "|":
        return text
    first, last = event.start_mark, event.end_mark
    if first is None or last is None or first.line == last.line:
        return text
    return _GAP.sub("", text)


def _line(event: events.Event) -> int:
    return 0 if event.start_mark is None else event.start_mark.line + 1


@dataclass(slots=True)
class _Anchor:
    value: object
    size: int


@dataclass(slots=True)
class _EventReader:
    """Builds data from parser events, so that limits hold before anything grows."""

    file: str
    lines: dict[tuple[Step, ...], int] = field(default_factory=dict)
    anchors: dict[str, _Anchor | None] = field(default_factory=dict)
    nodes: int = 0
    aliases: int = 0

    def document(self, stream: Iterator[events.Event]) -> object:
        """Return the data of the only document of the stream."""
        next(stream)
        first = next(stream)
        if isinstance(first, events.StreamEndEvent):
            raise _refused(self.file, None, "an empty file", "a mapping of fields")
        data = self.node(next(stream), stream, ())
        next(stream)
        after = next(stream)
        if isinstance(after, events.DocumentStartEvent):
            raise self.refused(after, "a second document", "one document", "remove the line ---")
        return data

    def refused(self, event: events.Event, found: str, expected: str, hint: str = "") -> InputError:
        return _refused(self.file, _line(event), found, expected, hint)

    def count(self, event: events.Event, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            found = f"more than {MAX_NODES} values once aliases are written out"
            raise self.refused(event, found, f"at most {MAX_NODES}")

    def node(
        self, event: events.Event, stream: Iterator[events.Event], path: tuple[Step, ...]
    ) -> object:
        """Build the node that begins with ``event``; ``path`` is where it stands."""
        self.lines.setdefault(path, _line(event))
        if isinstance(event, events.AliasEvent):
            return self.alias(event)
        if len(path) > MAX_DEPTH:
            raise self.refused(event, f"more than {MAX_DEPTH} levels", "a flatter file")
        before = self.nodes
        self.count(event, 1)
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self.anchors[anchor] = None
        value = self.content(event, stream, path)
        if anchor is not None:
            self.anchors[anchor] = _Anchor(value, self.nodes - before)
        return value

    def content(
        self, event: events.Event, stream: Iterator[events.Event], path: tuple[Step, ...]
    ) -> object:
        if isinstance(event, events.ScalarEvent):
            return self.scalar(event)
        if isinstance(event, events.SequenceStartEvent):
            self.only_tag(event, event.tag, "seq")
            return self.sequence(stream, path)
        if isinstance(event, events.MappingStartEvent):
            self.only_tag(event, event.tag, "map")
            return self.mapping(stream, path)
        raise self.refused(event, "a broken structure", "YAML")

    def alias(self, event: events.AliasEvent) -> object:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise self.refused(event, f"more than {MAX_ALIASES} aliases", "the values written out")
        if event.anchor not in self.anchors:
            raise self.refused(event, f"the alias *{event.anchor}", "an anchor before it")
        anchor = self.anchors[event.anchor]
        if anchor is None:
            raise self.refused(event, f"the alias *{event.anchor} inside itself", "a finite value")
        self.count(event, anchor.size)
        return copy.deepcopy(anchor.value)

    def sequence(self, stream: Iterator[events.Event], path: tuple[Step, ...]) -> list[object]:
        items: list[object] = []
        while not isinstance(event := next(stream), events.SequenceEndEvent):
            items.append(self.node(event, stream, (*path, len(items))))
        return items

    def mapping(self, stream: Iterator[events.Event], path: tuple[Step, ...]) -> dict[str, object]:
        items: dict[str, object] = {}
        while not isinstance(event := next(stream), events.MappingEndEvent):
            key = self.key(event)
            line = _line(event)
            here = (*path, key)
            if key in items:
                raise InputError(
                    [
                        Problem(
                            file=self.file,
                            line=line,
                            field=dotted(here),
                            found=f"{shortened(key)} twice, on lines {self.lines[here]} and {line}",
                            expected="every key once",
                            hint="remove one of the two",
                            code="duplicate-key",
                        )
                    ]
                )
            self.lines[here] = line
            items[key] = self.node(next(stream), stream, here)
        return items

    def key(self, event: events.Event) -> str:
        if not isinstance(event, events.ScalarEvent):
            raise self.refused(event, "a key that is a list, a mapping or an alias", "text")
        self.only_tag(event, event.tag, "str")
        self.count(event, 1)
        self.bounded(event)
        if event.value == "<<" and event.implicit[0]:
            raise self.refused(event, "the merge key <<", "the fields written out")
        return event.value

    def only_tag(self, event: events.Event, tag: str | None, wanted: str) -> None:
        if tag not in (None, "!", _TAG + wanted):
            found = f"the tag {shortened(str(tag).replace(_TAG, '!!'))}"
            raise self.refused(event, found, "plain data", "remove the tag")

    def bounded(self, event: events.ScalarEvent) -> None:
        if len(event.value) > MAX_CHARACTERS:
            found = f"a text of {len(event.value)} characters"
            raise self.refused(event, found, f"at most {MAX_CHARACTERS}", "shorten it")

    def scalar(self, event: events.ScalarEvent) -> object:
        self.bounded(event)
        text = _joined(event)
        if event.tag is None and event.implicit[0]:
            return self.plain(event, text)
        self.only_tag(event, event.tag, "str")
        return text

    def plain(self, event: events.ScalarEvent, text: str) -> object:
        if text in _NULL:
            return None
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        if len(text) > 400 or text[0] not in "+-.0123456789":
            return text
        if _INT.fullmatch(text):
            number: float = int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        elif _FLOAT.fullmatch(text):
            number = float(text)
        else:
            return text
        if abs(number) > 1e300:
            raise self.refused(event, "a number beyond 1e300", "a smaller number or quoted text")
        if isinstance(number, int) and not -(2**63) <= number < 2**64:  # what JSON keeps exactly
            raise self.refused(
                event, "a whole number beyond 64 bits", "a smaller one or quoted text"
            )
        return number
