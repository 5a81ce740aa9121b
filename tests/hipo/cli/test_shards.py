from __future__ import annotations

import json

from hipo.cli.main import run
from pipeline.store.run_store import RunStore

PLAN = ["generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "7"]


def keys(folder) -> set[str]:
    with RunStore.open(folder, readonly=True) as store:
        return {f"{dialogue.case.id}/{dialogue.arm}" for dialogue in store.dialogues()}


def test_runs_of_all_shards_have_the_dialogues_of_one_run(tmp_path):
    assert run([*PLAN, "-o", str(tmp_path / "whole"), "-q"]) == 0
    for index in (1, 2, 3):
        folder = str(tmp_path / str(index))
        assert run([*PLAN, "--shard", f"{index}/3", "-o", folder, "-q"]) == 0
    parts = [keys(tmp_path / str(index)) for index in (1, 2, 3)]
    assert sorted(map(len, parts)) == [2, 2, 3]
    assert set().union(*parts) == keys(tmp_path / "whole")


def test_a_dry_run_counts_the_shard_and_says_so(tmp_path, capsys):
    folder = str(tmp_path / "run")
    assert run([*PLAN, "--shard", "1/3", "-o", folder, "--dry-run", "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["cases"] == 2
    assert "shard 1/3: 2 of the 7 cases" in captured.err
    assert "budgeted is this shard's alone" in captured.err


def test_a_shard_without_a_case_is_done_at_once(tmp_path):
    folder = tmp_path / "run"
    assert run([*PLAN, "--shard", "8/9", "-o", str(folder), "-q", "--verify"]) == 0
    assert keys(folder) == set()


def test_a_shard_plans_its_own_cases_for_the_dialogues_that_are_to_be_accepted(tmp_path, capsys):
    folder = tmp_path / "run"
    command = [*PLAN[:-2], "--shard", "8/9", "--accepted", "2", "-o", str(folder)]
    assert run([*command, "--dry-run", "--format", "json"]) == 0
    ahead = capsys.readouterr()
    assert json.loads(ahead.out)["cases"] == 4
    assert "shard 8/9: 4 of the 36 cases" in ahead.err
    assert run([*command, "-q"]) == 0
    assert 2 <= len(keys(folder)) <= 4
    assert run([*command, "-n", "10", "--dry-run", "--format", "json"]) == 0
    assert "shard 8/9: 1 of the 10 cases" in capsys.readouterr().err


def test_a_pilot_is_of_the_whole_plan(tmp_path, capsys):
    assert run([*PLAN, "--shard", "1/3", "--dry-run", "--pilot", "2"]) == 2
    assert "leave --shard out" in capsys.readouterr().err
