"""In which order labels are listed, and which of them: by hash, so that no label gains by its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from math import factorial
from typing import Final

from prompts.tasks.items import TaskItem
from prompts.tasks.model import Options
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.schemes.model import Dimension, Label

ORDERS: Final = 4
"""In how many orders definitions are listed where they are shuffled: few, so that system messages
stay in the caches of endpoints."""


class OptionOrder:
    """In which order the labels of a dimension are listed for each item.

    It follows from what the item is drawn by, so that over many items every label stands in every
    place equally often. A scale keeps its order.
    """

    def __init__(self, dimension: Dimension) -> None:
        """Prepare what is the same for every item."""
        self._values = dimension.values
        self._is_scale = dimension.measurement == "ordinal"
        self._key = f"option order\x1f{dimension.id}\x1f"

    def of(self, draw_key: str) -> tuple[str, ...]:
        """Return the labels in the order for one item."""
        return self._values if self._is_scale else _permuted(self._values, self._key + draw_key)


def chosen_options(dimension: Dimension, options: Options, item: TaskItem) -> tuple[str, ...]:
    """Return the labels that are listed for an item that has options of its own, in their order.

    The right label is one of them; which others, and where it stands, follow from what it is drawn by.

    Raises:
        UsageError: the right label is not known, or is no label of the dimension.
    """
    right = (item.right or {}).get(dimension.id)
    if right not in dimension.values:
        raise UsageError(
            f"item {item.id!r} has no right label of {dimension.id}, and options are listed beside it",
            f"found {right!r}; labels: {', '.join(dimension.values)}",
        )
    others = _permuted(
        distractors_of(dimension, options, right),
        f"distractors\x1f{dimension.id}\x1f{item.draw_key}",
    )
    listed = {right, *others[: options.distractors]}
    in_order = tuple(label for label in dimension.values if label in listed)
    return _permuted(in_order, f"option order\x1f{dimension.id}\x1f{item.draw_key}")


def distractors_of(dimension: Dimension, options: Options, right: str) -> tuple[str, ...]:
    """Return the labels that may be listed beside the right one, in the order of the scheme."""
    by_id = {label.id: label for label in dimension.labels}
    return tuple(
        label.id
        for label in dimension.labels
        if label.id != right and next(broken_rules(options, by_id[right], label), None) is None
    )


def broken_rules(options: Options, right: Label, other: Label) -> Iterator[str]:
    """Yield the rules that forbid a label as an option beside the right one.

    Yields:
        ``within``, ``apart``, ``same role`` and the like, ``other face_act`` and the like, ``group``.
    """
    if options.within and not any({right.id, other.id} <= set(group) for group in options.within):
        yield "within"
    if any({right.id, other.id} <= set(group) for group in options.apart):
        yield "apart"
    for name in options.same_for:
        if set(right.applies.get(name, ())).isdisjoint(other.applies.get(name, ())):
            yield f"same {name}"
    for name in options.other_for:
        if not set(right.applies.get(name, ())).isdisjoint(other.applies.get(name, ())):
            yield f"other {name}"
    if options.scheme_groups and not set(right.group).isdisjoint(other.group):
        yield "group"


@lru_cache(maxsize=4096)
def label_order(draw_key: str) -> int:
    """Return in which of the ``ORDERS`` orders definitions are listed for an item.

    It follows from what the item is drawn by (of judges, the case), so that no label gains by its place
    in the whole corpus.
    """
    return seed_from("label order", draw_key) % ORDERS


def reordered(dimension: Dimension, order: int) -> Dimension:
    """Return a dimension with its labels listed in another order; order 0 is the scheme's.

    Every second order is the reverse of the one before, and later ones begin in the middle, so
    that over all orders labels share the first places. Ordinal labels keep theirs.
    """
    labels = dimension.labels
    if dimension.measurement != "nominal":
        return dimension
    middle = len(labels) // 2 if order // 2 % 2 else 0
    turned = (*labels[middle:], *labels[:middle])
    return dimension.model_copy(update={"labels": turned[::-1] if order % 2 else turned})


def _permuted(labels: tuple[str, ...], key: str) -> tuple[str, ...]:
    """Return labels in an order that follows from the key; every order is equally likely."""
    digest = sha256(key.encode("utf-8", "surrogatepass")).digest()
    # 256 bits are enough to draw evenly from the orders of fifty labels.
    return _permutation(labels, int.from_bytes(digest, "big") % factorial(len(labels)))


@lru_cache(maxsize=4096)
def _permutation(labels: tuple[str, ...], number: int) -> tuple[str, ...]:
    drawn = list(labels)
    for last in range(len(drawn) - 1, 0, -1):
        number, place = divmod(number, last + 1)
        drawn[last], drawn[place] = drawn[place], drawn[last]
    return tuple(drawn)
