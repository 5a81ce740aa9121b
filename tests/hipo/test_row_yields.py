"""The dry run says how many rows a recipe can yield, and never fewer than it does."""

from __future__ import annotations

import re
from pathlib import Path

from hipo import Recipe, Run, estimate, export, generate, verify
from outputs.kinds.export_kind import KINDS
from outputs.kinds.origins import ORIGINS
from scenarios.errors import UsageError
from scenarios.plugins import Plugins


def recipe(*strategies: str, tactics: str = "free") -> Recipe:
    return Recipe.model_validate({
        "scenarios": "used_car", "models": {"default": "offline/rules"}, "n": 6,
        "strategies": strategies, "tactics": tactics,
    })  # fmt: skip


def most(told: Recipe) -> dict[str, int]:
    return {row.kind: row.most for row in estimate(told, output="nowhere").rows}


def test_a_recipe_of_one_strategy_yields_no_pair_and_the_dry_run_says_what_it_takes() -> None:
    rows = {row.kind: row for row in estimate(recipe("direct"), output="nowhere").rows}
    pairs = {kind: row for kind, row in rows.items() if kind.startswith("dpo")}
    assert {row.most for row in pairs.values()} == {0}
    assert "name a second --strategy" in pairs["dpo --pairs judges"].why
    assert "--strategy reflective" in pairs["dpo --pairs revision"].why
    assert "--tactics balanced" in pairs["dpo --pairs wanted"].why
    assert rows["dialogues"].most == 6


def test_what_is_told_is_never_less_than_what_comes(tmp_path) -> None:
    told = recipe("direct", "reflective", "consistency", tactics="balanced")
    rows = most(told)
    run = generate(told, output=tmp_path / "run")
    verify(run, judges=["offline/judge"], policy="auto")
    made = export(run, "dialogues", tmp_path / "corpus", parquet=False)
    assert made.rows == {"train": rows["dialogues"]}
    labels = export(run, "sft", tmp_path / "sft", verdict="any", parquet=False, fractions=(1, 0, 0))
    assert labels.rows["train"] <= rows["sft --task label, benchmark, lm-eval"]
    turns = export(run, "turns", tmp_path / "turns", parquet=False)
    assert turns.rows == {"train": rows["turns"]}
    asked = export(
        run, "sft", tmp_path / "asked", task="initiator", verdict="any", parquet=False,
        fractions=(1, 0, 0),
    )  # fmt: skip
    assert 0 < asked.rows["train"] <= rows["sft --task initiator"]
    swap = export(run, "swap", tmp_path / "swap", verdict="any", parquet=False)
    assert 0 < sum(swap.rows.values()) <= rows["swap"]
    made_of = {origin: pairs_of(run, origin, tmp_path) for origin in ORIGINS}
    for origin, n in made_of.items():
        assert n <= rows[f"dpo --pairs {origin}"]
    assert made_of["vote"], "of votes there are always some"


def test_of_pairs_it_says_that_those_of_honest_dialogues_are_counted() -> None:
    told = recipe("direct", "reflective", "consistency", tactics="balanced")
    rows = estimate(told, output="nowhere").rows
    assert all(row.why.endswith("; of honest dialogues") for row in rows if "dpo" in row.kind)
    honest = told.with_changes({"goals": ["truthful non-disclosure"]})
    rows = estimate(honest, output="nowhere").rows
    assert not any("honest" in row.why for row in rows)


def test_where_every_goal_may_deceive_this_is_the_reason_and_not_a_strategy_that_is_there() -> None:
    told = recipe("direct", "reflective", "consistency", tactics="balanced")
    deceptive = estimate(told.with_changes({"goals": ["deception"]}), output="nowhere").rows
    taught = [row for row in deceptive if row.kind.startswith("dpo") or "actor" in row.kind]
    assert {row.most for row in taught} == {0}
    assert {row.why for row in taught} == {
        "every goal may deceive: --include-deception, or add a truthful one"
    }


def test_every_kind_is_told_with_0_and_why_where_there_can_be_none() -> None:
    rows = estimate(recipe("direct"), output="nowhere").rows
    told = {kind for row in rows for kind in re.findall(r"[\w-]+", row.kind)}
    assert set(KINDS.names()) <= told
    assert {
        task.name for kind in KINDS.names() for task in KINDS.get(kind).tasks if task.name
    } <= told
    assert all(row.why for row in rows if not row.most)


def test_a_scheme_that_speakers_declare_no_label_of_yields_none_to_learn() -> None:
    told = Recipe.model_validate(
        {
            "scheme": "payoff_reasoning",
            "scenarios": "all",
            "strategies": "verified",
            "n": 2,
            "models": {"default": "offline/reasoner"},
        }
    )
    rows = {row.kind: row for row in estimate(told, output="nowhere").rows}
    labels = rows["sft --task label, benchmark, lm-eval"]
    assert labels.most == 0
    assert "speakers declare no label of payoff_reasoning" in labels.why
    assert rows["sft --task actor"].most > 0


def pairs_of(run: Run, origin: str, folder: Path) -> int:
    try:
        made = export(
            run, "dpo", folder / origin, verdict="any", pairs=[origin], parquet=False,
            fractions=(1, 0, 0),
        )  # fmt: skip
    except UsageError:  # there is not one
        return 0
    return made.rows["train"]


def test_an_estimate_needs_no_plugin_that_is_installed(monkeypatch) -> None:
    """One that is broken would stop every generation on the machine."""

    def broken(_: Plugins) -> None:
        raise UsageError("the plugin my-package 0.2 cannot be loaded")

    monkeypatch.setattr(Plugins, "load_rest", broken)
    assert most(recipe("direct"))["dialogues"] == 6
