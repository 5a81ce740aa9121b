"""The examples run as they stand, one after the other, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hipo import open_run
from tests.scripts import run_script
from tests.tiny_model import save_tiny_model

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


def test_activations_of_a_local_model_are_kept_beside_goals_and_scenarios(folder: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("sklearn")
    model = save_tiny_model(folder / "model")
    told = example(folder, "read_activations.py", "runs/example", str(model)).splitlines()
    answers = sum(
        len(dialogue.answers()) for dialogue in open_run(folder / "runs/example").dialogues()
    )
    with np.load(folder / "activations.npz") as kept:
        assert kept["states"].shape == (answers, 3, 32)  # embeddings, and two layers
        assert set(kept["goal"]) == {"deception", "truthful non-disclosure"}
        assert len(set(kept["turn"])) == answers
    assert [line.split(":")[0] for line in told] == ["layer 0", "layer 1", "layer 2"]


@pytest.mark.parametrize(
    ("script", "package", "wanted"),
    [
        ("export_to_trl", "trl", "SET"),
        ("read_activations", "sklearn", "RUN MODEL"),
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


@pytest.mark.parametrize(
    ("script", "package", "given", "told"),
    [
        ("export_to_trl", "trl", ["runs/example"], "runs/example: found a run, expected a training set"),
        ("export_to_trl", "trl", ["."], ".: found no manifest.json, expected a training set"),
        ("read_activations", "sklearn", ["runs/example/sft", "model"], "runs/example/sft"),
        ("read_activations", "sklearn", ["runs/example", "no/model"], "no/model"),
        ("read_with_duckdb", "duckdb", ["runs/example"], "runs/example: found a run, expected a folder"),
        ("read_with_duckdb", "duckdb", ["nowhere"], "nowhere: found no Parquet files"),
        ("read_with_pandas", "pandas", ["runs/example/sft"], "runs/example/sft: found a data set"),
        ("read_with_pandas", "pandas", ["nowhere"], "nowhere: found no run.sqlite"),
    ],
)  # fmt: skip
def test_what_an_example_cannot_read_is_one_message(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    script: str,
    package: str,
    given: list[str],
    told: str,
) -> None:
    pytest.importorskip(package)
    with pytest.raises(SystemExit, match="2"):
        example(folder, f"{script}.py", *given)
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert told in err


def test_dialogues_are_labelled_with_a_scheme_of_ones_own(tmp_path: Path) -> None:
    told = example(tmp_path, "own_scheme.py")
    assert "off record" in told
    assert "warmth" in told
