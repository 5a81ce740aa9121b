"""Reading the released CEI annotations, whatever the order of their columns."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest

from quality.annotations import RawAnswer, from_wide

COLUMNS = {
    "emotion": "sl_plutchik_primary_",
    "valence": "sl_v_",
    "arousal": "sl_a_",
    "dominance": "sl_d_",
    "confidence": "sl_confidence_",
}


def reference_folder(name: str) -> Path:
    """Return a folder of released data, or skip the test that asks for it."""
    root = os.environ.get("HIPO_REFERENCE_DATA") or str(
        Path(__file__).parents[2].parent / "shared" / "reference"
    )
    folder = Path(root) / name
    if not folder.is_dir():
        pytest.skip(f"released data not found at {folder}; set HIPO_REFERENCE_DATA to its parent")
    return folder


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read a table as UTF-8, or else as the Mac encoding one of the files was saved in."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("mac_roman")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def cei_answers(path: Path) -> list[RawAnswer]:
    """Return the answers of one subtype; items are numbered, since ids are the authors' own."""
    group = path.stem.removeprefix("data_")
    raw = from_wide(read_csv(path), COLUMNS, item=None)
    return [RawAnswer(f"{group}/{int(a.item):03}", a.dimension, a.annotator, a.value) for a in raw]
