"""Whether the fields of a plugin's extension hold what its class says, found out by its annotations."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from types import UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints


class _ModuleNames(dict[str, Any]):
    """The names of a module; one that is imported for type checkers alone stands for anything."""

    def __missing__(self, name: str) -> object:
        return Any


def wrong_fields(extension: object, kind: type[Any]) -> Iterator[tuple[str, object, str]]:
    """Yield (field, value, what is expected) of the fields of an extension that its class does not allow.

    Args:
        extension: an instance of ``kind``.
        kind: the class of the extensions of a point, with annotated fields.
    """
    module = vars(sys.modules[kind.__module__])
    hints = get_type_hints(kind, module, _ModuleNames(vars(builtins) | module))
    for field, hint in hints.items():
        value = getattr(extension, field, None)
        if get_origin(hint) is not ClassVar and not _fits(value, hint):
            yield field, value, _told(hint) or str(kind.__annotations__[field])


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type, elements of tuples and sets included."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin in (tuple, frozenset):
        each = parts[0] if origin is frozenset or parts[-1] is ... else Any
        return isinstance(value, origin) and all(_fits(one, each) for one in value)
    if origin is Literal:
        return value in parts
    if origin is type:
        return isinstance(value, type) and issubclass(value, _class_of(parts[0]))
    return isinstance(value, _class_of(float | int if hint is float else origin or hint))


def _told(hint: Any) -> str:
    """Say which class is wanted where the annotation names it by a variable; else nothing."""
    if get_origin(hint) is not type:
        return ""
    base = _class_of(get_args(hint)[0])
    return f"a class derived from {base.__module__}.{base.__name__}"


def _class_of(hint: Any) -> Any:
    """Return what ``isinstance`` takes for a type; ``object`` for one that says nothing."""
    hint = getattr(hint, "__bound__", hint)
    return hint if isinstance(hint, type | UnionType) and hint is not Any else object
