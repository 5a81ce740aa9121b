"""A worker in another process loads the plugins of a run by their path."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.preparation import prepare
from pipeline.recipe_source import load_recipe
from pipeline.store.run_store import RunStore
from tests.extension.test_docs_page import FILES
from tests.hipo.test_worker_elsewhere import played_elsewhere


@pytest.mark.anyio
async def test_a_worker_plays_with_the_strategy_and_the_provider_of_plugin_files(
    tmp_path: Path,
) -> None:
    for name in ("shortest.py", "in_process.py"):
        (tmp_path / name).write_text(FILES[name])
    (tmp_path / "mine.yaml").write_text(
        "scenarios: used_car\nturns: 1\nn: 2\nstrategies: shortest\nshortest: {samples: 4}\n"
        "models: {default: {model: in_process/rules}}\nplugins: [shortest.py, in_process.py]\n"
    )
    prepared = prepare(load_recipe(tmp_path / "mine.yaml"))
    outcome, calls = await played_elsewhere(prepared, tmp_path / "run")
    assert (outcome.done, outcome.failed) == (2, {})
    assert calls > 0
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        traces = [d.answers()[0].trace for d in store.dialogues()]
    assert [len(trace.candidates) for trace in traces if trace is not None] == [4, 4]
