"""Scripts for clusters: that hipo takes their command lines, and what a job does when it is ended."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperGroup

from hipo.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "clusters"
RECIPES = ROOT / "pipeline" / "recipes"
SCRIPTS = sorted(FOLDER.glob("*.sh"))
JOB = FOLDER / "kubernetes_job.yaml"
Job = Callable[[str], subprocess.Popen[bytes]]


def command_lines() -> list[str]:
    job = yaml.safe_load(JOB.read_text())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    text = "\n".join([*(path.read_text() for path in SCRIPTS), *container["args"]])
    joined = text.replace("\\\n", " ")
    return [
        line.strip().removesuffix("&") for line in re.findall(r"^hipo .*", joined, re.MULTILINE)
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_good_bash(script: Path) -> None:
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0


@pytest.mark.parametrize("line", command_lines())
def test_hipo_takes_a_command_line_of_them(line: str) -> None:
    arguments = shlex.split(re.sub(r'"?\$\(\(.*?\)\)', '"1', line))[1:]
    arguments = ["1/8" if word.endswith("/$shards") else word for word in arguments]
    name, *rest = arguments
    command = typer.main.get_command(importlib.import_module(COMMANDS[name].module).app)
    if isinstance(command, TyperGroup):
        command = command.get_command(command.context_class(command), rest.pop(0))
        assert command is not None
    assert command.make_context(name, rest).params


def test_the_examples_have_several_command_lines() -> None:
    assert len(command_lines()) >= 6


FAKE = f"""\
#!{sys.executable} -IS
import os, signal, sys
from pathlib import Path

home, folder = Path(os.environ["HOME"]), Path(sys.argv[-1])
(home / "asked").write_text(" ".join(sys.argv))
if os.environ["SLURM_ARRAY_TASK_ID"] == "0":
    sys.exit(2)
folder.mkdir(exist_ok=True)

def stop(*_):
    with (folder / "told").open("a") as told:
        told.write("TERM\\n")

signal.signal(signal.SIGTERM, stop)
with (folder / "run.sqlite").open("a") as run:
    run.write("played\\n")
if (home / "wait").exists():
    (home / "begun").touch()
    while not (folder / "told").exists():
        signal.sigtimedwait([], 0.05)
    sys.exit(3)
"""
"""A hipo that plays one dialogue, and where ``wait`` lies waits for a signal, as for a reply."""


@pytest.fixture
def shard_job(tmp_path: Path) -> Iterator[Job]:
    """Yield what begins a job of the array; all its processes end with the test, as with Slurm."""
    begun: list[subprocess.Popen[bytes]] = []
    programs, scratch = tmp_path / "bin", tmp_path / "scratch"
    programs.mkdir()
    scratch.mkdir()
    (programs / "hipo").write_text(FAKE)
    (programs / "hipo").chmod(0o755)

    def begin(task: str) -> subprocess.Popen[bytes]:
        job = subprocess.Popen(
            ["bash", str(FOLDER / "slurm_array.sh")],
            env={
                "PATH": f"{programs}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
                "TMPDIR": str(scratch),
                "SLURM_ARRAY_JOB_ID": "7",
                "SLURM_ARRAY_TASK_ID": task,
            },
            start_new_session=True,
        )
        begun.append(job)
        return job

    yield begin
    for job in begun:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()


def test_a_job_submitted_again_goes_on_and_leaves_nothing_on_its_machine(
    shard_job: Job, tmp_path: Path
) -> None:
    assert shard_job("3").wait(30) == 0
    assert shard_job("3").wait(30) == 0
    runs = tmp_path / "hipo-runs"
    assert (runs / "shard-3" / "run.sqlite").read_text() == "played\nplayed\n"
    assert [path.name for path in runs.iterdir()] == ["shard-3"]
    assert not list((tmp_path / "scratch").iterdir())
    assert "--shard 3/8 " in (tmp_path / "asked").read_text()


def test_a_job_that_is_no_shard_ends_with_the_exit_code_of_hipo(
    shard_job: Job, tmp_path: Path
) -> None:
    assert shard_job("0").wait(30) == 2
    assert not list((tmp_path / "hipo-runs").iterdir())


def test_a_copy_cut_off_between_two_folders_is_found_again(shard_job: Job, tmp_path: Path) -> None:
    old = tmp_path / "hipo-runs" / ".shard-1.old"
    old.mkdir(parents=True)
    (old / "run.sqlite").write_text("before\n")
    assert shard_job("1").wait(30) == 0
    run = tmp_path / "hipo-runs" / "shard-1" / "run.sqlite"
    assert run.read_text() == "before\nplayed\n"


@pytest.mark.parametrize("everybody", [False, True], ids=["time limit", "scancel"])
def test_a_job_that_is_ended_tells_hipo_once_and_keeps_its_run(
    shard_job: Job, tmp_path: Path, *, everybody: bool
) -> None:
    (tmp_path / "wait").touch()
    job = shard_job("1")
    while not (tmp_path / "begun").exists():
        assert job.poll() is None
    if everybody:
        os.killpg(job.pid, signal.SIGTERM)
    else:
        job.send_signal(signal.SIGUSR1)
    assert job.wait(30) == 3
    assert (tmp_path / "hipo-runs" / "shard-1" / "told").read_text() == "TERM\n"


def test_a_recipe_without_a_price_is_given_no_budget_in_dollars() -> None:
    recipe = yaml.safe_load((RECIPES / "hipo-paper.yaml").read_text())
    assert "price" not in recipe["models"]["default"]
    assert all("--budget-usd" not in line for line in command_lines() if "hipo-paper" in line)
