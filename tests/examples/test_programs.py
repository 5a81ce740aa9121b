"""The examples run as they stand, one after the other, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scripts import run_script

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.filterwarnings("ignore")  # of what the examples import


def example(folder: Path, *arguments: str) -> str:
    script, *rest = arguments
    return run_script(EXAMPLES / script, folder, *rest)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the first example has made its run."""
    folder = tmp_path_factory.mktemp("examples")
    told = example(folder, "generate.py", "-n", "24", "--any", "-o", "runs/example")
    assert "24 dialogues, verdicts:" in told
    assert (folder / "runs" / "example" / "report.html").is_file()
    return folder


def test_a_run_is_read_with_pandas(folder: Path) -> None:
    pytest.importorskip("pandas")
    told = example(folder, "read_with_pandas.py", "runs/example")
    assert "truthful non-disclosure" in told
    assert "external offline/judge" in told


def test_a_data_set_is_read_with_duckdb(folder: Path) -> None:
    pytest.importorskip("duckdb")
    assert "scenario" in example(folder, "read_with_duckdb.py", "runs/example/sft")


def test_a_model_is_trained_on_a_data_set_with_trl(folder: Path) -> None:
    pytest.importorskip("trl")
    assert (
        example(folder, "export_to_trl.py", "runs/example/sft")
        .splitlines()[-1]
        .startswith("2 steps")
    )


@pytest.mark.parametrize(
    ("script", "package", "wanted"),
    [
        ("export_to_trl", "trl", "SET"),
        ("read_with_duckdb", "duckdb", "SET"),
        ("read_with_pandas", "pandas", "RUN"),
    ],
)
def test_without_an_argument_an_example_says_what_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, package: str, wanted: str
) -> None:
    pytest.importorskip(package)
    with pytest.raises(SystemExit, match="2"):
        example(tmp_path, f"{script}.py")
    assert capsys.readouterr().err == f"usage: python examples/{script}.py {wanted}\n"


def test_dialogues_are_labelled_with_a_scheme_of_ones_own(tmp_path: Path) -> None:
    told = example(tmp_path, "own_scheme.py")
    assert "off record" in told
    assert "warmth" in told
