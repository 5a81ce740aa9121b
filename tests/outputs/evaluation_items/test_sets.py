"""The items of an exported set: of which splits they are is said before they are asked."""

from __future__ import annotations

from pathlib import Path

from hipo.app.export_options import export_options
from outputs.evaluation_items.sets import load_set
from outputs.export import export
from outputs.selection_wish import Selection
from tests.outputs.corpora import exportable_run


def test_of_a_divided_set_it_is_said_that_items_to_train_on_are_asked_too(tmp_path: Path) -> None:
    run = exportable_run(tmp_path / "run", scenarios=4)
    options = export_options("benchmark", fractions=(50, 0, 50), parquet=False)
    export(Selection((run,)), options, tmp_path / "set")
    divided = load_set(tmp_path / "set")
    counts = {split: sum(i.split == split for i in divided.items) for split in ("train", "test")}
    [note] = [note for note in divided.notes if "is divided" in note]
    assert f"(train {counts['train']}, test {counts['test']})" in note
    alone = load_set(tmp_path / "set" / "jsonl" / "test.jsonl")
    assert len(alone.items) == counts["test"]
    assert not any("is divided" in note for note in alone.notes)
