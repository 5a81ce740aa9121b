"""A base is a folder, a .gguf file, a folder of one, or an id; anything else is told at once."""

from __future__ import annotations

import json

import pytest

from outputs.training import base_model
from outputs.training.base_model import check_packages, find_base, name_of, open_text
from pipeline.providers.hf.location import ModelSource
from scenarios.errors import UsageError
from tests.tiny_model import CHAT_TEMPLATE, tiny_tokenizer


def test_a_base_is_named_by_where_it_lies(tmp_path):
    (tmp_path / "one").mkdir()
    file = tmp_path / "one" / "small.Q4.gguf"
    file.write_bytes(b"GGUF")
    for given in (file, tmp_path / "one"):
        assert name_of(find_base(str(given))) == str(file)
    of_hub = ModelSource("lab/small", "c0ffee")
    assert name_of(of_hub) == "lab/small@c0ffee"
    assert name_of(of_hub, pinned=False) == "lab/small"


def test_a_base_of_a_relative_path_is_found_from_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "small.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    assert name_of(find_base("one")) == str(tmp_path / "one" / "small.gguf")


def test_an_adapter_is_no_base(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "small.gguf").write_bytes(b"GGUF")
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "adapter_config.json").write_text(
        json.dumps({"base_model_name_or_path": str(tmp_path / "base")})
    )
    with pytest.raises(UsageError, match="is an adapter, not a base model") as caught:
        find_base(str(tmp_path / "tuned"))
    assert str(tmp_path / "base" / "small.gguf") in caught.value.hint


def test_a_missing_package_is_one_message_that_names_the_extra(monkeypatch):
    monkeypatch.setattr(base_model, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="training needs the package torch") as caught:
        check_packages()
    assert caught.value.hint == 'install it: pip install "hipo[train]"'


def test_code_that_comes_with_a_base_is_neither_run_nor_asked_about(tmp_path, monkeypatch):
    pytest.importorskip("peft")
    folder = tmp_path / "base"
    tiny_tokenizer().save_pretrained(folder)
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(
        f"open({str(ran)!r}, 'w').close()\n"
        "from transformers import PretrainedConfig\n"
        "class Own(PretrainedConfig):\n    pass\n"
    )
    config = {"model_type": "of_its_own", "auto_map": {"AutoConfig": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(b"")
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "y")
    with pytest.raises(UsageError, match=r"cannot be loaded: .* contains custom code"):
        open_text(find_base(str(folder)))
    assert asked == []
    assert not ran.exists()


@pytest.mark.parametrize(
    ("template", "knows"),
    [
        (CHAT_TEMPLATE, True),
        ("{% for m in messages %}{% if m.role != 'system' %}{{ m.content }}{% endif %}{% endfor %}", False),
    ],
)  # fmt: skip
def test_a_base_whose_template_passes_system_messages_over_does_not_know_them(template, knows):
    pytest.importorskip("transformers")
    assert base_model._knows_system(tiny_tokenizer(chat_template=template)) is knows
