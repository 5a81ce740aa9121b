"""Rows as Arrow tables: the types of columns, and the fastest way there from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from outputs.manifest import Column
from scenarios.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

_MESSAGE = ("role", "content")
_TURN = ("from", "value")
_NESTED: Mapping[str, tuple[str, str]] = {
    "message": _MESSAGE, "messages": _MESSAGE, "turn": _TURN, "turns": _TURN,
}  # fmt: skip


def check_parquet() -> None:
    """Do nothing where Parquet can be written.

    Raises:
        UsageError: the package for it is missing.
    """
    if find_spec("pyarrow") is None:
        raise UsageError(
            "writing Parquet needs the package pyarrow",
            'pip install "hipo[datasets]", or leave Parquet out with --no-parquet',
        )


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the Parquet types of columns."""
    import pyarrow as pa  # noqa: PLC0415 - optional and slow to import

    types: dict[str, pa.DataType] = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "bool": pa.bool_(),
        "int": pa.int64(),
        "float": pa.float64(),
    }
    for kind, keys in _NESTED.items():
        struct = pa.struct([(key, pa.string()) for key in keys])
        types[kind] = pa.list_(struct) if kind.endswith("s") else struct
    return pa.schema([(column.name, types[column.kind]) for column in columns])


def arrow_table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], schema: pa.Schema
) -> pa.Table:
    """Return the rows as a table.

    Messages are flattened first: that is three times as quick as to have every dict looked at.

    Raises:
        KeyError: a row lacks a column.
    """
    import pyarrow as pa  # noqa: PLC0415 - optional and slow to import

    arrays = []
    for column, field in zip(columns, schema, strict=True):
        values = [row[column.name] for row in rows]
        keys = _NESTED.get(column.kind)
        if keys is None:
            arrays.append(pa.array(values, field.type))
        elif column.kind.endswith("s"):
            ends = accumulate(map(len, values), initial=0)
            flat = _structs([item for items in values for item in items], keys)
            arrays.append(pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat))
        else:
            arrays.append(_structs(values, keys))
    return pa.Table.from_arrays(arrays, schema=schema)


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all tables, one after the other, without copying them."""
    import pyarrow as pa  # noqa: PLC0415 - optional and slow to import

    return pa.concat_tables(tables)


def _structs(items: Sequence[Mapping[str, str]], keys: tuple[str, str]) -> pa.StructArray:
    import pyarrow as pa  # noqa: PLC0415 - optional and slow to import

    parts = [pa.array([item[key] for item in items], pa.string()) for key in keys]
    return pa.StructArray.from_arrays(parts, names=list(keys))
