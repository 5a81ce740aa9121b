"""A run in Python may be named by the path of its folder as a text."""

from __future__ import annotations

from hipo.app.runs.run import Run
from tests.pipeline.store.samples import begun


def test_a_run_takes_its_folder_as_a_text(tmp_path):
    begun(tmp_path / "run").close()
    run = Run(str(tmp_path / "run"))
    assert run.folder == tmp_path / "run"
    assert run.state().name == "run"
