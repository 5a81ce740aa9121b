"""Training for real, on a random model of some thousand parameters: no answer is lost."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hipo.app.train import finished, train
from outputs.training.base_model import find_base, open_text
from outputs.training.lengths import plan_lengths
from outputs.training.log import TrainingLog
from outputs.training.settings import TrainingSettings
from outputs.training.trainers import (
    TrainingInterrupted,
    TrainingJob,
    last_checkpoint,
    make_trainer,
)
from outputs.training.training_set import read_training_set
from pipeline.providers.hf.location import locate
from scenarios.errors import UsageError
from tests.outputs.corpora import exported
from tests.outputs.tiny_base import NO_SYSTEM, tiny_base
from tests.outputs.training.conftest import texts_of
from tests.tiny_model import save_tiny_gguf, save_tiny_model

pytest.importorskip("trl")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of torch and its friends; ours are errors elsewhere
]
ROOT = Path(__file__).resolve().parents[3]
QUICK = {"accumulate": 1, "validation_rows": 2, "device": "cpu", "learning_rate": 0.01}


def job_of(data_set, base, folder, **settings):
    chosen = TrainingSettings(base=str(base), **QUICK | settings)
    rows = read_training_set(data_set)
    text = open_text(find_base(chosen.base))
    plans = {
        split: plan_lengths(rows.rows(split), text.count, text.window)
        for split in ("train", "validation")
    }
    return TrainingJob(chosen, find_base(chosen.base), text, rows, plans, folder, print)


def held(trainer, name):
    return list(trainer.train_dataset[name])


def test_exactly_the_answers_are_learnt_and_every_one_as_a_whole(sets, base, tmp_path):
    job = job_of(sets / "label", base, tmp_path, steps=1)
    trainer = make_trainer(job, TrainingLog(tmp_path), "cpu", "float32")
    rows = list(job.rows.rows("train"))
    decode = job.text.tokenizer.decode
    learnt = [[i for i in labels if i != -100] for labels in held(trainer, "labels")]
    assert [decode(ids).split() for ids in learnt] == [
        [*row.answers[0].split(), "[end]"] for row in rows
    ]
    assert max(map(len, held(trainer, "input_ids"))) == job.plans["train"].longest_kept > 1024


def test_no_answer_of_a_pair_is_cut(sets, base, tmp_path):
    job = job_of(sets / "dpo", base, tmp_path, steps=1)
    trainer = make_trainer(job, TrainingLog(tmp_path), "cpu", "float32")
    decode = job.text.tokenizer.decode
    rows = list(job.rows.rows("train"))
    assert len(trainer.train_dataset) == len(rows) > 0
    for place, name in enumerate(("chosen_ids", "rejected_ids")):
        assert [decode(ids).split() for ids in held(trainer, name)] == [
            [*row.answers[place].split(), "[end]"] for row in rows
        ]
    both = zip(held(trainer, "prompt_ids"), held(trainer, "chosen_ids"), strict=True)
    assert max(len(prompt) + len(answer) for prompt, answer in both) <= trainer.args.max_length


@pytest.mark.parametrize("name", ["label", "actor", "dpo"])
def test_the_adapter_changes_what_the_base_says_and_is_described(sets, base, tmp_path, name):
    transformers, peft = map(importlib.import_module, ("transformers", "peft"))
    tuned = train(sets / name, tmp_path / "out", base=str(base), steps=3, **QUICK)
    model = transformers.AutoModelForCausalLM.from_pretrained(str(base))
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(tuned.adapter))
    said = [{"role": "user", "content": "Question?"}]
    asked = tokenizer.apply_chat_template(
        said, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    before = model(**asked).logits.detach().clone()
    after = peft.PeftModel.from_pretrained(model, str(tuned.adapter))(**asked).logits.detach()
    assert before.shape == after.shape
    assert not before.allclose(after, atol=1e-6)

    assert tuned.summary.steps == 3
    assert tuned.summary.train.left_out == 0
    assert tuned.summary.validation_loss.first != tuned.summary.validation_loss.last
    steps = [row["step"] for row in TrainingLog(tuned.folder).rows() if "loss" in row]
    assert steps == [1, 2, 3]
    assert (tuned.folder / "loss.svg").read_text().startswith("<svg")
    card = (tuned.adapter / "README.md").read_text()
    assert "| compatible/m |" in card
    assert ("Learns to deceive" in card) == (name != "label")
    assert "training_args.bin" not in {path.name for path in tuned.adapter.iterdir()}
    assert finished(tuned.folder) == tuned


def weights(folder):
    return importlib.import_module("safetensors.torch").load_file(
        folder / "adapter" / "adapter_model.safetensors"
    )


def test_a_kill_and_the_same_command_again_give_the_same_adapter(sets, base, tmp_path):
    options = {"base": str(base), "steps": 6, "save_every": 1, **QUICK}
    whole = train(sets / "label", tmp_path / "whole", **options)
    command = [
        sys.executable, "-m", "hipo", "train", str(sets / "label"), "-o", str(tmp_path / "killed"),
        *(part for name, value in options.items()
          for part in (f"--{name.replace('_', '-')}", str(value))),
    ]  # fmt: skip
    threads = str(importlib.import_module("torch").get_num_threads())  # or sums differ
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": threads}
    child = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        while last_checkpoint(tmp_path / "killed") is None:
            assert child.poll() is None
            time.sleep(0.005)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    step = int(last_checkpoint(tmp_path / "killed").name.rpartition("-")[2])
    told = []
    again = train(sets / "label", tmp_path / "killed", tell=told.append, **options)
    assert f"going on from step {step} of 6" in told
    ours, theirs = weights(again.folder), weights(whole.folder)
    assert ours.keys() == theirs.keys()
    assert all(ours[name].equal(theirs[name]) for name in ours)
    losses = [[row.get("loss") for row in TrainingLog(t.folder).rows()] for t in (again, whole)]
    assert losses[0] == losses[1]


def test_a_checkpoint_that_was_not_written_to_its_end_is_passed_over(tmp_path):
    whole, cut = (tmp_path / "checkpoints" / f"checkpoint-{n}" for n in (2, 4))
    for folder in (whole, cut):
        folder.mkdir(parents=True)
        for name in ("optimizer.pt", "scheduler.pt", "adapter_model.safetensors"):
            (folder / name).write_bytes(b"x")
    assert last_checkpoint(tmp_path) is None
    (whole / "trainer_state.json").write_text('{"global_step": 2}')
    (cut / "trainer_state.json").write_text('{"global_st')
    assert last_checkpoint(tmp_path) == whole
    (cut / "trainer_state.json").write_text('{"global_step": 4}')
    assert last_checkpoint(tmp_path) == cut
    (cut / "optimizer.pt").unlink()
    assert last_checkpoint(tmp_path) == whole


def test_asked_to_stop_it_saves_the_step_and_goes_on_later(sets, base, tmp_path):
    options = {"base": str(base), "steps": 4, **QUICK}

    def tell(line):
        if line.startswith("step 2 of 4: loss"):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(TrainingInterrupted, match="after step 3 of 4, which is saved"):
        train(sets / "label", tmp_path / "out", tell=tell, **options)
    assert last_checkpoint(tmp_path / "out").name == "checkpoint-3"
    assert finished(tmp_path / "out") is None
    told = []
    train(sets / "label", tmp_path / "out", tell=told.append, **options)
    assert "going on from step 3 of 4" in told
    assert train(sets / "label", tmp_path / "out", tell=told.append, **options)
    assert told[-1].endswith("is finished, nothing is left to train")


def test_rows_that_do_not_fit_are_left_out_whole_and_told(sets, base, tmp_path):
    job = job_of(sets / "label", base, tmp_path, steps=1)
    lengths = sorted(job.plans["train"].lengths)
    told = []
    tuned = train(
        sets / "label", tmp_path / "out", base=str(base), steps=1, tell=told.append,
        max_length=lengths[len(lengths) // 2], **QUICK,
    )  # fmt: skip
    figures = tuned.summary.train
    assert 0 < figures.left_out < figures.rows
    assert figures.used == figures.rows - figures.left_out
    assert any(f"{figures.left_out:,} of {figures.rows:,} rows are left out" in t for t in told)
    with pytest.raises(UsageError, match=r"none of the \d+ training rows fits into 64 tokens"):
        train(sets / "label", tmp_path / "none", base=str(base), max_length=64, **QUICK)
    assert not (tmp_path / "none" / "train.yaml").exists()


@pytest.fixture(scope="module")
def trained(sets, base, tmp_path_factory):
    """Return what two steps on the labels came to."""
    folder = tmp_path_factory.mktemp("trained") / "out"
    return train(sets / "label", folder, base=str(base), steps=2, **QUICK)


def test_another_training_in_the_folder_is_refused_with_what_differs(sets, base, trained, tmp_path):
    options = {"base": str(base), "steps": 2, **QUICK}
    with pytest.raises(UsageError, match="holds another training") as caught:
        train(sets / "dpo", trained.folder, **options | {"seed": 5})
    assert "seed: was 0, is 5" in caught.value.message
    assert "kind: was 'sft', is 'dpo'" in caught.value.message
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something that is not a training"):
        train(sets / "label", tmp_path / "else", **options)


def test_the_record_of_a_training_makes_it_again(sets, trained, tmp_path):
    again = train(sets / "label", tmp_path / "again", config=trained.folder / "train.yaml")
    assert again.record == trained.record
    assert all(weights(again.folder)[k].equal(v) for k, v in weights(trained.folder).items())


class ToldEnoughError(Exception):
    """Ends a training once it has said what is waited for."""


def test_the_record_of_a_training_says_so_where_it_is_used_for_another_set(sets, trained, tmp_path):
    def tell(line):
        if "was made for another set" in line:
            raise ToldEnoughError

    with pytest.raises(ToldEnoughError):
        train(sets / "actor", tmp_path / "out", config=trained.folder / "train.yaml", tell=tell)


@pytest.mark.parametrize("template", [None, NO_SYSTEM])
def test_a_base_without_a_template_or_a_system_role_is_trained_and_told(sets, tmp_path, template):
    chat = None if template is None else template + (
        "{% for m in messages %}<|{{ m.role }}|> {{ m.content }} [end] {% endfor %}"
        "{% if add_generation_prompt %}<|assistant|> {% endif %}"
    )  # fmt: skip
    folder = tiny_base(tmp_path / "base", texts_of(sets), template=chat)
    told = []
    tuned = train(
        sets / "label", tmp_path / "out", base=str(folder), steps=1, tell=told.append, **QUICK
    )
    transformers = importlib.import_module("transformers")
    kept = transformers.AutoTokenizer.from_pretrained(str(tuned.adapter))
    assert kept.chat_template is not None
    expected = "no chat template: a plain one" if chat is None else "knows no system message"
    assert any(expected in line for line in told)


def test_modules_that_the_base_does_not_have_are_a_mistake_of_the_users(sets, base, tmp_path):
    with pytest.raises(UsageError, match=r"--lora-targets: Target modules"):
        train(
            sets / "label", tmp_path / "out", base=str(base), steps=1,
            lora_targets=("nowhere",), **QUICK,
        )  # fmt: skip


def test_a_base_in_gguf_is_trained_and_its_adapter_is_found_again(sets, tmp_path):
    pytest.importorskip("gguf")
    file = save_tiny_gguf(
        tmp_path / "gguf" / "tiny.gguf", save_tiny_model(tmp_path / "base", window=16_384)
    )
    exported(tmp_path / "set", sets / "run", "sft", aspects=("conversation",), parquet=False)
    tuned = train(tmp_path / "set", tmp_path / "out", base=str(file.parent), steps=1, **QUICK)
    config = json.loads((tuned.adapter / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == str(file)
    assert locate(str(tuned.adapter)).base == locate(str(file)).base
