"""Rows of a Parquet file as the tables of annotations take them."""

from __future__ import annotations

import io
import math
from importlib.util import find_spec

from scenarios.errors import UsageError

MAGIC = b"PAR1"
"""How every Parquet file begins."""
_PAGE = 64
"""Rows that are read before it is looked how much they are."""


def parquet_rows(file: str, data: bytes, most: int) -> list[dict[str, object]]:
    """Return the rows of a Parquet file; a cell is text, a number, a truth value, a list or None.

    Args:
        file: its name, for messages.
        data: its bytes.
        most: bytes that its cells may have, written out with a sign after each: a small file may hold
            any number of them.

    Raises:
        UsageError: ``pyarrow`` is missing, the file is none, or there is more in it.
    """
    if find_spec("pyarrow") is None:
        hint = 'pip install "hipo[datasets]"'
        raise UsageError(f"{file}: reading Parquet needs the package pyarrow", hint)
    from pyarrow import ArrowException  # noqa: PLC0415
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    rows: list[dict[str, object]] = []
    size = 0
    try:
        for batch in ParquetFile(io.BytesIO(data)).iter_batches(_PAGE):
            size += batch.nbytes + batch.num_rows * (1 + batch.num_columns)
            if size > most:
                found = f"found more than {most >> 20} MiB of rows, expected at most that"
                raise UsageError(f"{file}: {found}", "give it in parts")
            rows += batch.to_pylist()
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
