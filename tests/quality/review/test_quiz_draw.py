"""The dialogues of a quiz are drawn evenly over labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hipo.app.review.reviewing import ReviewOptions, open_study, run_material
from pipeline.store.queries.turns import TurnReader
from pipeline.store.review_studies import ReviewCandidate, StudyLog, Which
from pipeline.store.reviews import ReviewStore
from quality.review.exhibits import target_turns
from quality.review.quiz_draw import rarest
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.reviews import ReviewStudy


def drawn(run: Path, **options: object) -> tuple[list[Dialogue], list[Dialogue]]:
    """Begin a quiz, and return its dialogues and all of the run."""
    with ReviewStore.open(run) as store:
        study = open_study(store, run_material(run), ReviewOptions(mode="quiz", **options))  # type: ignore[arg-type]
        chosen = [store.dialogues.dialogue(item.id) for item, _ in store.sheets.items(study)]
        return chosen, list(store.dialogues.dialogues(traces=False))


def labels_of(dialogue: Dialogue, dimension: str) -> list[tuple[str, str]]:
    targets = target_turns(dialogue)
    return [
        (label.dimension, str(label.value))
        for turn in dialogue.turns
        if turn.index in targets
        for label in turn.tactic
        if label.dimension == dimension and label.value != "None"
    ]


def test_as_many_dialogues_stand_for_one_label_as_for_another(run: Path) -> None:
    chosen, everything = drawn(run, most=4, balance="veracity")
    found = {d.case.id + d.arm: labels_of(d, "veracity") for d in everything}
    classes = rarest({name: labels for name, labels in found.items() if labels})
    there = Counter(classes.values())
    counts = Counter(classes[d.case.id + d.arm] for d in chosen)
    assert len(chosen) == min(4, len(classes))
    for label in there:
        if counts[label] < there[label]:
            assert max(counts.values()) <= counts[label] + 1


def test_the_same_seed_draws_the_same_dialogues_and_goes_on_with_them(run: Path) -> None:
    first, _ = drawn(run, most=3)
    again, _ = drawn(run, most=3)
    assert [d.case.id for d in again] == [d.case.id for d in first]
    more, _ = drawn(run, most=5)
    assert [d.case.id for d in more[:3]] == [d.case.id for d in first]
    assert len(more) == 5


def test_a_dialogue_stands_for_the_label_that_is_rarest_in_its_dimension() -> None:
    common, lie = ("act", "Common"), ("veracity", "Quality")
    found = rarest({"one": [common, lie], "two": [common], "three": [("act", "Rare"), lie]})
    assert found == {"one": common, "two": common, "three": ("act", "Rare")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "review", "balance": "veracity"}, "draws the dialogues of a quiz"),
        ({"mode": "quiz", "balance": "veracity"}, "says how -n dialogues are drawn"),
        (
            {"mode": "quiz", "most": 3, "balance": "verasity"},
            "no dimension of utterances with labels",
        ),
    ],
)
def test_drawing_over_what_is_not_there_is_refused(
    run: Path, options: dict[str, str], message: str
) -> None:
    with ReviewStore.open(run) as store, pytest.raises(UsageError, match=message):
        open_study(store, run_material(run), ReviewOptions(**options))  # type: ignore[arg-type]


def test_a_study_that_is_full_looks_for_no_more_dialogues(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    candidates = StudyLog.candidates

    def seen(self: StudyLog, study: ReviewStudy, which: Which) -> Iterator[ReviewCandidate]:
        looked.append(which)
        return candidates(self, study, which)

    monkeypatch.setattr(StudyLog, "candidates", seen)
    first, _ = drawn(run, most=3)
    again, _ = drawn(run, most=3)
    assert len(first) == len(again) == 3
    assert looked == ["all"]


def test_dialogues_that_are_drawn_from_are_read_many_at_once(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[int] = []
    turns = TurnReader.turns

    def counted(self: TurnReader, dialogues: Sequence[int], **wishes: Any) -> object:
        pages.append(len(dialogues))
        return turns(self, dialogues, **wishes)

    monkeypatch.setattr(TurnReader, "turns", counted)
    with ReviewStore.open(run) as store:
        open_study(store, run_material(run), ReviewOptions(mode="quiz", most=3))
    assert pages == [10]
