"""Whoever generates with a vote is told that the embedding model is being loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from hipo.app.generation import generate
from hipo.app.watching import Silent
from pipeline import embeddings
from pipeline.recipe import Recipe
from pipeline.voting import Vectors


class Noting(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.mark.parametrize(("strategy", "times"), [("consistency", 1), ("direct", 0)])
def test_a_vote_says_once_that_the_model_is_loaded_and_other_strategies_do_not(
    strategy: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(texts: Sequence[str]) -> Vectors:
        return np.tile(np.array([[1.0, 0.0]], np.float32), (len(texts), 1))

    monkeypatch.setattr(embeddings, "load_sentence_model", lambda *_: embed)
    monkeypatch.setattr(embeddings, "missing_packages", lambda _=None: [])
    recipe = Recipe.model_validate(
        {
            "n": 2,
            "turns": [1],
            "strategies": [strategy],
            "scenarios": ["used_car"],
            "models": {"default": "offline/rules"},
        }
    )
    watcher = Noting()
    outcome = generate(recipe, output=tmp_path / "run", watcher=watcher).outcome
    assert outcome is not None
    assert outcome.done == 2
    told = [note for note in watcher.notes if "loading the embedding model" in note]
    assert len(told) == times
