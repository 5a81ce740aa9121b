"""Croissant metadata: the reference implementation reads it, and every record comes out whole."""

from __future__ import annotations

from dataclasses import replace

import mlcroissant
import orjson
import pytest

from outputs.dataset.croissant import CROISSANT, check_hashes, croissant, croissant_bytes
from outputs.dataset.manifest import Column
from scenarios.errors import InputError, UsageError
from tests.outputs.sample_facts import BY_RULES, rows, sample_facts, write_file

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def exported(tmp_path):
    facts = sample_facts(tmp_path)
    (tmp_path / CROISSANT).write_bytes(croissant_bytes(facts))
    return facts


def load(folder):
    dataset = mlcroissant.Dataset(jsonld=str(folder / CROISSANT))
    assert not dataset.metadata.ctx.issues.errors
    return dataset


def as_row(record, name):
    """Turn a record of the library back into the row that was written."""

    def plain(value):
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, dict):
            return {key.rsplit("/", 1)[1]: plain(part) for key, part in value.items()}
        return [plain(part) for part in value] if isinstance(value, list) else value

    return {key.removeprefix(f"{name}/"): plain(value) for key, value in record.items()}


def test_every_record_set_loads_with_every_row_that_was_written(exported, tmp_path):
    dataset = load(tmp_path)
    names = [record_set.id for record_set in dataset.metadata.record_sets]
    assert names == ["label-train", "label-test", "actor-train"]
    expected = [rows("train", 5), rows("test", 3), rows("other", 4)]
    for name, written in zip(names, expected, strict=True):
        assert [as_row(record, name) for record in dataset.records(name)] == written


@pytest.mark.parametrize("kind", ["message", "turn", "turns"])
def test_every_kind_of_column_loads(kind, tmp_path):
    first, second = ("role", "content") if kind == "message" else ("from", "value")
    item = {first: "gpt", second: "hello"}
    data = [
        {"x": [item, item] if kind == "turns" else item},
        {"x": [item] if kind == "turns" else item},
    ]
    file = replace(
        write_file(tmp_path, "a.jsonl", "a", "train", data), columns=(Column("x", kind, "An x."),)
    )
    facts = sample_facts(tmp_path, files=(file,))
    (tmp_path / CROISSANT).write_bytes(croissant_bytes(facts))
    assert [as_row(record, "a-train") for record in load(tmp_path).records("a-train")] == data


def test_the_files_of_one_split_are_numbered(tmp_path):
    parts = tuple(
        write_file(tmp_path, f"data/{i}.parquet", "a", "train", rows(f"part {i}", 2))
        for i in range(2)
    )
    facts = sample_facts(tmp_path, files=parts)
    (tmp_path / CROISSANT).write_bytes(croissant_bytes(facts))
    dataset = load(tmp_path)
    read = [as_row(r, n) for n in ("a-train-1", "a-train-2") for r in dataset.records(n)]
    assert read == rows("part 0", 2) + rows("part 1", 2)


def test_every_file_is_listed_with_its_hash_also_one_whose_rows_are_described_elsewhere(exported):
    listed = {f["contentUrl"]: f["sha256"] for f in croissant(exported)["distribution"]}
    assert listed == {file.path: file.sha256 for file in exported.files}
    assert len(listed) == 5


def test_the_hashes_of_a_fresh_export_are_right(exported, tmp_path):
    check_hashes(tmp_path)


def test_a_changed_and_a_missing_file_are_named(exported, tmp_path):
    with (tmp_path / "data/label/train.jsonl").open("ab") as file:
        file.write(b"{}\n")
    (tmp_path / "data/actor/train.parquet").unlink()
    with pytest.raises(InputError) as error:
        check_hashes(tmp_path)
    assert [(p.field, p.found == "no such file") for p in error.value.problems] == [
        ("data/label/train.jsonl", False), ("data/actor/train.parquet", True),
    ]  # fmt: skip


def test_a_wrong_hash_in_the_description_is_caught_here_and_by_the_reference(exported, tmp_path):
    path = tmp_path / CROISSANT
    path.write_bytes(path.read_bytes().replace(exported.files[0].sha256.encode(), b"0" * 64))
    with pytest.raises(InputError, match=r"data/label/train\.parquet.*expected SHA-256 0{64}"):
        check_hashes(tmp_path)
    with pytest.raises(mlcroissant.GenerationError):
        list(load(tmp_path).records("label-train"))


def test_a_wrong_hash_of_a_file_without_records_of_its_own_is_caught_here_alone(exported, tmp_path):
    path = tmp_path / CROISSANT
    path.write_bytes(path.read_bytes().replace(exported.files[2].sha256.encode(), b"0" * 64))
    assert len(list(load(tmp_path).records("label-train"))) == 5
    with pytest.raises(InputError, match=r"data/label/train\.jsonl"):
        check_hashes(tmp_path)


def test_a_path_that_leaves_the_folder_is_not_followed(exported, tmp_path):
    described = orjson.loads((tmp_path / CROISSANT).read_bytes())
    described["distribution"][0]["contentUrl"] = "../outside"
    (tmp_path / CROISSANT).write_bytes(orjson.dumps(described))
    with pytest.raises(InputError, match="a path out of the folder"):
        check_hashes(tmp_path)


def test_a_folder_without_a_description_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        check_hashes(tmp_path)


def test_a_licence_stands_in_it_only_if_one_was_chosen(tmp_path):
    assert "license" not in croissant(sample_facts(tmp_path))
    assert croissant(sample_facts(tmp_path, licence="cc-by-4.0"))["license"] == "cc-by-4.0"


def test_the_description_says_what_must_not_be_overlooked(tmp_path):
    loud = croissant(
        sample_facts(tmp_path, generators=BY_RULES, includes_deception=True, real_names=True)
    )
    assert "no training data" in loud["description"]
    assert "deceptive utterances as targets" in loud["description"]
    assert "public record" in loud["rai:personalSensitiveInformation"]


def test_the_same_facts_give_the_same_bytes_and_name_no_folder(tmp_path):
    first = croissant_bytes(sample_facts(tmp_path / "a"))
    assert first == croissant_bytes(sample_facts(tmp_path / "b"))
    assert str(tmp_path).encode() not in first
