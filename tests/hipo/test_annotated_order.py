"""Items of a run are grouped in the order of its dialogues: what is drawn of them depends on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hipo import Recipe, generate
from hipo.app.metrics.annotated import open_annotated
from hipo.app.metrics.intention import intention_metrics
from hipo.app.runs.run import Run
from pipeline.store.queries.turns import TurnReader
from pipeline.store.run_store import RunStore
from quality.agreement.selections import subject_name
from scenarios.annotations import DECLARED, HUMAN, Annotation, Subject
from scenarios.errors import UsageError


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Twelve dialogues."""
    recipe = Recipe.model_validate(
        {"name": "order", "n": 12, "turns": [3], "models": {"default": {"model": "offline/rules"}}}
    )
    return generate(recipe, output=tmp_path / "run")


def test_items_of_a_run_come_in_the_order_of_its_dialogues_and_turns(run: Run) -> None:
    said = [
        subject_name(Subject(dialogue.case.id, dialogue.arm, turn.index))
        for dialogue in run.dialogues(traces=False)
        for turn in dialogue.answers()
    ]
    annotated = open_annotated([str(run.folder)], None, [DECLARED])
    grouped = annotated.groups("scenario") or {}
    assert [item for item in grouped if item in said] == said


def test_no_dialogue_is_read_that_nobody_of_a_kind_has_labelled(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled = list(run.dialogues(traces=False))[7]
    answer = labelled.answers()[0]
    about = Subject(labelled.case.id, labelled.arm, answer.index)
    with RunStore.open(run.folder) as store:
        asyncio.run(store.annotate([Annotation(about, HUMAN, "A1", "veracity", "Quality")]))
    read: list[int] = []
    turns = TurnReader.turns

    def counted(self: TurnReader, dialogues: Sequence[int], **wishes: Any) -> object:
        read.extend(dialogues)
        return turns(self, dialogues, **wishes)

    monkeypatch.setattr(TurnReader, "turns", counted)
    annotated = open_annotated([str(run.folder)], None, [HUMAN])
    assert [one.subject for one in annotated.annotations()] == [about]
    assert not read
    groups, words = annotated.groups_and_words("scenario")
    assert len(read) == 1
    assert groups == {subject_name(about): labelled.case.scenario}
    assert words["said"] == {subject_name(about): len(answer.text.split())}


def test_reasons_that_nobody_looks_at_are_not_held(run: Run) -> None:
    turns = [turn for dialogue in run.dialogues(traces=False) for turn in dialogue.answers()]
    assert any(label.rationale for turn in turns for label in turn.tactic)
    annotated = open_annotated([str(run.folder)], None, [DECLARED])
    assert {one.rationale for one in annotated.annotations()} == {""}


def test_a_run_without_intentions_is_refused_before_its_dialogues_are_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TurnReader, "turns", None)
    with pytest.raises(UsageError, match="has no intention or no face_act"):
        intention_metrics([run.folder])
