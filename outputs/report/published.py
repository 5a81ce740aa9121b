"""Published figures of other corpora, shown beside a run of the same scheme and version."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from scenarios.schemes.model import Scheme
from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml

_FILE = Path(__file__).parent / "data" / "published.yaml"


class CategoryNumbers(Strict):
    """The size of one category."""

    scenarios: int
    facts: int
    dialogues: int
    utterances: int


class Published(Strict):
    """The printed numbers of one corpus."""

    source: str
    categories: dict[str, CategoryNumbers] = Field(default_factory=dict)
    remarks: dict[str, str] = Field(default_factory=dict)
    """By dimension."""
    self_consistency: str = ""


def published(scheme: Scheme) -> Published | None:
    """Return what was printed about a corpus with this version of a scheme, if anything."""
    data = read_yaml(_FILE).data
    numbers = data.get(scheme.name) if isinstance(data, dict) else None
    return None if numbers is None else Published.model_validate(numbers)
