"""The released tables as runs: what the commands say of the run is what they say of the files."""

import pytest

from hipo.cli.main import run
from tests.reference.cei import reference_folder
from tests.reference.commands import figures, statistics

TABLES = {
    "cei": ("cei", "*.csv", "emotion"),
    "cobra": ("cobra", "*.csv", "commitment"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_run_made_of_released_tables_agrees_as_the_tables_do(name, tmp_path):
    folder, pattern, dimension = TABLES[name]
    paths = sorted(reference_folder(folder).glob(pattern))
    assert run(["import", *map(str, paths), "--map", name, "-o", str(tmp_path / "run")]) == 0
    of_files = figures(tmp_path / "files.json", "agreement", *paths, "--map", name)
    of_run = figures(tmp_path / "run.json", "agreement", tmp_path / "run")
    assert [group["group"] for group in of_run["groups"]] == [
        group["group"] for group in of_files["groups"]
    ]
    for one, other in zip(of_files["groups"], of_run["groups"], strict=True):
        assert (one["items"], one["annotators"]) == (other["items"], other["annotators"])
        expected, found = statistics(one), statistics(other)
        for key in found:
            assert found[key]["value"] == pytest.approx(expected[key]["value"]), key
        assert (dimension, "Cohen kappa") in found
        assert one["difficulty"][dimension] == other["difficulty"][dimension]


def test_tables_of_one_annotator_agree_with_nobody_and_nor_does_their_run(tmp_path, capsys):
    paths = list(map(str, sorted(reference_folder("intention").glob("*.jsonl"))))
    assert run(["import", *paths, "--map", "face_acts", "-o", str(tmp_path / "run")]) == 0
    for given in (paths, [str(tmp_path / "run")]):
        read = ["--map", "face_acts"] if given is paths else []
        assert run(["agreement", *given, *read]) == 2
        assert "released is alone: agreement takes two annotators" in capsys.readouterr().err
