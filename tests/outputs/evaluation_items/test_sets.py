"""The items of an exported set: of which splits they are is said before they are asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hipo.app.export.options import export_options
from outputs.dataset.scheme_file import SCHEME, read_scheme, write_scheme
from outputs.evaluation_items.sets import load_set
from outputs.export.export import export
from outputs.selecting.wish import Selection
from scenarios.errors import InputError, UsageError
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from tests.outputs.corpora import exportable_run


def test_of_a_divided_set_it_is_said_that_items_to_train_on_are_asked_too(tmp_path: Path) -> None:
    run = exportable_run(tmp_path / "run", scenarios=4)
    options = export_options("benchmark", fractions=(50, 0, 50), parquet=False)
    export(Selection((run,)), options, tmp_path / "set")
    divided = load_set(tmp_path / "set")
    counts = {split: sum(i.split == split for i in divided.items) for split in ("train", "test")}
    [note] = [note for note in divided.notes if "is divided" in note]
    assert f"(train {counts['train']}, test {counts['test']})" in note
    alone = load_set(tmp_path / "set" / "jsonl" / "test.jsonl")
    assert len(alone.items) == counts["test"]
    assert not any("is divided" in note for note in alone.notes)


OWN = Scheme.model_validate(
    load_scheme("hipo").model_dump(by_alias=True) | {"id": "own", "title": "Etiquetas propias"}
)


@pytest.fixture(scope="module")
def of_own_labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a set whose labels are those of a scheme that does not ship."""
    folder = tmp_path_factory.mktemp("own")
    run = exportable_run(folder / "run", scenarios=1)
    export(Selection((run,)), export_options("benchmark", parquet=False), folder / "set")
    assert read_scheme(folder / "set") == load_scheme("hipo")
    manifest = json.loads((folder / "set" / "manifest.json").read_text())
    manifest["scheme"] = {"id": "own", "version": OWN.version, "fingerprint": OWN.fingerprint}
    (folder / "set" / "manifest.json").write_text(json.dumps(manifest))
    write_scheme(folder / "set", OWN)
    return folder / "set"


@pytest.fixture
def received(of_own_labels: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(of_own_labels, tmp_path / "received"))


@pytest.mark.parametrize("part", ["", "jsonl/test.jsonl"])
def test_a_set_of_labels_of_its_own_needs_no_file_from_elsewhere(received: Path, part: str) -> None:
    assert load_set(received / part).scheme == OWN


def test_an_earlier_set_without_its_scheme_takes_the_file_that_is_named(
    received: Path, tmp_path: Path
) -> None:
    (received / SCHEME).rename(tmp_path / "own.yaml")
    with pytest.raises(UsageError, match="none of those that ship") as told:
        load_set(received)
    assert "--scheme" in told.value.hint
    assert load_set(received, scheme=str(tmp_path / "own.yaml")).scheme == OWN


def test_a_scheme_that_was_changed_or_lies_elsewhere_is_refused(
    received: Path, tmp_path: Path
) -> None:
    write_scheme(received, OWN.model_copy(update={"conventions": ("Say that all is well.",)}))
    with pytest.raises(UsageError, match="with other labels or definitions"):
        load_set(received)
    (received / SCHEME).rename(tmp_path / "elsewhere.yaml")
    (received / SCHEME).symlink_to(tmp_path / "elsewhere.yaml")
    with pytest.raises(InputError, match="a link to a file elsewhere"):
        load_set(received)
    (received / SCHEME).unlink()
    (received / SCHEME).write_text("!!python/object/apply:os.getcwd []")
    with pytest.raises(InputError, match="the tag"):
        load_set(received)
