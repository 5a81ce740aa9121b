"""Scripts for clusters: their syntax, and that hipo takes the command lines in them."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperGroup

from hipo.cli.main import COMMANDS

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "clusters"
SCRIPTS = sorted(FOLDER.glob("*.sh"))
JOB = FOLDER / "kubernetes_job.yaml"


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
    arguments = ["1/8" if word.startswith("$shard") else word for word in arguments]
    name, *rest = arguments
    command = typer.main.get_command(importlib.import_module(COMMANDS[name].module).app)
    if isinstance(command, TyperGroup):
        command = command.get_command(command.context_class(command), rest.pop(0))
        assert command is not None
    assert command.make_context(name, rest).params


def test_the_examples_have_several_command_lines() -> None:
    assert len(command_lines()) >= 6
