"""One row of ``results.jsonl``: what a model answered about an item, and what would be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from sys import intern
from typing import Annotated, Any, Final, Literal, TypeVar

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from scenarios.errors import InputError
from scenarios.json_lines import json_lines
from scenarios.located import Located
from scenarios.located_validation import validate_model
from scenarios.shared_parts import SharedParts

Shared = TypeVar("Shared", bound=Mapping[str, object] | tuple[str, ...])
Status = Literal["answered", "unreadable", "refused", "failed"]
"""``failed``: no answer came, so that nothing is known of the model. The others are answers."""
Fault = Literal["unreadable", "cut off", "unknown label", "not asked", "refused", "failed"]
"""Why there is no label: the status, or one of the answer's labels is none of the scheme's, or the
answer had as many tokens as it may before it came to the label."""
Mark = Literal["its own judge", "its own generator", "same grammar"]
"""The model that is evaluated had a hand in the references it is held against: it judged or wrote
the items, or belongs to the program that wrote them."""

RESULTS: Final = "results.jsonl"
"""The file of rows in the folder of an evaluation."""
NOT: Final = "not "
"""Begins a reference that rules one label out: ``not Quality`` is met by every other label."""

_PARTS = SharedParts(10_000)
_NOT_TOLD: Final[set[str]] = set()


def _once(value: Shared) -> Shared:
    """Return the equal value of an earlier row, if there is one: rows are many, and say the same."""
    parts = tuple(value.items() if isinstance(value, Mapping) else value)
    return _PARTS.once((type(value), parts), value)


Once = Annotated[Shared, AfterValidator(_once)]
Often = Annotated[str, AfterValidator(intern)]


class ResultRow(BaseModel):
    """What one model answered about one item of one task, in one mode, draw and repeat.

    Columns that it does not know are ignored, so that files of later versions, and files with
    columns of somebody's own, can be read.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    item: str = Field(min_length=1)
    """The id of the item; the same in every set that holds it."""
    task: Often = Field(min_length=1)
    mode: Often = Field(min_length=1)
    draw: int = Field(default=0, ge=0)
    """Which draw of worked examples was shown; 0 where none are."""
    repeat: int = Field(default=0, ge=0)
    """Which time of asking the same question this is, from 0. Only the first is scored."""
    model: Often = Field(min_length=1)
    """``provider/name``."""
    set: Often = ""
    """Fingerprint of the items, equal for evaluations of the same items."""
    scheme: Often = ""
    """Id and version of the scheme, e.g. ``hipo@2``."""
    case: Often = ""
    """Items of a case share words, so that they are no independent observations."""
    arm: Often = ""
    scenario: Often = ""
    category: Often = ""
    tags: Once[tuple[str, ...]] = ()
    """Of the scenario."""
    turn: int | None = None
    """Place of the utterance in its dialogue from 0; null where the item is a dialogue."""
    goal: Often | None = None
    strategy: Often = ""
    generator: Often = ""
    """The model that wrote the item."""
    split: Often = ""
    marks: tuple[Mark, ...] = ()
    max_tokens: int | None = None
    """The most tokens that the answer could have, where that was fewer than the model is asked with since;
    null: as the record says of the model."""
    reply: str | None = None
    """What the model wrote, as it wrote it; null where nothing came."""
    status: Status
    reason: str = ""
    """Why there are no labels, or not all of them, in words."""
    labels: Once[Mapping[str, str | None]] = {}
    """The label by dimension; null where the answer gives none that can be read."""
    raw: Once[Mapping[str, str]] = {}
    """What was written for a label, by dimension, where it differs from the label."""
    faults: Once[Mapping[str, Fault]] = {}
    """Why a label is null, by dimension."""
    harmonised: tuple[str, ...] = ()
    """Dimensions whose label was read through an alias of the scheme."""
    options: Mapping[str, Once[tuple[str, ...]]] = {}
    """The labels on offer by dimension, in the order that the model saw."""
    references: Mapping[str, Once[Mapping[str, str]]] = {}
    """By reference (declared, agreed, people, adjudicated, gold, swap) the right label by dimension.

    A dimension that a reference says nothing about is left out; so is an empty reference.
    """
    right: Mapping[str, Once[Mapping[str, bool]]] = {}
    """By reference and dimension, whether the label is right. Null labels are wrong; rows that
    failed have none."""

    def model_post_init(self, context: object, /) -> None:
        """Forget which fields were given: of each row this takes more memory than the row itself."""
        object.__setattr__(self, "__pydantic_fields_set__", _NOT_TOLD)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data, columns in the order of the file."""
        return self.model_dump(mode="json")

    def to_line(self) -> bytes:
        """Return the row as a line of JSON."""
        return orjson.dumps(self.to_dict()) + b"\n"


def is_right(label: str | None, reference: str) -> bool:
    """Return whether a label meets a reference: it is the same, or it is not the one ruled out."""
    if label is None:
        return False
    if reference.startswith(NOT):
        return label != reference.removeprefix(NOT)
    return label == reference


def result_row(data: object, file: str = "row", line: int | None = None) -> ResultRow:
    """Return the row that plain data holds.

    Args:
        data: an object of JSON.
        file: what errors call the file.
        line: where in the file it stands, from 1.

    Raises:
        InputError: it is no such row; every problem has its field, and what was expected.
    """
    located = Located(data, file, {} if line is None else {(): line})
    if not isinstance(data, Mapping):
        raise InputError(
            [located.problem((), found="no object", expected="one JSON object per line")]
        )
    return validate_model(ResultRow, located)


def read_results(path: Path) -> Iterator[ResultRow]:
    """Yield the rows of a file of results, in its order.

    Args:
        path: ``results.jsonl``, or the folder that holds it.

    Raises:
        InputError: there is no such file, or a line is no row of results.
    """
    file = path / RESULTS if path.is_dir() else path
    hint = "give the folder that hipo evaluate wrote to with -o"
    for number, row in json_lines(file, hint):
        yield result_row(row, str(file), number)
