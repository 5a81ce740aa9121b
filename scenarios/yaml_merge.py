"""Change values in the text of a YAML file, and leave everything else as it is written.

Comments, order, quotes and line breaks stay wherever a value stays. A value that changed is written
anew in its place, and so is a list or a mapping on one line of which a part changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, SequenceNode

from scenarios.errors import UsageError
from scenarios.yaml_source import read_yaml_text
from scenarios.yaml_text import emitted

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def merged_yaml(text: str, data: Mapping[str, Any], file: str) -> str:
    """Return the text of a file with the values that ``data`` has.

    Args:
        text: a YAML file, a mapping of fields.
        data: everything the file is to hold; a field that is missing is taken out.
        file: its name, for errors.

    Raises:
        InputError: the text is no plain YAML.
        UsageError: it is written in a way that cannot be changed in place.
    """
    before = read_yaml_text(text, file).data
    if before == data:
        return text
    node = yaml.compose(text, Loader=_LOADER)
    written = None
    if isinstance(before, dict) and isinstance(node, MappingNode) and not node.flow_style:
        lines = text.split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        written = "\n".join(_LineMerge(lines).mapping(node, before, data, 0, len(lines))) + "\n"
    if written is None or read_yaml_text(written, file).data != data:
        raise UsageError(
            f"{file} is written in a way that cannot be changed in place",
            "edit it with an editor, or write out what stands in braces, anchors and aliases",
        )
    return written


class _LineMerge:
    """Rewrites line by line; every node in block style owns the lines from the end of the one before."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def mapping(
        self,
        node: MappingNode,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        start: int,
        stop: int,
    ) -> list[str]:
        """Return the lines of a mapping in block style.

        Args:
            node: where its parts stand.
            before: what it holds.
            after: what it is to hold.
            start: the first line that belongs to it; comments before the first key do.
            stop: the line after its last.
        """
        out: list[str] = []
        at = start
        indent = node.value[0][0].start_mark.column if node.value else 0
        for key, value in node.value:
            end = self._end(value)
            name = str(key.value)
            if name in after:
                head = self._lines[at : key.start_mark.line]
                out += head + self._entry(key, value, before[name], after[name], end)
            at = end
        for name in after:
            if name not in before:
                out += emitted({name: after[name]}, indent)
        return out + self._lines[at:stop]

    def _entry(self, key: Node, value: Node, before: Any, after: Any, end: int) -> list[str]:
        line = key.start_mark.line
        if before == after:
            return self._lines[line:end]
        inside = self._inside(value, before, after, line + 1, end)
        if inside is not None:
            return [self._lines[line], *inside]
        indent = key.start_mark.column
        fresh = emitted({str(key.value): after}, indent)
        return [self._lines[line][:indent] + fresh[0][indent:], *fresh[1:]]

    def _inside(
        self, value: Node, before: Any, after: Any, start: int, end: int
    ) -> list[str] | None:
        """Return the lines below a key or a dash; None where the value has to be written anew."""
        if not isinstance(value, CollectionNode) or value.flow_style or not after:
            return None
        if value.start_mark.line < start:
            return None
        if isinstance(value, MappingNode) and isinstance(after, Mapping):
            return self.mapping(value, before, after, start, end)
        if isinstance(value, SequenceNode) and isinstance(after, list):
            return self._sequence(value, before, after, start, end)
        return None

    def _sequence(
        self, node: SequenceNode, before: Sequence[Any], after: Sequence[Any], start: int, stop: int
    ) -> list[str]:
        indent = node.start_mark.column
        spans: list[tuple[int, int]] = []
        at = start
        for item in node.value:
            spans.append((at, self._end(item)))
            at = spans[-1][1]
        origins = _origins(before, after)
        out: list[str] = []
        if origins and origins[0] != 0:
            first, _ = spans[0]
            out += self._lines[first : self._dash(node, 0, spans[0], indent)]
        for value, origin in zip(after, origins, strict=True):
            if origin is None:
                out += emitted([value], indent)
                continue
            begin, end = spans[origin]
            dash = self._dash(node, origin, spans[origin], indent)
            if origin or not out:
                out += self._lines[begin:dash]
            out += self._item(node.value[origin], (before[origin], value), (dash, end), indent)
        return out + self._lines[at:stop]

    def _dash(self, node: SequenceNode, index: int, span: tuple[int, int], indent: int) -> int:
        """Return the line of the dash of an item."""
        begin, end = span
        for number in range(begin, end):
            if self._lines[number][indent : indent + 1] == "-":
                return number
        return int(node.value[index].start_mark.line)

    def _item(
        self, item: Node, change: tuple[Any, Any], span: tuple[int, int], indent: int
    ) -> list[str]:
        before, after = change
        dash, end = span
        if before == after:
            return self._lines[dash:end]
        if (
            not isinstance(item, MappingNode)
            or not isinstance(after, Mapping)
            or item.flow_style
            or item.start_mark.line != dash
            or not after
        ):
            return emitted([after], indent)
        line = self._lines[dash]
        self._lines[dash] = line[:indent] + " " + line[indent + 1 :]
        lines = self.mapping(item, before, after, dash, end)
        self._lines[dash] = line
        first = next((i for i, text in enumerate(lines) if text.strip()[:1] not in ("", "#")), 0)
        return [
            *lines[:first],
            lines[first][:indent] + "-" + lines[first][indent + 1 :],
            *lines[first + 1 :],
        ]

    def _end(self, node: Node) -> int:
        """Return the line after the last one of a node, trailing blank lines and comments apart."""
        if isinstance(node, CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end(last[1] if isinstance(node, MappingNode) else last)
        mark = node.end_mark
        end = mark.line + (1 if mark.column or mark.line == node.start_mark.line else 0)
        while end > node.start_mark.line + 1 and not self._lines[end - 1].strip():
            end -= 1
        return end


def _origins(before: Sequence[Any], after: Sequence[Any]) -> list[int | None]:
    """Return for every new item the old one that it was: the same, of the same id, or in its place."""
    free = dict(enumerate(before))
    found: list[int | None] = [None] * len(after)
    for same in (_is_equal, _has_its_id):
        for place, value in enumerate(after):
            if found[place] is None:
                match = next((i for i, old in free.items() if same(old, value)), None)
                if match is not None:
                    found[place] = match
                    del free[match]
    for place, value in enumerate(after):
        if found[place] is None and place in free and type(free[place]) is type(value):
            found[place] = place
            del free[place]
    return found


def _is_equal(old: Any, new: Any) -> bool:
    return bool(old == new)


def _has_its_id(old: Any, new: Any) -> bool:
    named = isinstance(old, Mapping) and isinstance(new, Mapping) and "id" in old
    return named and old["id"] == new.get("id")
