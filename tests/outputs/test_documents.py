"""The documents in the folder: what is written, with which facts, and the overlap of the splits."""

from __future__ import annotations

from dataclasses import replace

import orjson
from huggingface_hub import DatasetCard

from outputs.contamination.contamination import Settings, compare
from outputs.dataset.croissant import check_hashes
from outputs.dataset.documents import Documents, SplitCheck, split_rows
from tests.outputs.sample_facts import rows, sample_facts, write_file
from tests.outputs.test_contamination import as_set, prose, texts


def with_long_texts(folder):
    """Return an export whose test split repeats a row of the training split."""
    data = rows("x", 3)
    for number, row in enumerate(data):
        row["messages"] = [{"role": "user", "content": prose(number, 40)}]
    files = (
        write_file(folder, "jsonl/train.jsonl", "label", "train", data),
        write_file(folder, "data/train.parquet", "label", "train", data),
        write_file(folder, "data/test.parquet", "label", "test", data[1:2]),
    )
    return sample_facts(folder, files=files)


def test_every_document_is_written_and_the_licence_is_in_all_of_them(tmp_path):
    facts = sample_facts(tmp_path)
    Documents(licence="cc-by-4.0")(tmp_path, facts)
    written = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert written == {"README.md", "datasheet.md", "croissant.json"}
    assert DatasetCard.load(tmp_path / "README.md").data.license == "cc-by-4.0"
    assert orjson.loads((tmp_path / "croissant.json").read_bytes())["license"] == "cc-by-4.0"
    assert "cc-by-4.0" in (tmp_path / "datasheet.md").read_text()
    check_hashes(tmp_path)


def test_the_splits_of_an_export_are_compared_on_request(tmp_path):
    facts = with_long_texts(tmp_path)
    Documents(splits=SplitCheck(Settings()))(tmp_path, facts)
    [report] = orjson.loads((tmp_path / "contamination.json").read_bytes())
    assert (report["checked"], report["reference"]) == ("train", "test")
    assert report["checked_rows_overlapping"] == 1
    assert report["passages"][0]["row"] == 2
    card = (tmp_path / "README.md").read_text()
    assert "| train | test | 13 | 1 of 3 rows (33.33%) | 1 of 3 rows (33.33%) | no |" in card


def test_comparisons_with_other_sets_are_told_with_what_was_done_about_them(tmp_path):
    facts = sample_facts(tmp_path)
    found = compare(as_set("export", texts(prose(1, 20))), as_set("secret", texts(prose(1, 20))))
    Documents(contamination=(found,), removed=True)(tmp_path, facts)
    assert (
        "| export | secret | 13 | 1 of 1 rows (100.00%) | 1 of 1 rows (100.00%) | yes |"
        in (tmp_path / "README.md").read_text()
    )


def test_rows_that_lie_there_twice_are_read_once(tmp_path):
    facts = with_long_texts(tmp_path)
    assert len(list(split_rows(tmp_path, facts.files, "train").rows())) == 3
    assert len(list(split_rows(tmp_path, facts.files, "test").rows())) == 1


def test_twice_the_same_export_gives_the_same_documents(tmp_path):
    for name in ("a", "b"):
        folder = tmp_path / name
        facts = with_long_texts(folder)
        Documents(splits=SplitCheck(Settings()))(folder, replace(facts, name="same"))
    for name in ("README.md", "datasheet.md", "croissant.json", "contamination.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
