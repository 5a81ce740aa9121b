"""Word classes and phrases of the grammar, read once from data files."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import cast

import yaml

Tree = dict[str, dict[str, list[str]]]


@lru_cache(maxsize=8)
def load(name: str) -> dict[str, object]:
    """Return the content of one shipped data file."""
    text = (resources.files("pipeline.offline") / "data" / f"{name}.yaml").read_text("utf-8")
    return cast("dict[str, object]", yaml.load(text, Loader=_Loader))  # noqa: S506 - safe loader


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@lru_cache(maxsize=32)
def words(name: str) -> frozenset[str]:
    """Return one closed word class."""
    return frozenset(str(load("words")[name]).split())


def tree(name: str) -> Tree:
    """Return a data file of phrases in two levels, e.g. by veracity and act."""
    return cast("Tree", load(name))
