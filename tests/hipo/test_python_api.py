"""What ``import hipo`` offers, that it is cheap, and what happens beside files of the same names."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import hipo

ROOT = Path(hipo.__file__).parent.parent
HEAVY = ("pydantic", "yaml", "jinja2", "networkx", "orjson", "rich", "numpy", "openai", "typer")
FUNCTIONS = (
    "estimate", "export", "generate", "load_recipe", "open_run", "preview", "report", "study",
    "verify",
)  # fmt: skip


def script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the user's that lies in ``folder``."""
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, path.name], cwd=folder, capture_output=True, text=True, timeout=120,
        check=False, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_importing_hipo_imports_nothing_heavy(tmp_path: Path) -> None:
    done = script(tmp_path, f"import sys, hipo\nprint([m for m in {HEAVY} if m in sys.modules])")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_every_name_can_be_imported_and_is_listed() -> None:
    assert set(hipo.__all__) <= set(dir(hipo))
    for name in hipo.__all__:
        assert getattr(hipo, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'generatte'"):
        getattr(hipo, "generatte")  # noqa: B009


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_documented_with_a_call(name: str) -> None:
    text = inspect.getdoc(getattr(hipo, name)) or ""
    assert f"{name}(" in text


@pytest.mark.parametrize(
    "hiding", ["prompts.py", "outputs.py", "quality.py", "scenarios.py", "pipeline/__init__.py"]
)
def test_a_file_that_hides_a_package_is_named_in_one_line(tmp_path: Path, hiding: str) -> None:
    file = tmp_path / hiding
    file.parent.mkdir(exist_ok=True)
    file.write_text("MINE = 1\n", encoding="utf-8")
    done = script(tmp_path, "from hipo import generate")
    last = done.stderr.strip().splitlines()[-1]
    package = Path(hiding).parts[0].removesuffix(".py")
    assert last.startswith(f"ImportError: {file} hides the package {package!r} of hipo: ")
    assert "rename it" in last


def test_the_command_line_refuses_to_start_beside_a_hiding_file(tmp_path: Path) -> None:
    (tmp_path / "prompts.py").write_text("SYSTEM = 'mine'\n", encoding="utf-8")
    done = script(
        tmp_path,
        "import runpy, sys\nsys.argv = ['hipo', '--help']\nrunpy.run_module('hipo', run_name='__main__')",
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"error: {tmp_path / 'prompts.py'} hides the package 'prompts'")


def test_a_folder_of_the_same_name_without_init_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "set.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    done = script(tmp_path, "from hipo import export, generate\nprint(export.__module__)")
    assert (done.stdout, done.stderr) == ("hipo.app.export.export\n", "")


def test_an_option_no_export_has_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(hipo.UsageError, match=r"no option 'frmat'\n  did you mean 'format'"):
        hipo.export(tmp_path, "sft", tmp_path / "set", frmat="trl")  # type: ignore[call-arg]
