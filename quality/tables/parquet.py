"""Rows of a Parquet file as the tables of annotations take them."""

from __future__ import annotations

import io
import math
from importlib.util import find_spec

from scenarios.errors import UsageError

MAGIC = b"PAR1"
"""How every Parquet file begins."""


def parquet_rows(file: str, data: bytes) -> list[dict[str, object]]:
    """Return the rows of a Parquet file; a cell is text, a number, a truth value, a list or None.

    Raises:
        UsageError: ``pyarrow`` is missing, or the file is none.
    """
    if find_spec("pyarrow") is None:
        hint = 'pip install "hipo[datasets]"'
        raise UsageError(f"{file}: reading Parquet needs the package pyarrow", hint)
    from pyarrow import ArrowException  # noqa: PLC0415
    from pyarrow.parquet import read_table  # noqa: PLC0415

    try:
        rows = read_table(io.BytesIO(data)).to_pylist()
    except (ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{file}: cannot be read as Parquet: {reason}", "write it anew") from None
    return [{str(name): _cell(value) for name, value in row.items()} for row in rows]


def _cell(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, bool, int, float, list, dict)):
        return value
    return str(value)
