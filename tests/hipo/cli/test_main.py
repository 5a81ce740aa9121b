"""The root command: quick, lazy, forgiving of typing mistakes, and the one place of exit codes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import typer

from hipo.cli.main import COMMANDS, app
from hipo.cli.terminal.errors import ENDINGS, MEANINGS, ExitCode, StoppedEarly, guarded
from pipeline.providers.errors import OutOfFunds
from pipeline.stopping import stop
from pipeline.stopping.stop import MustStop
from pipeline.store.writer import StoreFailed
from scenarios.errors import RunError, UsageError
from scenarios.plugins import PLUGINS, load_plugins
from tests.factories import make_dialogue, make_run
from tests.hipo.cli.conftest import Hipo

ROOT = Path(__file__).resolve().parents[3]
HEAVY = (
    "torch", "openai", "anthropic", "sentence_transformers", "pydantic", "yaml", "jinja2",
    "networkx", "orjson", "rich", "numpy", "asyncio", "aiohttp", "opentelemetry",
)  # fmt: skip


def test_the_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from hipo.cli.main import run; run(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "generate" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


LOOKS = (
    "numpy", "networkx", "yaml", "jinja2", "json_repair", "asyncio", "aiohttp", "openai", "rich",
    "torch", "scenarios.strict", "pipeline.store.run_store",
)  # fmt: skip
"""What is not needed to look at runs: models of files, and whatever writes."""


def test_looking_at_runs_imports_nothing_that_makes_them(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "trial", [make_dialogue("Was it ever hit?", "It was never hit.")])
    program = (
        "import sys; from hipo.cli.main import run;"
        "codes = [int(run(line.split())) for line in ('runs', 'runs show trial', 'show trial')];"
        f"print(codes, [name for name in {LOOKS!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.count("used_car") == 1
    assert done.stdout.splitlines()[-1] == "[0, 0, 0] []"


@pytest.mark.parametrize(
    ("module", "arguments", "said", "code"),
    [
        ("hipo", ["--help"], "", 0),
        ("hipo.app.workers.worker", [], '{"host": "127.0.0.1", "port": %d, "token": "t"}', 1),
    ],
)
def test_python_looks_for_no_garbage_in_all_there_is_when_it_ends(
    module: str, arguments: list[str], said: str, code: int
) -> None:
    program = (
        "import atexit, gc, runpy, sys;"
        "atexit.register(lambda: print(len(gc.get_objects())));"
        f"sys.argv = {['x', *arguments]!r};"
        f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    )
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen there
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False,
            input=said % nobody.getsockname()[1] if said else "",
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, "")
    assert int(done.stdout.splitlines()[-1]) < 1_000


def test_every_command_of_the_table_exists_and_has_a_help(hipo: Hipo) -> None:
    for name in COMMANDS:
        result = hipo(name, "--help")
        assert result.code == 0
        assert f"hipo {name}" in result.out


def test_the_root_help_has_every_command_with_its_summary(hipo: Hipo) -> None:
    out = " ".join(hipo("--help").out.split())
    for name, entry in COMMANDS.items():
        assert f"{name} {entry.summary}" in out


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [
        (("generat",), "'generate'"),
        (("--versoin",), "--version"),
        (("generate", "--modl", "x"), "--model"),
        (("runs", "shwo", "x"), "'show'"),
        (("runs", "list"), "'hipo runs' alone lists them"),
        (("generate", "--resume", "alwys"), "'always'"),
    ],
)
def test_a_mistyped_command_or_option_is_answered_with_the_nearest(
    hipo: Hipo, arguments: tuple[str, ...], suggested: str
) -> None:
    result = hipo(*arguments)
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert suggested in result.err
    assert result.out == ""


def test_without_arguments_the_help_is_shown(hipo: Hipo) -> None:
    result = hipo()
    assert result.code == 2
    assert "Commands:" in result.err


def test_the_version_is_one_line(hipo: Hipo) -> None:
    result = hipo("--version")
    assert result.code == 0
    assert result.out.startswith("hipo ")
    assert result.out.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such thing", "try another"), 2, "error: no such thing\n  try another\n"),
        (RunError("the endpoint is down"), 1, "error: the endpoint is down\n"),
        (StoppedEarly("late", "interrupted"), 3, "stopped: late\n  go on with the same command\n"),
        (StoppedEarly("$1 spent", "budget", "raise it"), 4, "stopped: $1 spent\n  raise it\n"),
        (OutOfFunds("no credit"), 4, "error: no credit\n  top the account up, then the same command\n"),
        (
            MustStop("no connection", "unavailable"), 5,
            "error: no connection\n  once the endpoint answers, go on with the same command\n",
        ),
        (StoppedEarly("all refused", "refused", "look"), 6, "stopped: all refused\n  look\n"),
        (
            StoreFailed("disk full"), 7,
            "error: disk full\n  make room on the disk, or end what locks the run, then the same command\n",
        ),
        (StoppedEarly("too few", "not_enough", "see why"), 1, "stopped: too few\n  see why\n"),
        (StoppedEarly("bugs", "internal_error", "mend it"), 70, "stopped: bugs\n  mend it\n"),
        (KeyboardInterrupt(), 3, "stopped: interrupted\n"),
        (typer.Abort(), 3, "stopped: interrupted\n"),
    ],
)  # fmt: skip
def test_every_kind_of_error_has_its_exit_code(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert guarded(fail) == code
    assert capsys.readouterr().err == message


def test_every_way_to_stop_has_an_exit_code_and_every_exit_code_a_meaning() -> None:
    codes = {
        value for name, value in vars(stop).items() if name.isupper() and isinstance(value, str)
    }
    assert set(ENDINGS) == codes - {stop.ENOUGH}, "to have enough is to be done"
    assert list(MEANINGS) == list(ExitCode)


def test_help_and_readme_list_every_exit_code(hipo: Hipo) -> None:
    out = " ".join(hipo("--help").out.split())
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for code, meaning in MEANINGS.items():
        assert f"{code} {meaning}" in out
        assert f"{code} {meaning}" in readme


def test_a_bug_is_one_line_unless_debugging(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.delenv("HIPO_DEBUG", raising=False)
    assert guarded(fail) == ExitCode.INTERNAL == 70
    err = capsys.readouterr().err
    assert err.startswith("internal error: ZeroDivisionError: surprise; please report")
    assert err.count("\n") == 1
    monkeypatch.setenv("HIPO_DEBUG", "1")
    assert guarded(fail) == 70
    assert "Traceback" in capsys.readouterr().err


def test_other_code_that_ends_the_process_is_no_success(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(lambda: sys.exit(0)) == ExitCode.INTERNAL
    assert "ended by sys.exit(0)" in capsys.readouterr().err


def test_a_mistake_in_a_plugin_is_told_as_one_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PLUGINS, "files", {})
    path = tmp_path / "mine.py"
    path.write_text(
        "class Gate:\n    point, name = 'gate', 'odd'\n    def of(self):\n        return {}['x']\n"
        "EXTENSIONS = [Gate()]\n"
    )
    load_plugins([path])
    [plugin] = PLUGINS.files.values()
    assert guarded(lambda: sorted([1], key=lambda _: plugin.extensions[0].of())) == ExitCode.USAGE
    assert capsys.readouterr().err == f"error: a plugin does not work: {path}:4: KeyError: 'x'\n"


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m hipo models --format json | true; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "0"
    assert done.stderr == ""


def test_the_root_has_no_option_that_installs_anything() -> None:
    names = [p.name for p in typer.main.get_command(app).params]
    assert names == ["version", "log_level", "log_format"]


@pytest.mark.parametrize("option", ["--output", "--status-file", "--model", "--scenarios"])
def test_a_name_that_is_no_text_is_a_mistake_of_the_user(hipo: Hipo, option: str) -> None:
    result = hipo("generate", "--model", "offline/rules", "-n", "1", option, os.fsdecode(b"r\xff"))
    assert (result.code, "is no text" in result.err) == (ExitCode.USAGE, True)


def test_a_folder_whose_name_is_no_text_here_is_told_before_a_command_runs(tmp_path: Path) -> None:
    folder = tmp_path / "l\u00e4ufe"
    folder.mkdir()
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "hipo", "runs"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, **ascii_alone, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "is no text in the encoding of this system (ascii)" in done.stderr
    assert "set PYTHONUTF8=1" in done.stderr


def test_where_no_temporary_file_can_be_made_it_is_told_what_to_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "none")])
    assert guarded(tempfile.gettempdir) == ExitCode.USAGE
    assert "set TMPDIR to one that can" in capsys.readouterr().err
