"""Sets of imported dialogues: nobody calls them fiction, and beside generated ones they are told apart."""

from __future__ import annotations

import json
from collections import Counter

import datasets
import mlcroissant
import orjson
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from hipo.cli.main import run as hipo
from outputs.dataset.columns import PROVENANCE
from pipeline.store.run_store import RunStore
from tests.outputs.corpora import exportable_run, rows_in
from tests.outputs.report.report_page import page_of

pytestmark = pytest.mark.filterwarnings("ignore")
SAID = ("Has the car ever had a crash?", "Never.", "And the door?", "That is only the paint.")
LABELS = {"intention": "Convince", "veracity": "Quality", "illocutionary": "Representatives"}
TRIAL = """\
annotator,question,answer,commitment,relevance,manner,quality,consistency,outcome,reasons
A,"Did you use that word?","Not that I recall, no.",2,1,1,1,0,Witness,['logical']
A,"Have you forgotten it?","I am not sure.",3,2,2,1,0,Witness,['logical']
B,"Did you use that word?","Not that I recall, no.",2,1,1,1,0,Witness,['logical']
B,"Have you forgotten it?","I am not sure.",3,3,2,1,0,Questioner,['logical']
"""
CLAIMS = (
    "ynthetic",
    "fiction",
    "ames are aliases",
    "invented",
    "Models wrote",
    "as real",
    "a model plays",
)
"""What is said of generated dialogues alone."""


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """A run of one real hearing that two people labelled."""
    place = tmp_path_factory.mktemp("trial")
    (place / "trial.csv").write_text(TRIAL)
    command = ["import", str(place / "trial.csv"), "--map", "cobra", "-o", str(place / "run")]
    assert hipo(command) == 0
    return place / "run"


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    """A run of two imported dialogues with labels from their file."""
    place = tmp_path_factory.mktemp("talk")
    lines = []
    for goal in ("deception", "truthful non-disclosure"):
        turns = [{"role": ("user", "assistant")[i % 2], "content": t} for i, t in enumerate(SAID)]
        for turn in turns[1::2]:
            turn["labels"] = LABELS
        row = {"scenario": "used_car", "fact": "guardrail", "goal": goal, "messages": turns}
        lines.append(json.dumps(row))
    (place / "talk.jsonl").write_text("\n".join(lines))
    for name, more in (("run", ()), ("named", ("--generator", "openai/gpt-4o"))):
        command = ["import", str(place / "talk.jsonl"), *more, "-o", str(place / name)]
        assert hipo(command) == 0
    return place / "run"


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    return exportable_run(tmp_path_factory.mktemp("generated") / "run", scenarios=2)


def exported(folder, *runs, to="dialogues"):
    words = ["export", *map(str, runs), "--to", to, "--any", "--splits", "1,0,0", "-q"]
    assert hipo([*words, "-o", str(folder)]) == 0
    return folder


def documents(folder):
    """Return card, datasheet and Croissant description as texts."""
    names = ("README.md", "datasheet.md", "croissant.json")
    return [(folder / name).read_text(encoding="utf-8") for name in names]


def told(text):
    """Return the text without name and description of the column ``fictional``."""
    (column,) = (column for column in PROVENANCE if column.name == "fictional")
    lines = text.replace(column.description, "").splitlines()
    return "\n".join(line for line in lines if column.name not in line)


def test_imports_alone_are_called_neither_synthetic_nor_fiction(tmp_path, trial):
    folder = exported(tmp_path / "set", trial)
    texts = documents(folder)
    for text in texts:
        assert not [words for words in CLAIMS if words in told(text)]
    card = DatasetCard(texts[0])
    assert card.data.tags == ["imported", "dialogue", "pragmatics", "hipo"]
    assert card.data.language_creators == ["found"]
    assert card.data.annotations_creators == ["found", "other"]
    assert card.data.source_datasets == ["extended"]
    assert "**These dialogues were imported.**" in card.text
    assert "| unknown |  | imported | 1 |" in card.text
    assert "| Written by | unknown (1 imported dialogue) |" in card.text
    assert "| unknown |  | imported | 1 |" in texts[1]
    assert "This is fiction" not in texts[0]
    assert json.loads(texts[2])["keywords"] == ["imported", "dialogue", "pragmatics"]
    assert orjson.loads((folder / "manifest.json").read_bytes())["imported"] == 1


