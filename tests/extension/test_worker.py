"""A worker in another process loads the plugins of a run by their path."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.generation.generate import generate
from pipeline.recipes.source import load_recipe
from tests.extension.test_docs_page import FILES


@pytest.mark.slow
def test_a_worker_plays_with_the_strategy_and_the_provider_of_plugin_files(
    tmp_path: Path,
) -> None:
    for name in ("shortest.py", "in_process.py"):
        (tmp_path / name).write_text(FILES[name])
    (tmp_path / "mine.yaml").write_text(
        "scenarios: used_car\nturns: 1\nn: 2\nstrategies: shortest\nshortest: {samples: 4}\n"
        "models: {default: {model: in_process/rules}}\nplugins: [shortest.py, in_process.py]\n"
    )
    run = generate(load_recipe(tmp_path / "mine.yaml"), output=tmp_path / "run", workers=1)
    assert run.outcome is not None
    assert (run.outcome.done, run.outcome.failed) == (2, {})
    assert run.calls > 0
    traces = [dialogue.answers()[0].trace for dialogue in run.dialogues()]
    assert [len(trace.candidates) for trace in traces if trace is not None] == [4, 4]
