"""Rows on disk, the same in both formats; and folders that are there as a whole or not at all."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outputs.dataset.folder import check_target, staged
from outputs.dataset.manifest import Column
from outputs.dataset.writer import RowWriter
from scenarios.errors import UsageError

pq = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).resolve().parents[2]
MESSAGE = st.fixed_dictionaries({"role": st.text(max_size=4), "content": st.text(max_size=9)})
TURN = st.fixed_dictionaries({"from": st.text(max_size=4), "value": st.text(max_size=9)})
KINDS = {
    "text": st.none() | st.text(max_size=12),
    "texts": st.none() | st.lists(st.text(max_size=5), max_size=3),
    "bool": st.booleans(),
    "int": st.none() | st.integers(-(2**63), 2**63 - 1),
    "float": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "message": MESSAGE,
    "messages": st.lists(MESSAGE, max_size=3),
    "turn": TURN,
    "turns": st.lists(TURN, max_size=3),
}
COLUMNS = tuple(Column(kind, kind, "") for kind in KINDS)
ROWS = st.lists(
    st.tuples(st.sampled_from(["train", "test"]), st.fixed_dictionaries(KINDS)), max_size=12
)


def written(folder, rows, **options):
    writer = RowWriter(
        folder, subset="s", columns=COLUMNS, splits=("train", "test"), **({"chunk": 200} | options)
    )
    with writer:
        for split, row in rows:
            writer.write(split, row)
    return writer.files()


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_both_formats_hold_the_rows_in_their_order(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    files = written(folder, rows)
    for split in ("train", "test"):
        given_rows = [row for s, row in rows if s == split]
        of_split = {f.format: f for f in files if f.split == split}
        assert set(of_split) == ({"jsonl", "parquet"} if given_rows else set())
        if given_rows:
            lines = (folder / of_split["jsonl"].path).read_bytes().splitlines()
            assert [orjson.loads(line) for line in lines] == given_rows
            table = pq.read_table(folder / of_split["parquet"].path)
            assert table.to_pylist() == given_rows
            assert {f.rows for f in of_split.values()} == {len(given_rows)}
    for file in files:
        content = (folder / file.path).read_bytes()
        assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())


def row(number):
    return ("train", {
        "text": str(number), "texts": [], "bool": True, "int": number, "float": 0.5,
        "message": {"role": "a", "content": "b"}, "messages": [],
        "turn": {"from": "a", "value": "b"}, "turns": [],
    })  # fmt: skip


def test_the_bytes_do_not_depend_on_when_the_thread_gets_its_turn(tmp_path):
    rows = [row(i) for i in range(500)]
    hashes = {
        tuple(f.sha256 for f in written(tmp_path / str(attempt), rows)) for attempt in range(3)
    }
    assert len(hashes) == 1


def test_without_parquet_there_are_json_lines_alone(tmp_path):
    files = written(tmp_path, [row(1)], parquet=False)
    assert [file.path for file in files] == ["jsonl/train.jsonl"]
    assert not (tmp_path / "data").exists()


def test_an_error_while_writing_reaches_whoever_adds_rows(tmp_path):
    bad = row(2)
    bad[1]["int"] = "two"
    with pytest.raises(ValueError, match="int"):
        written(tmp_path, [row(1), bad, *(row(i) for i in range(200))])


def test_a_row_with_a_key_that_no_column_has_is_an_error(tmp_path):
    bad = row(2)
    bad[1]["other"] = bad[1].pop("int")
    with pytest.raises(ValueError, match="unexpected field"):
        written(tmp_path, [row(1), bad])


def test_a_row_that_lacks_a_column_is_an_error(tmp_path):
    bad = row(2)
    del bad[1]["message"]
    with pytest.raises(ValueError, match="message"):
        written(tmp_path, [row(1), bad])


def test_an_error_while_making_rows_is_not_hidden_by_the_thread(tmp_path):
    def rows():
        yield row(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        written(tmp_path, rows())


def fill(folder, text):
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text(text)
    (folder / "manifest.json").write_text("{}")


def content(folder):
    return (folder / "deep" / "file").read_text()


def test_a_folder_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "new" / "out"
    with staged(target) as draft:
        fill(draft, "one")
        assert not target.exists()
    assert content(target) == "one"
    assert [path.name for path in target.parent.iterdir()] == ["out"]


def test_what_fails_leaves_the_old_folder_and_nothing_else(tmp_path):
    target = tmp_path / "out"
    with staged(target) as draft:
        fill(draft, "old")

    def fail():
        with staged(target, overwrite=True) as draft:
            fill(draft, "new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert content(target) == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_export_is_replaced_only_on_request(tmp_path):
    target = tmp_path / "out"
    with staged(target) as draft:
        fill(draft, "old")
    with pytest.raises(UsageError, match="holds an export already") as caught:
        check_target(target, overwrite=False)
    assert "--overwrite" in caught.value.hint
    with staged(target, overwrite=True) as draft:
        fill(draft, "new")
    assert content(target) == "new"


def test_what_is_no_export_is_never_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="not an export"):
        check_target(tmp_path, overwrite=True)
    with pytest.raises(UsageError, match="is not a folder"):
        check_target(tmp_path / "thesis.tex", overwrite=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        check_target(link, overwrite=True)


def test_what_dead_processes_left_is_swept_away_and_what_they_set_aside_put_back(tmp_path):
    target = tmp_path / "out"
    half = tmp_path / ".out.partial-dead"
    half.mkdir()
    (half / "file").write_text("half")
    aside = tmp_path / ".out.old-dead"
    aside.mkdir()
    fill(aside, "old")
    with pytest.raises(UsageError, match="holds an export already"), staged(target):
        pass
    assert content(target) == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_a_living_process_is_writing_is_left_alone(tmp_path):
    target = tmp_path / "out"

    def both():
        with staged(target) as mine:
            fill(mine, "late")
            with staged(target) as other:
                fill(other, "first")
            assert content(mine) == "late"

    with pytest.raises(UsageError, match="holds an export already"):
        both()
    assert content(target) == "first"


KILLED_AT_EVERY_STEP = """
import os, signal, sys
from pathlib import Path
from outputs.dataset.folder import staged

target, last = Path(sys.argv[1]), 0
WATCHED = ("open", "os.", "shutil.")


def make(text):
    with staged(target, overwrite=True) as draft:
        for name in ("a", "b", "manifest.json"):
            (draft / name).write_text(text)


def whole():
    return not target.exists() or {(target / n).read_text() for n in ("a", "b", "manifest.json")}


make("0")
for step in range(1, 500):
    child = os.fork()
    if child == 0:
        left = [step]

        def hook(event, arguments):
            if event.startswith(WATCHED):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        make(str(step))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert whole() in (True, {str(last)}, {str(step)}), (step, whole())
    if not os.WIFSIGNALED(status):
        assert whole() == {str(step)}
        break
    make(str(last := step))
    assert [path.name for path in target.parent.iterdir()] == ["out"]
print(step)
"""


def test_a_process_killed_at_any_step_leaves_the_old_folder_the_new_one_or_none(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(tmp_path / "out")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20, "there were steps to be killed at"


def test_names_with_wildcards_sweep_nothing_else(tmp_path):
    other = tmp_path / ".outX.partial-1"
    other.mkdir()
    with staged(tmp_path / "out*") as draft:
        fill(draft, "one")
    assert other.is_dir()
