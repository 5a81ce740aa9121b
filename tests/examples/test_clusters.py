"""Scripts for clusters: that hipo takes their command lines, and what a job does when it is ended."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
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


def command_lines() -> list[str]:
    joined = "\n".join(path.read_text() for path in SCRIPTS).replace("\\\n", " ")
    return [
        line.strip().removesuffix("&") for line in re.findall(r"^hipo .*", joined, re.MULTILINE)
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_good_bash(script: Path) -> None:
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0


@pytest.mark.parametrize("line", command_lines())
def test_hipo_takes_a_command_line_of_them(line: str) -> None:
    arguments = shlex.split(line)[1:]
    arguments = ["1/8" if word.endswith("/$shards") else word for word in arguments]
    name, *rest = arguments
    command = typer.main.get_command(importlib.import_module(COMMANDS[name].module).app)
    if isinstance(command, TyperGroup):
        command = command.get_command(command.context_class(command), rest.pop(0))
        assert command is not None
    assert command.make_context(name, rest).params


def test_the_examples_have_several_command_lines() -> None:
    assert len(command_lines()) >= 5


FAKE = f"""\
#!{sys.executable} -IS
import os, signal, sqlite3, sys
from pathlib import Path

home, folder = Path(os.environ["HOME"]), Path(sys.argv[-1])
if "--shard" in sys.argv:
    (home / "asked").write_text(" ".join(sys.argv))
    if "0/8" in sys.argv:
        sys.exit(2)
if "merge" in sys.argv or "--shard" in sys.argv:
    folder.mkdir(exist_ok=True)
    (folder / "run.yaml").touch()
elif "export" in sys.argv:
    folder = next(Path(word) for word in sys.argv if word.endswith("whole"))

def stop(*_):
    with (folder / "told").open("a") as told:
        told.write("TERM\\n")

signal.signal(signal.SIGTERM, stop)
run = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
run.execute("pragma journal_mode = wal")
run.execute("create table if not exists done (what text)")
run.execute("insert into done values (?)", [sys.argv[1]])
if (home / "wait").exists() and sys.argv[1] in ("generate", "verify"):
    (home / "begun").touch()
    while not (folder / "told").exists():
        signal.sigtimedwait([], 0.05)
    sys.exit(3)
run.close()
sys.exit(int((home / sys.argv[1]).read_text()) if (home / sys.argv[1]).exists() else 0)
"""
"""A hipo that notes what it did; where ``wait`` lies it waits for a signal, as for a reply."""

SLOW = f"""\
#!{sys.executable} -IS
import os, signal, sys
from pathlib import Path

home = Path(os.environ["HOME"])
if sys.argv[-1].endswith(".new"):
    (home / "copying").touch()
    while not (home / "go on").exists():
        signal.sigtimedwait([], 0.05)
