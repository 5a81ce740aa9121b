"""The texts of nested plain data, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenarios.located import Step


def nested_texts(
    value: object, path: tuple[Step, ...] = ()
) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Yield every text at or below a value, with its path; keys of mappings are no texts."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from nested_texts(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from nested_texts(item, (*path, index))


def spaced(text: str) -> str:
    """Return a text with every run of white space as one space, as YAML folds it."""
    return " ".join(text.split())