def test_a_mixed_set_says_which_dialogues_are_which(tmp_path, talk, generated):
    folder = exported(tmp_path / "set", talk, generated)
    card, sheet, croissant = documents(folder)
    data = DatasetCard(card).data
    assert {"synthetic", "fictional", "imported"} <= set(data.tags)
    assert data.language_creators == ["machine-generated", "found"]
    assert data.annotations_creators == ["machine-generated", "found"]
    rows = rows_in(folder)
    counts = Counter((row["strategy"], row["fictional"]) for row in rows)
    assert counts == {("imported", None): 2, ("direct", True): 8}
    assert "None of these 8 was ever held." in card
    assert "2 of 10 came from files of others." in card
    for text in (card, sheet):
        assert "| compatible/m | initiator, responder | direct | 8 |" in text
        assert "| unknown |  | imported | 2 |" in text
    assert "2 of 10 dialogues came from files of others." in sheet
    assert "and 2 imported dialogues" in json.loads(croissant)["description"]
    assert orjson.loads((folder / "manifest.json").read_bytes())["imported"] == 2


def test_generated_dialogues_alone_are_told_as_ever(tmp_path, generated):
    folder = exported(tmp_path / "set", generated)
    for text in documents(folder):
        assert "mported" not in told(text)
    assert {row["fictional"] for row in rows_in(folder)} == {True}
    assert orjson.loads((folder / "manifest.json").read_bytes())["imported"] == 0


def test_a_named_writer_of_imports_is_named_and_the_rest_is_not_known(tmp_path, talk):
    card, _, croissant = documents(exported(tmp_path / "set", talk.parent / "named"))
    data = DatasetCard(card).data
    assert data.language_creators == ["machine-generated", "found"]
    assert "synthetic" not in data.tags
    assert "| openai/gpt-4o | responder | imported | 2 |" in card
    assert "| unknown |" not in card
    assert "**These dialogues were imported.**" in card
    told_of = json.loads(croissant)["rai:dataCollection"]
    assert told_of.startswith("Said to be written by openai/gpt-4o;")


@pytest.mark.parametrize("to", ["dialogues", "turns", "benchmark", "sft"])
def test_a_mixed_set_loads_with_null_where_nobody_knows(tmp_path, talk, generated, to):
    folder = exported(tmp_path / "set", talk, generated, to=to)
    rows = {row["id"]: row["fictional"] for row in rows_in(folder)}
    assert set(rows.values()) == {None, True}
    names = datasets.get_dataset_config_names(str(folder))
    read = {
        row["id"]: row["fictional"]
        for name in names
        for row in datasets.load_dataset(str(folder), name, cache_dir=str(tmp_path))["train"]
    }
    assert read == rows
    described = mlcroissant.Dataset(str(folder / "croissant.json"))
    records = {
        record[f"{one.uuid}/id"].decode(): record[f"{one.uuid}/fictional"]
        for one in described.metadata.record_sets
        for record in described.records(one.uuid)
    }
    assert records == rows


def test_imports_alone_load_with_a_column_of_truth_values(tmp_path, trial):
    folder = exported(tmp_path / "set", trial)
    table = pq.read_table(folder / "data/train-00000-of-00001.parquet")
    assert str(table.schema.field("fictional").type) == "bool"
    assert table["fictional"].to_pylist() == [None]
    (row,) = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))["train"]
    assert row["fictional"] is None


def test_the_report_of_an_import_calls_nothing_invented(talk, generated):
    assert "whether they were ever held" in page_of(talk)
    assert "is invented" not in page_of(talk)
    assert "Everything said in these dialogues is invented" in page_of(generated)


def test_a_corpus_that_was_exported_becomes_a_run_again(tmp_path, generated):
    (rows,) = exported(tmp_path / "set", generated).glob("jsonl/*.jsonl")
    assert hipo(["import", str(rows), "-o", str(tmp_path / "run")]) == 0

    def said(run):
        with RunStore.open(run, readonly=True) as store:
            return sorted(
                (d.case.scenario, d.case.fact, d.case.goal, turn.kind, turn.text, turn.tactic)
                for d in store.dialogues(traces=False)
                for turn in d.turns
            )

    assert said(tmp_path / "run") == said(generated)


def test_a_situation_that_came_with_several_facts_is_in_one_split(tmp_path):
    said = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": SAID[1]}]
    lines = [
        {
            "background": f"Shop {shop} sells clocks.",
            "fact": f"Clock {fact} stands.",
            "messages": said,
        }
        for shop in range(9)
        for fact in range(3)
    ]
    (tmp_path / "clocks.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run, folder = str(tmp_path / "run"), tmp_path / "set"
    assert hipo(["import", str(tmp_path / "clocks.jsonl"), "-o", run]) == 0
    assert hipo(["export", run, "--splits", "60,20,20", "-o", str(folder), "-q"]) == 0
    splits = {}
    for split in ("train", "validation", "test"):
        for row in rows_in(folder, split):
            splits.setdefault(row["situation"], []).append(split)
    assert {len(found) for found in splits.values()} == {3}
    assert all(len(set(found)) == 1 for found in splits.values())
    assert len({found[0] for found in splits.values()}) == 3