os.execv("/bin/cp", sys.argv)
"""
"""A cp that waits with what goes to where all machines see it."""


Job = Callable[..., subprocess.Popen[bytes]]


def done_in(run: Path) -> list[str]:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        return [what for (what,) in connection.execute("select what from done order by rowid")]


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """Yield what begins a job; all its processes end with the test, as with Slurm."""
    begun: list[subprocess.Popen[bytes]] = []
    programs, scratch = tmp_path / "bin", tmp_path / "scratch"
    programs.mkdir()
    scratch.mkdir()
    (programs / "hipo").write_text(FAKE)
    (programs / "hipo").chmod(0o755)

    def begin(script: str, **environment: str) -> subprocess.Popen[bytes]:
        started = subprocess.Popen(
            ["bash", "-c", script],
            env={
                "PATH": f"{programs}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
                "TMPDIR": str(scratch),
                **environment,
            },
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        begun.append(started)
        return started

    yield begin
    for started in begun:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.communicate()


@pytest.fixture
def shard_job(job: Job) -> Job:
    """Return what begins a job of the array, which copies its run after a while."""

    def begin(task: str, every: str = "600") -> subprocess.Popen[bytes]:
        script = (FOLDER / "slurm_array.sh").read_text().replace("every=600 ", f"every={every} ")
        return job(script, SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID=task)

    return begin


@pytest.fixture
def merge_job(job: Job) -> Job:
    return lambda: job((FOLDER / "merge_shards.sh").read_text())


@pytest.fixture
def pod(job: Job, tmp_path: Path) -> Job:
    """Return what begins the container of the first pod, and sends the delayed signal at once."""
    (container,) = yaml.safe_load(JOB.read_text())["spec"]["template"]["spec"]["containers"]
    (command,) = container["args"]
    named = {variable["name"]: variable["value"] for variable in container["env"]}
    script = (FOLDER / "slurm_array.sh").read_text().replace("sleep 15", "sleep 0")
    (tmp_path / "slurm_array.sh").write_text(script)
    command = command.replace("/scripts", str(tmp_path))
    return lambda: job(command, **{**named, "HOME": str(tmp_path)}, JOB_COMPLETION_INDEX="0")


def wait_for(path: Path, job: subprocess.Popen[bytes]) -> None:
    latest = time.monotonic() + 30
    while not path.exists():
        assert job.poll() is None
        assert time.monotonic() < latest, f"{path.name} is not there"
        time.sleep(0.02)


def test_a_job_submitted_again_goes_on_and_leaves_nothing_on_its_machine(
    shard_job: Job, tmp_path: Path
) -> None:
    assert shard_job("3").wait(30) == 0
    assert shard_job("3").wait(30) == 0
    runs = tmp_path / "hipo-runs"
    assert done_in(runs / "shard-3") == ["generate"] * 2
    assert [path.name for path in runs.iterdir()] == ["shard-3"]
    assert not list((tmp_path / "scratch").iterdir())
    assert "--shard 3/8 " in (tmp_path / "asked").read_text()


def test_a_job_that_is_no_shard_ends_with_the_exit_code_of_hipo(
    shard_job: Job, tmp_path: Path
) -> None:
    assert shard_job("0").wait(30) == 2
    assert not list((tmp_path / "hipo-runs").iterdir())
    assert not list((tmp_path / "scratch").iterdir())


def test_a_job_that_is_of_no_array_says_how_to_submit_it(job: Job) -> None:
    lonely = job((FOLDER / "slurm_array.sh").read_text())
    assert b"submit this with sbatch --array=1-8" in lonely.communicate(timeout=30)[1]
    assert lonely.returncode == 1


def test_a_copy_cut_off_between_two_folders_is_found_again(shard_job: Job, tmp_path: Path) -> None:
    assert shard_job("1").wait(30) == 0
    run = tmp_path / "hipo-runs" / "shard-1"
    run.rename(run.with_name(".shard-1.old"))
    assert shard_job("1").wait(30) == 0
    assert done_in(run) == ["generate"] * 2


def test_a_run_is_copied_while_it_is_played_so_that_a_machine_that_dies_takes_little_with_it(
    shard_job: Job, tmp_path: Path
) -> None:
    (tmp_path / "wait").touch()
    first = shard_job("1", every="0.2")
    run = tmp_path / "hipo-runs" / "shard-1"
    wait_for(run / "run.sqlite", first)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    (tmp_path / "wait").unlink()
    assert shard_job("1").wait(30) == 0
    assert done_in(run) == ["generate"] * 2
    assert (run / "run.yaml").exists()


@pytest.mark.parametrize("everybody", [False, True], ids=["time limit", "scancel"])
def test_a_job_that_is_ended_tells_hipo_once_and_keeps_its_run(
    shard_job: Job, tmp_path: Path, *, everybody: bool
) -> None:
    (tmp_path / "wait").touch()
    job = shard_job("1")
    wait_for(tmp_path / "begun", job)
    if everybody:
        os.killpg(job.pid, signal.SIGTERM)
    else:
        job.send_signal(signal.SIGUSR1)
    assert job.wait(30) == 3
    assert (tmp_path / "hipo-runs" / "shard-1" / "told").read_text() == "TERM\n"


def test_a_pod_that_is_ended_tells_hipo_and_another_one_goes_on(pod: Job, tmp_path: Path) -> None:
    (tmp_path / "wait").touch()
    first = pod()
    wait_for(tmp_path / "begun", first)
    first.terminate()
    assert first.wait(30) == 3
    (tmp_path / "wait").unlink()
    assert pod().wait(30) == 0
    assert done_in(tmp_path / "hipo-runs" / "shard-1") == ["generate"] * 2
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("kind", ["shard_job", "merge_job"])
def test_what_is_told_to_end_while_it_copies_copies_all(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    if kind == "merge_job":
        assert request.getfixturevalue("shard_job")("1").wait(30) == 0
    start = request.getfixturevalue(kind)
    (tmp_path / "bin" / "cp").write_text(SLOW)
    (tmp_path / "bin" / "cp").chmod(0o755)
    job = start("1") if kind == "shard_job" else start()
    wait_for(tmp_path / "copying", job)
    for told in (signal.SIGTERM, signal.SIGUSR1):
        os.killpg(job.pid, told)
    (tmp_path / "go on").touch()
    assert job.wait(30) == 0
    names = {
        "shard_job": "hipo-runs/shard-1",
        "merge_job": "hipo-runs/whole",
        "pod": "runs/shard-0",
    }
    assert done_in(tmp_path / names[kind])


def test_a_run_that_cannot_be_copied_is_left_where_it_is_and_that_is_told(
    shard_job: Job, tmp_path: Path
) -> None:
    (tmp_path / "bin" / "cp").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "cp").chmod(0o755)
    job = shard_job("1")
    told = job.communicate(timeout=30)[1].decode()
    (run,) = (tmp_path / "scratch").glob("*/shard-1")
    assert str(run) in told
    assert (job.returncode, done_in(run)) == (7, ["generate"])


def test_shards_are_merged_judged_and_exported(
    shard_job: Job, merge_job: Job, tmp_path: Path
) -> None:
    assert shard_job("1").wait(30) == 0
    assert merge_job().wait(30) == 0
    assert done_in(tmp_path / "hipo-runs" / "whole") == ["runs", "verify", "export"]
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(("code", "then"), [("1", ["export"]), ("5", [])])
def test_a_dialogue_that_is_not_judged_keeps_no_set_from_being_made(
    shard_job: Job, merge_job: Job, tmp_path: Path, code: str, then: list[str]
) -> None:
    assert shard_job("1").wait(30) == 0
    (tmp_path / "verify").write_text(code)
    assert merge_job().wait(30) == int(code)
    assert done_in(tmp_path / "hipo-runs" / "whole") == ["runs", "verify", *then]


def test_verdicts_of_a_merge_whose_time_is_over_are_kept(
    shard_job: Job, merge_job: Job, tmp_path: Path
) -> None:
    assert shard_job("1").wait(30) == 0
    (tmp_path / "wait").touch()
    job = merge_job()
    wait_for(tmp_path / "begun", job)
    job.send_signal(signal.SIGUSR1)
    assert job.wait(30) == 3
    assert done_in(tmp_path / "hipo-runs" / "whole") == ["runs", "verify"]


def test_a_merge_without_any_shard_says_what_it_has_to_wait_for(merge_job: Job) -> None:
    job = merge_job()
    assert b"submit this with --dependency=singleton,afterany:JOB" in job.communicate(timeout=30)[1]
    assert job.returncode == 2


def test_a_recipe_without_a_price_is_given_no_budget_in_dollars() -> None:
    recipe = yaml.safe_load((RECIPES / "hipo-paper.yaml").read_text())
    assert "price" not in recipe["models"]["default"]
    assert all("--budget-usd" not in line for line in command_lines() if "hipo-paper" in line)
