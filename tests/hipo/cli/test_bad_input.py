"""Every mistake gets one clear message and exit code 2, and nothing half-made is left behind."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hipo.cli.terminal.errors import exit_code_of, guarded
from pipeline.embeddings import embeddings
from pipeline.providers import registry
from pipeline.store.evaluation_store import EvaluationStore
from tests.hipo.cli.conftest import Hipo

OFFLINE = ("--model", "offline/rules")
BEYOND = "9" * 20
MISTAKES = {
    "scenario": ((*OFFLINE, "--scenarios", "used_cra"), "did you mean 'used_car'?"),
    "fact": ((*OFFLINE, "--facts", "guardrial"), "did you mean 'guardrail'?"),
    "strategy": ((*OFFLINE, "--strategy", "reflectve"), "did you mean 'reflective'?"),
    "provider": (("--model", "opena/gpt-4o"), "did you mean openai/gpt-4o?"),
    "model": (("--model", "offline/rule"), "it has: offline/rules"),
    "model without provider": (("--model", "gpt-4o"), "write provider/model"),
    "no model": ((), "give --model provider/name"),
    "no address": (("--model", "compatible/x"), "give --base-url"),
    "scheme": ((*OFFLINE, "--scheme", "hippo"), "did you mean 'hipo'?"),
    "goal label": ((*OFFLINE, "--goals", "decepton"), "did you mean 'deception'?"),
    "axis": ((*OFFLINE, "--vary", "registr"), "did you mean 'register'?"),
    "key": (("--model", "openai/gpt-4o"), "OPENAI_API_KEY is not set"),
    "named key": (
        ("--model", "openai/gpt-4o", "--api-key-env", "MY_KEY"),
        "MY_KEY is not set",
    ),
    "language": ((*OFFLINE, "--language", "zh"), "languages: found en ("),
    "turns 0": ((*OFFLINE, "--turns", "0"), "--turns: found '0', expected greater than or equal"),
    "turns text": ((*OFFLINE, "--turns", "two"), "--turns: found 'two'"),
    "K 1": ((*OFFLINE, "--strategy", "consistency", "--k", "1"), "--k: found 1, expected greater"),
    "budget 0": ((*OFFLINE, "--budget-usd", "0"), "--budget-usd: found 0.0, expected greater"),
    "budget without end": (
        (*OFFLINE, "--budget-usd", "inf"),
        "--budget-usd: found inf, expected a finite number",
    ),
    "budget below 0": ((*OFFLINE, "--budget-usd", "-2"), "--budget-usd: found -2.0"),
    "token budget 0": ((*OFFLINE, "--budget-tokens", "0"), "--budget-tokens: found 0"),
    "n 0": ((*OFFLINE, "-n", "0"), "-n: found 0"),
    "n beyond 64 bits": ((*OFFLINE, "-n", BEYOND), f"-n: found {BEYOND}, expected at most"),
    "tokens beyond all": ((*OFFLINE, "--max-tokens", "9" * 12), "expected less than or equal to"),
    "turns without end": ((*OFFLINE, "--turns", "1001"), "expected less than or equal to 1000"),
    "preview without end": ((*OFFLINE, "--preview", "9" * 12), "less than or equal to 10000"),
    "price": (
        ("--model", "compatible/x", "--base-url", "http://127.0.0.1:9/v1", "--budget-usd", "1"),
        "--budget-usd needs a price for compatible/x",
    ),
    "tactics": ((*OFFLINE, "--tactics", "balancd"), "did you mean 'balanced'?"),
    "no tactics": ((*OFFLINE, "--tactics", "nowhere"), "expected free, balanced or a file"),
    "tactics file": ((*OFFLINE, "--tactics", "nowhere.yaml"), "nowhere.yaml"),
    "template folder": ((*OFFLINE, "--prompt-dir", "nowhere"), "there is no such directory"),
    "scenario folder": ((*OFFLINE, "--scenario-dir", "nowhere"), "nowhere"),
    "price file": ((*OFFLINE, "--prices", "nowhere.yaml"), "nowhere.yaml"),
    "recipe": (("hipo-papr",), "did you mean 'hipo-paper'?"),
    "embedding device": (
        (*OFFLINE, "--strategy", "consistency", "--embedding-device", "gpu"),
        "--embedding-device: found 'gpu'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_message_and_nothing_is_made(
    hipo: Hipo, tmp_path: Path, mistake: str
) -> None:
    arguments, expected = MISTAKES[mistake]
    result = hipo("generate", *arguments, "-o", "out")
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert result.err.count("error:") == 1
    assert expected in result.err
    assert result.out == ""
    assert list(tmp_path.iterdir()) == []


RECIPES = {
    "misspelt field": ("name: a\nturnz: [1]\n", ":2: turnz:", "did you mean 'turns'?"),
    "misspelt nested field": (
        "models:\n  default:\n    temprature: 1\n",
        ":3: models.default.temprature:",
        "did you mean 'temperature'?",
    ),
    "turns 0": ("turns: [1, 0]\n", ":1: turns[1]:", "found 0"),
    "K 1": ("consistency:\n  k: 1\n", ":2: consistency.k:", "found 1"),
    "budget": ("budget_usd: -1\n", ":1: budget_usd:", "found -1"),
    "broken YAML": ("name: [a\n", ":", "broken YAML"),
    "a list": ("- 1\n", ":1", "found"),
    "strategy": ("strategies: [direkt]\n", ":1: strategies[0]:", "direct"),
}


@pytest.mark.parametrize("mistake", RECIPES)
def test_a_mistake_in_a_recipe_is_named_with_its_file_and_line(
    hipo: Hipo, tmp_path: Path, mistake: str
) -> None:
    text, where, what = RECIPES[mistake]
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    result = hipo("generate", "mine.yaml", "--model", "offline/rules")
    assert result.code == 2
    assert f"mine.yaml{where}" in result.err
    assert what in result.err
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_extra_is_named_with_the_pip_command(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "find_spec", lambda name: None)
    result = hipo("generate", *OFFLINE, "--strategy", "consistency", "-o", "out")
    assert result.code == 2
    assert "pip install" in result.err
    assert "hipo[embeddings]" in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_of_a_provider_is_named_with_the_pip_command(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    monkeypatch.setattr(registry.ProviderExtension, "release", None)
    result = hipo("generate", "--model", "openai/gpt-4o", "-o", "out")
    assert result.code == 2
    assert "pip install openai" in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_else_is_left_alone(hipo: Hipo, tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.tex").write_text("words")
    result = hipo("generate", *OFFLINE, "-n", "1", "-o", "thesis")
    assert result.code == 2
    assert "thesis holds something that is not a run" in result.err
    assert [path.name for path in folder.iterdir()] == ["chapter.tex"]


def test_a_file_is_no_folder(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("words")
    for output in ("notes", "notes/run"):
        result = hipo("generate", *OFFLINE, "-n", "1", "-o", output)
        assert result.code == 2
        assert "notes is a file" in result.err


def test_what_a_killed_beginning_left_behind_is_no_obstacle(hipo: Hipo, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "run.lock").write_text("")
    assert hipo("generate", *OFFLINE, "-n", "1", "-o", "out").code == 0


def test_the_value_of_a_key_is_never_shown(hipo: Hipo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    result = hipo("models", "--format", "json")
    assert "sk-very-secret" not in result.out + result.err
    text = hipo("models")
    assert "OPENAI_API_KEY set" in text.out
    assert "sk-very-secret" not in text.out


def test_an_evaluation_is_told_from_a_run(hipo: Hipo, tmp_path: Path) -> None:
    EvaluationStore.begin(tmp_path / "results").close()
    for command in (("runs", "show"), ("verify",), ("export", "--to", "benchmark", "-o", "set")):
        result = hipo(*command, "results")
        assert (result.code, "results holds an evaluation, not a run" in result.err) == (2, True)
    result = hipo("generate", "--model", "offline/rules", "-n", "1", "-o", "results")
    assert (result.code, "results holds an evaluation" in result.err) == (2, True)


@pytest.mark.parametrize("command", [("runs", "show"), ("generate", *OFFLINE, "-n", "1", "-o")])
def test_a_name_that_is_too_long_for_a_file_is_told(hipo: Hipo, command: tuple[str, ...]) -> None:
    result = hipo(*command, "x" * 5000)
    assert result.code == 2
    assert "file name too long\n  choose a shorter name" in result.err
    assert len(result.err) < 400


def test_a_link_that_leads_nowhere_is_no_output(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("out")
    result = hipo("generate", *OFFLINE, "-n", "1", "-o", "out")
    assert (result.code, "out is a link that leads nowhere" in result.err) == (2, True)


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EACCES, 2), (errno.EROFS, 2), (errno.ENOSPC, 7), (errno.EFBIG, 7), (errno.ENOENT, 70)],
)
def test_what_a_file_does_not_allow_is_no_internal_error(
    capsys: pytest.CaptureFixture[str], number: int, code: int
) -> None:
    def fails() -> None:
        raise error

    error = OSError(number, os.strerror(number), "somewhere/table.csv")
    assert (guarded(fails), exit_code_of(error)) == (code, code)
    assert "somewhere/table.csv" in capsys.readouterr().err


def test_a_pipe_is_no_plugin_and_is_not_waited_for(hipo: Hipo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plugin.py")
    result = hipo("models", "--plugin", "plugin.py")
    assert (result.code, "plugin.py" in result.err) == (2, True)


@pytest.mark.parametrize(
    "command",
    [
        ("show", "run", "-n", BEYOND),
        ("show", "run", "--skip", BEYOND),
        ("runs", "tail", "run", "--no-follow", "-n", BEYOND),
        ("report", "run", "--samples", BEYOND),
        ("export", "run", "-o", "set", "--seed", BEYOND),
        ("audit", "run", "--seed", "-1"),
        ("audit", "run", "--seed", str(2**32)),
        ("agreement", "run", "--seed", "-1"),
    ],
    ids=" ".join,
)
def test_a_number_that_nothing_can_hold_is_refused_by_its_option(
    hipo: Hipo, tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert hipo("generate", *OFFLINE, "-n", "1", "-o", "run").code == 0
    result = hipo(*command)
    assert (result.code, command[-2] in result.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
