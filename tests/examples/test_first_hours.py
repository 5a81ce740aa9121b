"""The first hours of a linguist, an ML engineer and a batch runner, from an empty folder on."""

from __future__ import annotations

import csv
import os
import re
import runpy
import subprocess
from pathlib import Path

import orjson
import pytest

from benchmarks.machine import free_port
from pipeline.store.run_store import RunStore
from tests.hipo_on_path import hipo_on_path
from tests.tiny_model import save_tiny_model

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "examples" / "first_hours"
MADE = re.compile(r"^(\d+) generated, (\d+) failed, (\d+) there already", re.MULTILINE)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    with hipo_on_path(tmp_path_factory.mktemp("programs") / "bin") as folder:
        yield folder


@pytest.fixture
def hour(programs, tmp_path):
    """Return what runs a script in an empty folder and gives what it printed, by its headings."""

    def run(user: str) -> dict[str, str]:
        environment = {key: value for key, value in os.environ.items() if "HIPO" not in key}
        environment |= {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PORT": str(free_port()),
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_CACHE": str(tmp_path / "cache"),
        }
        done = subprocess.run(
            ["/bin/sh", str(SCRIPTS / f"{user}.sh")],
            cwd=tmp_path, env=environment, text=True, check=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:]
        parts = re.split(r"^# == (.*)\n", done.stdout, flags=re.MULTILINE)
        return dict(zip(parts[1::2], parts[2::2], strict=True))

    return run


def rows(file: Path) -> list[dict]:
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


@pytest.mark.slow
def test_a_linguist_writes_a_scenario_and_labels_and_has_people_label_what_was_made_of_them(
    hour, tmp_path
):
    said = hour("linguist")
    own = said["A scenario of your own"]
    assert "0 errors, 1 warning in 1 of 1 file" in own
    assert "private fact (away): The neighbour spent ten" in own
    assert "opened: Files · hipo" in own
    doubtful = said["Dialogues, and what is doubtful about them"]
    assert re.search(r"^verdicts: .*[1-9] pending$", doubtful, re.MULTILINE)
    assert "opened: Dialogues of mine · hipo" in doubtful
    assert "0 errors, 1 warning in 1 of 1 file" in said["Labels of your own"]
    people = said["Labelling with others"]
    assert "Ada answered 12 questions" in people
    assert "Lin answered 12 questions" in people
    assert "the expert settled 4 dialogues" in people
    assert re.search(r"^(goal|move|certainty) +percent agreement +(0\.\d+) ", people, re.MULTILINE)
    with (tmp_path / "sheets" / "answers.csv").open(encoding="utf-8-sig") as file:
        given = [(row["item"].partition("#")[0], row["annotator"]) for row in csv.DictReader(file)]
    assert len(set(given)) == 4 * 2
    settled = [
        row for row in rows(tmp_path / "sets/settled/jsonl/test.jsonl")
        if row["aspect"] == "utterance"
    ]  # fmt: skip
    assert {row["label_move"] for row in settled} == {"admits"}, "what both people chose"
    assert {row["labelled_by"] for row in settled} == {"expert"}
    assert (tmp_path / "report.html").is_file()


@pytest.mark.slow
def test_an_engineer_makes_sets_trains_on_them_and_scores_models(hour, tmp_path):
    for package in ("trl", "datasets", "peft"):
        pytest.importorskip(package)
    save_tiny_model(tmp_path / "tiny")  # the script would make it in another process
    said = hour("ml-engineer")
    assert "24 cases, 48 dialogues" in said["A run"]
    assert "48 verified, 0 failed" in said["A run"]
    assert re.search(r"train: Dataset\(.*'prompt', 'completion'\]", said["Sets"], re.DOTALL)
    for kind in ("sft", "dpo"):
        trained = [
            row
            for file in (tmp_path / "sets" / kind / "trainers").glob("*-train.json*")
            for row in rows(file)
        ]
        assert f"5 steps on {len(trained)} rows" in said["A training"]
        assert (tmp_path / "tuned" / kind / "adapter_config.json").is_file()
    scores = said["An evaluation"]
    assert re.search(r"in all [5-8] calls, \$0\.0", scores)  # equal questions are one call
    assert re.search(r"\| offline/random \| declared, balanced(?: = [^|]*)? \|", scores)
    answers = rows(tmp_path / "results" / "results.jsonl")
    assert {row["model"] for row in answers} == {"offline/reader", "offline/random"}
    assert len(answers) == 16


@pytest.mark.slow
def test_a_batch_runner_meets_a_budget_a_kill_and_faults_and_goes_on(hour, tmp_path):
    said = hour("batch-runner")
    assert re.search(r"the budget of \$1\.00 covers all of it", said["The bill first"])
    stops = said["A budget that ends, a process that is killed"]
    assert "stopped: budget reached" in stops
    assert "\nexit code 4\n" in stops
    [(made, failed, there)] = MADE.findall(stops)
    assert int(made) + int(there) == 40
    assert failed == "0"
    [before] = re.findall(r"^stopped:budget; (\d+) of 40", stops, re.MULTILINE)
    assert int(before) < int(there) < 40, "the process that was killed had made some"
    assert "\nit was quicker than that\n" not in stops
    broken, mended = MADE.findall(said["An endpoint with faults"])
    assert int(broken[0]) + int(broken[1]) == 20
    assert int(broken[1]) > 0
    assert "\nexit code 1\n" in said["An endpoint with faults"]
    assert "server_fault: something" in said["An endpoint with faults"]
    assert mended == (broken[1], "0", str(60 - int(broken[1])))
    several = said["Several processes, several machines"]
    assert MADE.findall(several) == [("10", "0", "60")]
    assert "2 runs: 12 dialogues, 0 failed" in several
    assert "runs/merged is sound" in said["Judged, checked, handed over"]
    assert len(rows(tmp_path / "sets/night/jsonl/train.jsonl")) == 12
    assert (tmp_path / "report.html").is_file()
    assert not (tmp_path / "endpoint.pid").exists()
    with RunStore.open(tmp_path / "runs" / "night", readonly=True) as store:
        assert store.state().generated == 70


def test_the_scripts_are_the_commands_of_the_tutorials():
    made = runpy.run_path(str(ROOT / "docs" / "generate_first_hours.py"))["scripts"]()
    assert len(made) == 3
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/generate_first_hours.py"
        assert os.access(path, os.X_OK)
