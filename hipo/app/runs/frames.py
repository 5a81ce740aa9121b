"""The dialogues of a run as a data frame of pandas, which is needed for nothing else."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from outputs.dataset.columns import RowSource, by_case
from outputs.rows.dialogue_set import DialogueRows
from outputs.rows.turn_set import TurnRows
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection, WantedVerdict
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

if TYPE_CHECKING:
    import pandas as pd

FrameRows = Literal["turns", "dialogues"]
_SOURCES: dict[FrameRows, Callable[[Scheme], RowSource]] = {
    "turns": TurnRows, "dialogues": DialogueRows,
}  # fmt: skip


def frame_of(folder: Path, rows: FrameRows, verdict: WantedVerdict) -> pd.DataFrame:
    """Return the rows that an export of the same kind writes, in the same order; all in memory.

    Args:
        folder: of the run.
        rows: a row a turn, flat, or a row a dialogue, with lists and dictionaries in cells.
        verdict: ``any``, or ``accepted`` for accepted dialogues alone.

    Raises:
        UsageError: pandas is missing, there are no such rows, or there is no such run.
    """
    if rows not in _SOURCES:
        raise UsageError(f"a frame has no rows {rows!r}", f"choose of: {', '.join(_SOURCES)}")
    if find_spec("pandas") is None:
        raise UsageError(
            "a data frame needs the package pandas",
            "pip install pandas, or read the rows of hipo export --to turns",
        )
    import pandas as pd  # noqa: PLC0415 - optional and slow to import

    with opened(Selection((folder,), verdict)) as found:
        source = _SOURCES[rows](found.scheme)
        reading = source.reading
        dialogues = found.dialogues(wanted=reading.wanted, rationales=reading.rationales)
        made = [row for batch in by_case(dialogues) for row in source.rows(batch)]
    return pd.DataFrame.from_records(made, columns=[column.name for column in source.columns])
