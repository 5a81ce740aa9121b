"""What the demo covers; that it runs is shown where the wheel is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.preparation.prepared import prepare
from hipo.cli import demo
from pipeline.recipes.source import load_recipe
from tests.hipo.cli.conftest import Hipo


def test_the_demo_has_every_category_goal_length_and_strategy() -> None:
    prepared = prepare(load_recipe("demo"))
    cases = list(prepared.plan)
    assert prepared.dialogues >= 60
    assert {prepared.scenarios[case.scenario].category for case in cases} == set(
        prepared.scheme.categories
    )
    assert {case.goal for case in cases} == set(prepared.scheme.goal.values)
    assert {case.turns for case in cases} == {1, 2, 3}
    assert {arm.strategy for arm in prepared.arms} == {"direct", "reflective", "consistency"}


def test_the_demo_says_where_it_is_and_makes_room_beside_another_version(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(seed: int, n: int) -> None:
        recipe = load_recipe("demo").with_changes(
            {"n": n, "strategies": ["direct", "reflective"], "turns": [2], "seed": seed}
        )
        monkeypatch.setattr(demo, "load_recipe", lambda name: recipe)

    small(1, 6)
    first = hipo("demo")
    assert first.code == 0
    assert "The dialogues are in runs/demo, and with them" in first.out
    for made in ("report.html", "sft/manifest.json", "benchmark/manifest.json"):
        assert (tmp_path / "runs" / "demo" / made).is_file()
    page = (tmp_path / "runs" / "demo" / "report.html").read_text(encoding="utf-8")
    evaluated = page.partition('id="evaluation"')[2]
    for model in ("offline/judge", "offline/reader", "offline/majority", "offline/random"):
        assert model in evaluated  # two programs, and the floors beside them
    assert "other items, other labels" not in evaluated
    assert "runs/demo/evaluation/index.html" in first.out
    assert first.out.count("private fact") == 2  # one dialogue of each strategy
    assert "what else is flagged is discarded; the rest is accepted" in first.err
    assert "self-consistency" not in first.out  # one judge, counted once
    assert "hipo show runs/demo" in first.out
    assert "0 calls, nothing to do" in hipo("demo").out
    small(2, 1)
    assert "The dialogues are in runs/demo-2, and" in hipo("demo").out
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["demo", "demo-2"]
    refused = hipo("demo", "-o", "runs/demo")
    assert refused.code == 2
    assert "seed: 1 → 2" in refused.err
