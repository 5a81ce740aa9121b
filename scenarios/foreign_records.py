"""What extensions of plugins return, looked at before it is stored: records, and labels in them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cache
from types import GenericAlias
from typing import Any, TypeVar, cast

import orjson
from pydantic import ConfigDict, TypeAdapter, ValidationError

from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.terms import LabelValue

R = TypeVar("R")

_STRICT = ConfigDict(strict=True, revalidate_instances="always", allow_inf_nan=False)


def checked_record(kind: type[R], returned: object, who: str) -> R:
    """Return the record that an extension returned, if each field holds what it is declared to.

    Args:
        kind: the class it must be of.
        returned: the record.
        who: what returned it, e.g. ``the judge``.

    Raises:
        TypeError: it is no such record, or a field is of another type, NaN or infinite.
        ValueError: a text holds half a surrogate pair, which no database can.
    """
    try:
        _one_of(cast("Hashable", kind)).validate_python((returned,))
    except ValidationError as error:
        details = error.errors(include_url=False)
        wrong = details[0]["input"]
        about = [detail for detail in details if detail["input"] is wrong]
        # a union has several, and their paths end with the name of its member
        path = details[0]["loc"][1:-1] if len(about) > 1 else details[0]["loc"][1:]
        place = ".".join(map(str, path))
        if not place:
            raise TypeError(f"{who} returned {returned!r:.200}: not a {kind.__name__}") from None
        expected = " or ".join(d["msg"].removeprefix("Input should be ") for d in about)
        raise TypeError(
            f"{who} returned a {kind.__name__} with {wrong!r:.200} as {place}, not {expected}"
        ) from None
    try:
        orjson.dumps(returned, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError as error:
        raise ValueError(f"{who} returned what cannot be stored: {error}") from None
    return cast("R", returned)


def checked_records(kind: type[R], returned: object, who: str) -> tuple[R, ...]:
    """Return the records of a list or a tuple, each as :func:`checked_record` does."""
    if not isinstance(returned, list | tuple):
        raise TypeError(f"{who} returned {returned!r:.200}: not a list of {kind.__name__}")
    return tuple(checked_record(kind, one, who) for one in returned)


@cache
def _one_of(kind: Hashable) -> TypeAdapter[Any]:
    # of a tuple, as a dataclass alone takes no configuration from outside
    one: Any = GenericAlias(tuple, (kind,))
    return TypeAdapter(one, config=_STRICT)


def check_labels(
    scheme: Scheme, labels: Iterable[tuple[str, LabelValue | None]], who: str, *, others: bool
) -> None:
    """Do nothing where every label is one of its dimension, as the scheme spells it.

    Args:
        scheme: the labels there are.
        labels: dimensions with what they were given; None is no label.
        who: what named them, e.g. ``the judge``.
        others: whether dimensions that the scheme does not have are taken as they are.

    Raises:
        ValueError: a label is none of its dimension.
    """
    dimensions = {dimension.id: dimension for dimension in scheme.dimensions}
    for name, value in labels:
        dimension = dimensions.get(name)
        if value is None or (dimension is None and others):
            continue
        found = None if dimension is None else resolve_label(dimension, value)
        if found is None or found[1]:
            raise ValueError(
                f"{who} named {name} {value!r}, which the scheme {scheme.name} does not know"
            )
