"""What the demo leaves behind is read by the libraries its users will read it with."""

from __future__ import annotations

import importlib
from pathlib import Path

import mlcroissant
import orjson
import pytest
from huggingface_hub import DatasetCard

from hipo.app.demo import samples
from hipo.cli.main import run
from outputs.dataset.croissant import check_hashes
from outputs.dataset.manifest import sha256_of
from pipeline.store.run_store import RunStore
from scenarios.catalogue import Catalogue
from tests.outputs.corpora import rows_in
from tests.outputs.test_croissant import as_row

SETS = {"sft": "label", "preference": "preference", "benchmark": "benchmark"}

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.parametrize("name", SETS),
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "demo"
    assert run(["demo", "-q", "-o", str(folder)]) == 0
    return folder


def manifest_of(folder):
    return orjson.loads((folder / "manifest.json").read_bytes())


def rows_by_split(folder):
    files = [f for f in manifest_of(folder)["files"] if f["path"].startswith("jsonl/")]
    return {f["path"][6:-6]: f["rows"] for f in files}


def texts_of(value):
    """Return every text in a row."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts_of(part)]


def test_the_readme_opens_with_what_the_demo_shows(demo, name):
    """Votes depend on the last digits of a processor, and are not looked at."""
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text("utf-8").split())
    shown = {strategy: dialogue for dialogue, strategy in samples(demo)}
    assert set(shown) == {"direct", "reflective", "consistency"}
    for strategy in ("direct", "reflective"):
        assert all(" ".join(turn.text.split()) in readme for turn in shown[strategy].answers())


def test_every_file_is_there_with_its_hash(demo, name):
    files = {f["path"]: f["sha256"] for f in manifest_of(demo / name)["files"]}
    there = {p.relative_to(demo / name).as_posix() for p in (demo / name).rglob("*") if p.is_file()}
    assert there == {*files, "manifest.json"}
    assert all(sha256_of(demo / name / path) == digest for path, digest in files.items())
    assert {"README.md", "datasheet.md", "croissant.json", "counts.json"} <= set(files)


def test_datasets_loads_every_row(demo, name, tmp_path):
    datasets = importlib.import_module("datasets")
    loaded = datasets.load_dataset(str(demo / name), cache_dir=str(tmp_path))
    assert {split: len(rows) for split, rows in loaded.items()} == rows_by_split(demo / name)
    for split, rows in loaded.items():
        assert list(rows) == rows_in(demo / name, split)
        assert set(rows["fictional"]) == {True}


def test_the_hub_reads_the_card(demo, name):
    card = DatasetCard.load(demo / name / "README.md")
    assert card.data.configs[0]["config_name"] == SETS[name]
    assert card.data.license is None
    assert "Not for training" in card.text
    assert "| external | offline/judge | Veracity strategy (how) |" in card.text


def test_croissant_loads_every_record_set(demo, name):
    dataset = mlcroissant.Dataset(jsonld=str(demo / name / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    check_hashes(demo / name)
    sets = {r.id: r for r in dataset.metadata.record_sets}
    assert set(sets) == {f"{SETS[name]}-{split}" for split in rows_by_split(demo / name)}
    for split in rows_by_split(demo / name):
        records = [
            as_row(r, f"{SETS[name]}-{split}") for r in dataset.records(f"{SETS[name]}-{split}")
        ]
        assert records == rows_in(demo / name, split)


def test_trl_takes_what_is_to_be_learnt(demo, name):
    data_utils = importlib.import_module("trl.data_utils")
    keys = {"sft": ["messages"], "preference": ["prompt", "chosen", "rejected"], "benchmark": []}
    for row in rows_in(demo / name):
        example = {key: row[key] for key in keys[name]}
        assert data_utils.is_conversational(example) == bool(example)


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
