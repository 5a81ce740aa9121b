"""What a row of a damaged run has to be like to be taken over into a new one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import orjson

from pipeline.store.annotation_schema import DECLARED_SOURCE
from pipeline.store.case_rows import CASE_COLUMNS
from pipeline.store.checking import is_case_whole, is_text_whole
from pipeline.store.traces import label_from

JSON = {
    "config_epochs": "config",
    "arms": "description",
    "prompts": "layout",
    "traces": "trace",
    "materials": "content",
}
"""Columns that have to be JSON; a row is lost where they are not."""
UNKNOWN_TIME = 0.0
"""Stands in for a time that is none."""


def is_sound(table: str, row: Mapping[str, object]) -> bool:
    """Whether a row makes sense by itself."""
    if table == "cases":
        return _is_case(row)
    if table == "texts":
        return _is_text(row)
    if table == "annotations":
        return _is_labelled(row)
    if table == "prompts" and not _is_layout(row.get("layout")):
        return False
    return table not in JSON or _is_json(row.get(JSON[table]))


def with_sound_times(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row with an unknown time wherever one is no moment of any calendar."""
    return {
        column: UNKNOWN_TIME if column.endswith("_at") and not is_time(value) else value
        for column, value in row.items()
    }


def is_time(value: object) -> bool:
    """Whether a value is a time in Unix seconds, or none at all."""
    if value is None:
        return True
    try:
        datetime.fromtimestamp(float(str(value)), UTC)
    except (ValueError, OverflowError, OSError):
        return False
    return True


def _is_case(row: Mapping[str, object]) -> bool:
    try:
        return is_case_whole([row[column] for column in CASE_COLUMNS.split(", ")])
    except (ValueError, TypeError, LookupError):
        return False


def _is_text(row: Mapping[str, object]) -> bool:
    seq, digest, text = row.get("seq"), row.get("hash"), row.get("text")
    return (
        isinstance(seq, int)
        and isinstance(digest, bytes)
        and isinstance(text, str)
        and is_text_whole(seq, digest, text)
    )


def _is_labelled(row: Mapping[str, object]) -> bool:
    """Whether every label is one; what a speaker declares has one, and judges may have read none."""
    labels = [row[column] for column in ("value", "second") if row.get(column) is not None]
    try:
        for label in labels:
            label_from(label)  # type: ignore[arg-type]  # whether it is one is the question
    except ValueError:
        return False
    return row.get("source") != DECLARED_SOURCE or row["value"] is not None


def _is_layout(value: object) -> bool:
    """Whether a prompt is put together from texts by whole numbers."""
    try:
        return all(
            isinstance(role, str) and all(type(number) is int for number in numbers)
            for role, numbers in orjson.loads(str(value))
        )
    except (ValueError, TypeError):
        return False


def _is_json(value: object) -> bool:
    try:
        orjson.loads(str(value))
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, str)
