"""A preview tells whoever watches how far it is: a slow model takes minutes."""

from __future__ import annotations

from collections.abc import Callable

from hipo.app.generation.preview import preview
from hipo.app.running.watching import Silent, Spending
from pipeline.playing.runner import Progress
from pipeline.recipes.recipe import Recipe

RECIPE = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "turns": [1]}


class Noting(Silent):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        self.told.append((total, spending().doing))

    def see(self, progress: Progress) -> None:
        self.told.append(progress.kind)

    def end(self) -> None:
        self.told.append("end")


def test_every_case_of_a_preview_is_seen_when_it_is_played() -> None:
    noting = Noting()
    shown = preview(Recipe.model_validate(RECIPE), 2, watcher=noting)
    assert all(played.dialogue for played in shown)
    assert noting.told == [(2, "playing"), "done", "done", "end"]
