"""The wheel runs the demo, installed elsewhere; what that leaves is read by its users' libraries."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import mlcroissant
import orjson
import pytest
from huggingface_hub import DatasetCard

from hipo.app.demo import samples
from hipo.app.runs.run import Run
from outputs.dataset.croissant import check_hashes
from outputs.dataset.manifest import sha256_of
from pipeline.store.run_store import RunStore
from scenarios.catalogue import Catalogue
from tests.outputs.corpora import rows_in
from tests.outputs.test_croissant import as_row

SETS = {"sft": "utterance", "preference": "preference", "benchmark": "benchmark"}

pytestmark = pytest.mark.filterwarnings("ignore")
of_every_set = pytest.mark.parametrize("name", SETS)


@pytest.fixture(scope="module")
def demo(wheel, tmp_path_factory):
    """The run that ``hipo demo`` makes where only the wheel is, and not the repository."""
    folder = tmp_path_factory.mktemp("elsewhere")
    site = folder / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile",
         "--target", str(site), str(wheel)],
        check=True,
    )  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(site)}
    where = subprocess.run(
        [sys.executable, "-c", "import pipeline, scenarios; print(pipeline.__file__)"],
        cwd=folder, env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert where.startswith(str(site))
    done = subprocess.run(
        [sys.executable, "-m", "hipo", "demo", "-o", "demo"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "demo"


def test_the_demo_runs_from_the_installed_wheel_in_another_folder(demo):
    state = Run(demo).state()
    assert state.generated >= 60
    assert state.failed == {}


def test_the_policy_of_the_demo_discards_something_and_not_much(demo):
    verdicts = [record.verdict for record in Run(demo).verdicts()]
    assert 1 <= verdicts.count("discarded") <= 0.15 * len(verdicts)
    assert verdicts.count("discarded") + verdicts.count("accepted") == len(verdicts)


def manifest_of(folder):
    return orjson.loads((folder / "manifest.json").read_bytes())


def rows_by_split(folder):
    """Return the number of rows by configuration and split."""
    files = [f for f in manifest_of(folder)["files"] if f["path"].startswith("jsonl/")]
    return {(Path(f["path"]).parent.name, Path(f["path"]).stem): f["rows"] for f in files}


def rows_of(folder, part, split):
    file = folder / "jsonl" / (part if part != "jsonl" else "") / f"{split}.jsonl"
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


def texts_of(value):
    """Return every text in a row."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts_of(part)]


def test_the_readme_opens_with_what_the_demo_shows(demo):
    """Votes depend on the last digits of a processor, and are not looked at."""
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text("utf-8").split())
    shown = {strategy: dialogue for dialogue, strategy in samples(demo)}
    assert set(shown) == {"direct", "reflective", "consistency"}
    for strategy in ("direct", "reflective"):
        assert all(" ".join(turn.text.split()) in readme for turn in shown[strategy].answers())


@of_every_set
def test_every_file_is_there_with_its_hash(demo, name):
    files = {f["path"]: f["sha256"] for f in manifest_of(demo / name)["files"]}
    there = {p.relative_to(demo / name).as_posix() for p in (demo / name).rglob("*") if p.is_file()}
    assert there == {*files, "manifest.json"}
    assert all(sha256_of(demo / name / path) == digest for path, digest in files.items())
    assert {"README.md", "datasheet.md", "croissant.json", "counts.json"} <= set(files)


@of_every_set
def test_datasets_loads_every_row(demo, name, tmp_path):
    datasets = importlib.import_module("datasets")
    folder, cache = str(demo / name), str(tmp_path)
    for part, split in rows_by_split(demo / name):
        subset = SETS[name] if part == "jsonl" else part
        rows = datasets.load_dataset(folder, subset, split=split, cache_dir=cache)
        assert list(rows) == rows_of(demo / name, part, split)
        assert set(rows["fictional"]) == {True}
    first = next(iter(rows_by_split(demo / name)))[1]
    assert datasets.load_dataset(folder, cache_dir=cache)[first].num_rows


@of_every_set
def test_the_hub_reads_the_card(demo, name):
    card = DatasetCard.load(demo / name / "README.md")
    assert card.data.configs[0]["config_name"] == SETS[name]
    assert card.data.license is None
    assert "Not for training" in card.text
    assert "| external | offline/judge | Veracity strategy (how) |" in card.text


@of_every_set
def test_croissant_loads_every_record_set(demo, name):
    dataset = mlcroissant.Dataset(jsonld=str(demo / name / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    check_hashes(demo / name)
    sets = {r.id: r for r in dataset.metadata.record_sets}
    found = {
        f"{SETS[name] if part == 'jsonl' else part}-{split}": rows_of(demo / name, part, split)
        for part, split in rows_by_split(demo / name)
    }
    assert set(sets) == set(found)
    for record_set, rows in found.items():
        # one by one: a difference between two long lists takes very long to show
        for found_row, row in zip(dataset.records(record_set), rows, strict=True):
            assert as_row(found_row, record_set) == row


@of_every_set
def test_trl_takes_what_is_to_be_learnt(demo, name):
    data_utils = importlib.import_module("trl.data_utils")
    keys = {
        "sft": ["prompt", "completion"],
        "preference": ["prompt", "chosen", "rejected"],
        "benchmark": [],
    }
    for row in rows_in(demo / name):
        example = {key: row[key] for key in keys[name]}
        assert data_utils.is_conversational(example) == bool(example)


@of_every_set
def test_no_private_fact_is_shown_that_nobody_said(demo, name):
    """Nor, in what honest responders learn from, one of another dialogue.

    Benchmark rows have the own fact in a column of its own, which no prompt in them shows.
    """
    facts = {
        (scenario.id, fact.id): fact.text
        for scenario in Catalogue.load().scenarios.values()
        for fact in scenario.facts
    }
    with RunStore.open(demo, readonly=True) as store:
        for row in rows_in(demo / name):
            own_fact = row.pop("fact_text", None)
            words = "\n".join(texts_of(row))
            said = " ".join(
                turn.text for turn in store.dialogue(f"{row['case']}/{row['arm']}").turns
            )
            own = (row["scenario"], row["fact"])
            assert name != "benchmark" or own_fact == facts[own]
            for key, text in facts.items():
                if name == "preference" and key == own:
                    assert text in words
                elif key[0] == row["scenario"]:
                    assert text not in words or text in said
