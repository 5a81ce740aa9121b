"""Commands that messages, tables and pages name can be typed as they are printed, in any folder."""

from __future__ import annotations

import html
import re
import subprocess
from pathlib import Path

import pytest

from pipeline.store.reading import connect_run
from pipeline.store.reviews import ReviewStore
from pipeline.store.run_store import RunStore
from scenarios.errors import UsageError
from scenarios.text_file import typed_path
from tests.hipo.cli.conftest import Hipo, damage
from tests.hipo.cli.damage import UNREADABLE

RUN = "it's my run"


def words(said: str, command: str, until: str = "\n") -> list[str]:
    """Return the arguments that a shell hands to hipo for what is printed up to a text."""
    first = said[said.index(f"hipo {command}") :].partition(until)[0]
    script = f"hipo() {{ printf '%s\\0' \"$@\"; }}; {first}"
    shell = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    return shell.stdout.decode().split("\0")[:-1]


def generated(hipo: Hipo) -> None:
    made = hipo(
        "generate", "-m", "offline/rules", "--scenarios", "used_car", "-n", "2", "--turns", "1",
        "-o", RUN,
    )  # fmt: skip
    assert made.code == 0, made.err


def test_every_step_from_a_run_to_its_data_set_can_be_typed(hipo: Hipo) -> None:
    generated(hipo)
    assert hipo(*words(hipo("runs", "show", RUN).out, "show")).code == 0
    refused = hipo("export", RUN, "--accepted", "-o", "set")
    assert hipo(*words(refused.err, "verify", "),")).code == 0
    told = hipo("runs", "show", RUN).out
    assert hipo(*words(told, "export", " makes a data set")).code == 0
    assert Path(f"sets/{RUN}").is_dir()
    assert hipo(*words(told, "report", " writes a page")).code == 0
    heard = hipo("verify", RUN, "--juror", "offline/judge").out
    assert "hipo agreement" not in heard  # of one there is none
    heard = hipo("verify", RUN, "--juror", "offline/random").out
    assert words(heard, "agreement") == ["agreement", RUN, "--of", "juror"]


def test_every_command_of_a_report_can_be_typed(hipo: Hipo) -> None:
    generated(hipo)
    assert hipo("report", RUN, "-o", "page.html").code == 0
    named = re.findall(r"<code>(hipo .*?)</code>", Path("page.html").read_text())
    commands = [words(html.unescape(one), "") for one in named if RUN[:2] in html.unescape(one)]
    assert ["verify", RUN] in commands
    assert all(RUN in command for command in commands)
    evaluate = next(command for command in commands if command[0] == "evaluate")
    assert evaluate[1:] == [
        RUN,
        "--task",
        "TASK",
        "--model",
        "PROVIDER/NAME",
        "-o",
        f"{RUN}/evaluation",
    ]


def test_what_mends_a_damaged_run_can_be_typed(hipo: Hipo) -> None:
    generated(hipo)
    UNREADABLE["header"](Path(RUN, "run.sqlite"))
    said = hipo("show", RUN).err
    checked = hipo(*words(said, "runs check", " says what"))
    assert checked.code == 1
    assert words(said, "runs repair", " saves") == ["runs", "repair", RUN]


@pytest.mark.parametrize("look", [RunStore.open, connect_run, ReviewStore.open])
def test_what_begins_a_run_can_be_typed(tmp_path: Path, look: object) -> None:
    with pytest.raises(UsageError) as refused:
        look(tmp_path / RUN)  # type: ignore[operator]
    typed = words(refused.value.hint, "generate", " begins")
    assert typed == ["generate", "-o", str(tmp_path / RUN)]


def test_scenarios_and_schemes_of_ones_own_are_checked_by_what_is_printed(hipo: Hipo) -> None:
    made = hipo("scheme", "new", "mine", "-o", RUN).out
    assert words(made, "scheme validate") == ["scheme", "validate", f"{RUN}/mine.yaml"]
    assert hipo(*words(made, "scenarios new")).code == 0
    told = hipo("scenarios", "new", "car", "-o", RUN).out
    assert hipo(*words(told, "scenarios validate")).code in (0, 2)


def test_what_else_is_wrong_with_a_pack_is_shown_by_what_is_printed(hipo: Hipo, pack: Path) -> None:
    damage(pack, "tags: [everyday", "tags: [everday")
    (pack / "torn.yaml").write_text("id: torn\ntitle: [\n")
    pack.rename(RUN)
    refused = hipo("generate", "-m", "offline/rules", "--scenario-dir", RUN, "--dry-run")
    typed = words(refused.err, "scenarios validate", " shows")
    assert typed == ["scenarios", "validate", RUN]


def test_a_path_is_never_taken_for_an_option() -> None:
    assert typed_path("-rf") == "./-rf"
    assert typed_path(Path("runs/trial")) == "runs/trial"
