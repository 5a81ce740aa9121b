"""Rows as Arrow tables: the types of columns, and the fastest way there from JSON lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from outputs.dataset.manifest import Column
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

    def typed(column: Column) -> pa.DataType:
        if column.kind not in ("record", "records"):
            return types[column.kind]
        struct = pa.struct([(part.name, typed(part)) for part in column.fields])
        return pa.list_(struct) if column.kind == "records" else struct

    return pa.schema([(column.name, typed(column)) for column in columns])


def arrow_table(lines: bytes | memoryview, schema: pa.Schema) -> pa.Table:
    """Return JSON lines, whole ones and at least one, as a table.

    They are parsed again without the lock of the interpreter: that leaves more time for making rows
    than to have every value of every row looked at from Python.

    Raises:
        ValueError: a line has a key that no column has, or a value of another type.
    """
    import pyarrow as pa  # noqa: PLC0415 - optional and slow to import
    from pyarrow import json  # noqa: PLC0415

    return json.read_json(
        pa.BufferReader(pa.py_buffer(lines)),
        read_options=json.ReadOptions(use_threads=False, block_size=len(lines)),
        parse_options=json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all tables, one after the other, without copying them."""
    import pyarrow as pa  # noqa: PLC0415 - optional and slow to import

    return pa.concat_tables(tables)
