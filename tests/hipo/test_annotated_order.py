"""Items of a run are grouped in the order of its dialogues: what is drawn of them depends on it."""

from __future__ import annotations

from pathlib import Path

from hipo import Recipe, generate
from hipo.app.annotated import open_annotated
from quality.selections import subject_name
from scenarios.annotations import DECLARED, Subject


def test_items_of_a_run_come_in_the_order_of_its_dialogues_and_turns(tmp_path: Path) -> None:
    recipe = Recipe.model_validate(
        {"name": "order", "n": 12, "turns": [3], "models": {"default": {"model": "offline/rules"}}}
    )
    run = generate(recipe, output=tmp_path / "run")
    said = [
        subject_name(Subject(dialogue.case.id, dialogue.arm, turn.index))
        for dialogue in run.dialogues(traces=False)
        for turn in dialogue.answers()
    ]
    annotated = open_annotated([str(run.folder)], None, [DECLARED])
    grouped = annotated.groups("scenario") or {}
    assert [item for item in grouped if item in said] == said
