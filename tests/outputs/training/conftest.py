"""Sets to train on, and a base model of some thousand parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from outputs.kinds.system_prompt import SystemPrompt
from tests.outputs.corpora import STRATEGIES, exportable_run, exported, rows_in
from tests.outputs.tiny_base import tiny_base


@pytest.fixture(scope="session")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sets ``label``, ``actor``, ``dpo`` and ``benchmark`` of one run."""
    folder = tmp_path_factory.mktemp("sets")
    run = exportable_run(folder / "run", scenarios=3, facts=1, strategies=STRATEGIES)
    deceiving = {"include_deception": True}
    exported(folder / "label", run, "sft", prompt=SystemPrompt("full"), parquet=False)
    exported(folder / "actor", run, "sft", task="actor", parquet=False, **deceiving)
    exported(folder / "dpo", run, "dpo", parquet=False, **deceiving)
    exported(folder / "benchmark", run, "benchmark", parquet=False)
    return folder


@pytest.fixture(scope="session")
def base(sets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny random Llama that knows the words of the sets."""
    pytest.importorskip("trl")
    return tiny_base(tmp_path_factory.mktemp("base") / "tiny", texts_of(sets))


def texts_of(sets: Path) -> list[str]:
    """Return every text of the label rows and of the pairs."""
    rows = [*rows_in(sets / "label"), *rows_in(sets / "dpo")]
    keys = ("prompt", "completion", "chosen", "rejected")
    return [m["content"] for row in rows for key in keys for m in row.get(key, ())]
