"""A third party's package adds one extension of every kind, and touches no file of ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hipo import open_run
from pipeline.store.run_store import RunStore
from tests.extension.conftest import Hipo
from tests.outputs.corpora import rows_in

RECIPE = """
strategies: [twice, reflective]
twice: {times: 3}
reflective: {critic: brevity}
models: {default: {model: parrot/rules}}
scenarios: used_car
turns: 1
n: 2
verification:
  self_judge: parrot/judge
  judges: [parrot/judge, lenient]
  gates: {impolite: {forbidden: [the, a]}, off: [near_duplicate]}
"""


@pytest.fixture
def made(hipo: Hipo, installed: Path) -> Path:
    Path("mine.yaml").write_text(RECIPE)
    result = hipo("generate", "mine.yaml", "-o", "made", "-q")
    assert (result.code, result.err) == (0, "")
    return Path("made").absolute()


def test_its_strategy_and_critic_play_through_its_provider(made: Path) -> None:
    run = open_run(made)
    dialogues = list(run.dialogues())
    assert len(dialogues) == 4
    arms = {state.id: state.arm for state in run.state().arms}
    by_strategy = {arms[d.arm].strategy: d for d in dialogues}
    assert set(by_strategy) == {"twice", "reflective"}
    assert arms[by_strategy["twice"].arm].settings == {"times": 3}
    assert arms[by_strategy["reflective"].arm].settings["critic"] == "brevity"
    assert {arm.writer for arm in arms.values()} == {"parrot/rules"}
    [answer] = by_strategy["twice"].answers()
    assert answer.trace is not None
    assert len(answer.trace.attempts) == 3


def test_the_run_records_name_and_version_of_the_package(made: Path, hipo: Hipo) -> None:
    with RunStore.open(made, readonly=True) as store:
        identity = store.config.config.identity
    assert identity is not None
    assert sorted(identity.plugins) == ["critic brevity", "provider parrot", "strategy twice"]
    assert {plugin["origin"] for plugin in identity.plugins.values()} == {"hipo-extras 1.2"}


def test_its_gate_flags_and_its_judge_judges(made: Path, hipo: Hipo) -> None:
    result = hipo("verify", "made", "--format", "json")
    assert result.code == 0, result.err
    with RunStore.open(made, readonly=True) as store:
        keys = [(dialogue.case.id, dialogue.arm) for dialogue in store.dialogues()]
        codes = {count.code for count in store.judgements.flag_counts()}
        judgements = store.judgements.judgements(keys)
    judges = {judgement.judge for of_dialogue in judgements.values() for judgement in of_dialogue}
    assert "impolite" in codes
    assert judges == {"parrot/judge", "lenient"}


def test_its_kind_and_its_format_are_exported_and_named_in_the_manifest(
    made: Path, hipo: Hipo
) -> None:
    result = hipo(
        "export", "made", "--any", "--to", "answers", "--format", "lines", "--no-parquet",
        "--splits", "100,0,0", "-o", "set",
    )  # fmt: skip
    assert result.code == 0, result.err
    rows = rows_in(Path("set"))
    assert len(rows) == 4
    assert rows[0]["asked"]
    assert rows[0]["said"]
    assert Path("set/files.txt").read_text()
    manifest = json.loads(Path("set/manifest.json").read_text())
    assert sorted(manifest["options"]["plugins"]) == ["export format lines", "export kind answers"]


def test_its_task_is_asked_by_its_name(made: Path, hipo: Hipo) -> None:
    asked = ("--task", "veracity-alone", "--model", "parrot/judge", "--no-page", "-q")
    result = hipo("evaluate", "made", "--any", *asked, "-o", "done")
    assert result.code == 0, result.err
    rows = [json.loads(line) for line in Path("done/results.jsonl").read_text().splitlines()]
    assert {(row["task"], tuple(row["options"])) for row in rows} == {
        ("veracity-alone", ("veracity",))
    }


def test_a_second_run_of_the_command_finds_everything_there(made: Path, hipo: Hipo) -> None:
    calls = open_run(made).state().calls
    assert hipo("generate", "mine.yaml", "-o", "made", "-q").code == 0
    assert open_run(made).state().calls == calls


def test_its_names_stand_in_listings_and_hints(installed: Path, hipo: Hipo) -> None:
    assert "parrot/<model>" in hipo("models").out
    result = hipo("generate", "--model", "parot/rules", "-n", "1", "-o", "made")
    assert result.code == 2
    assert "did you mean parrot/rules?" in result.err


def test_a_run_whose_package_is_gone_can_be_read_and_says_what_is_missing(
    made: Path,
    hipo: Hipo,
    installed: Path,
    no_plugins: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(installed)])
    no_plugins()
    assert hipo("runs", "show", "made").code == 0
    assert hipo("show", "made").code == 0
    exported = hipo("export", "made", "--any", "--to", "sft", "--splits", "100,0,0", "-o", "set")
    assert exported.code == 0, exported.err
    again = hipo("generate", "mine.yaml", "-o", "made")
    assert again.code == 2
    assert "strategies[0]: found 'twice', expected the name of a strategy" in again.err
    judged = hipo("verify", "made", "--no-self", "--judge", "offline/judge")
    assert judged.code == 2
    assert "verification.gates.impolite" in judged.err
