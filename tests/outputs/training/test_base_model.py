"""A base is a folder, a .gguf file, a folder of one, or an id; anything else is told at once."""

from __future__ import annotations

import pytest

from outputs.training import base_model
from outputs.training.base_model import check_packages, find_base
from scenarios.errors import UsageError


def test_a_base_is_found_by_what_lies_in_the_folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    assert find_base(str(tmp_path / "model")).name == str(tmp_path / "model")
    assert find_base("org/model").name == "org/model"
    assert find_base("org/model").arguments == {}
    (tmp_path / "one").mkdir()
    file = tmp_path / "one" / "small.Q4.gguf"
    file.write_bytes(b"GGUF")
    for given in (file, tmp_path / "one"):
        found = find_base(str(given))
        assert found.name == str(file)
        assert found.arguments == {"gguf_file": "small.Q4.gguf"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (["adapter_config.json"], "is an adapter, not a base model"),
        ([], "holds no model: neither config.json nor one .gguf file"),
        (["a.gguf", "b.gguf"], "but 2 of them"),
    ],
)
def test_a_folder_that_is_no_base_is_refused(tmp_path, make, message):
    for name in make:
        (tmp_path / name).write_text("{}")
    with pytest.raises(UsageError, match=message):
        find_base(str(tmp_path))


def test_a_path_that_leads_nowhere_is_no_id_of_the_hub(tmp_path):
    for given in (str(tmp_path / "none"), "./none", "a/b/c"):
        with pytest.raises(UsageError, match="there is no such folder or file"):
            find_base(given)
    (tmp_path / "weights.bin").write_bytes(b"")
    with pytest.raises(UsageError, match=r"is a file, and no \.gguf"):
        find_base(str(tmp_path / "weights.bin"))


def test_a_missing_package_is_one_message_that_names_the_extra(monkeypatch):
    monkeypatch.setattr(base_model, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="training needs the package torch") as caught:
        check_packages()
    assert caught.value.hint == 'install it: pip install "hipo[train]"'
