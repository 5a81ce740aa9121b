"""``hipo train``: what it prints, and what a user can get wrong, each one message and exit code 2."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from outputs.training.settings import TrainingSettings
from outputs.training.summary import LossFigures, SplitFigures, TrainingSummary
from tests.outputs.corpora import exportable_run, exported, messages_of, rows_in
from tests.outputs.tiny_base import tiny_base

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")
quiet_libraries = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def label_set(tmp_path, made_once):
    pytest.importorskip("trl")

    def make():
        run = exportable_run(tmp_path / "data/run", scenarios=3, facts=1, model="offline/rules")
        exported(tmp_path / "data/set", run, "sft", aspects=("conversation",), parquet=False)

    return str(made_once("training", tmp_path / "data", make) / "set")


@pytest.fixture
def base(label_set, tmp_path):
    texts = [m["content"] for row in rows_in(Path(label_set)) for m in messages_of(row)]
    return str(tiny_base(tmp_path / "base", texts))


@pytest.mark.slow
@quiet_libraries
def test_it_says_what_it_came_to_and_that_rules_wrote_the_rows(hipo, label_set, base):
    options = ("--steps", "2", "--accumulate", "1", "--device", "cpu")
    done = hipo("train", label_set, "--base", base, "-o", "out", *options)
    assert done.code == 0, done.err
    assert "loss in training: " in done.out
    assert "loss on validation rows: " in done.out
    assert "written by rules, not by a language model" in done.out
    assert "step 2 of 2: loss" in done.err
    assert (
        "> **Template recognition, no training data.**" in Path("out/adapter/README.md").read_text()
    )

    again = hipo("train", label_set, "--base", base, "-o", "out", *options, "--format", "json")
    assert again.code == 0
    assert "nothing is left to train" in again.err
    page = (ROOT / "docs" / "training.md").read_text()
    assert all(f"`{name}`" in page for name in again.data)
    assert again.data["kind"] == "sft"
    assert again.data["models"] == {"offline/rules": again.data["train"]["rows"]}
    assert json.loads(Path("out/training.json").read_text()).items() <= again.data.items()

    other = hipo("train", label_set, "--base", base, "-o", "out", *options, "--seed", "3")
    assert other.code == 2
    assert "holds another training:\n  seed: was 0, is 3" in other.err


@pytest.mark.slow
@quiet_libraries
def test_base_and_tuned_model_are_asked_about_scenarios_that_were_not_learnt(
    hipo, label_set, base, tmp_path
):
    exported(tmp_path / "items", tmp_path / "data/run", "benchmark", parquet=False)
    unseen = str(tmp_path / "items" / "jsonl" / "test.jsonl")
    options = ("--steps", "1", "--accumulate", "1", "--device", "cpu", "--validation-rows", "0")
    asked = ("--task", "hipo-conversation", "-n", "2")

    whole = hipo("train", label_set, "--base", base, "-o", "out", *options,
                 "--evaluate", str(tmp_path / "items"), *asked)  # fmt: skip
    assert whole.code == 2
    assert "1 scenario of the items is in the training split" in whole.err
    assert not Path("out").exists()

    done = hipo("train", label_set, "--base", base, "-o", "out", *options,
                "--evaluate", unseen, *asked, "--format", "json")  # fmt: skip
    assert done.code == 0, done.err
    table, reweighted = done.data["results"]["tables"]
    assert (table["id"], reweighted["id"]) == (
        "tuned-declared-balanced",
        "tuned-declared-reweighted",
    )
    names = [row["name"] for row in table["rows"]]
    assert names == ["hf/base", "hf/out/adapter", "offline/majority", "offline/random"]
    assert table["rows"][1]["base"] == names[0]
    assert {column["dimension"] for column in table["columns"]} == {"goal"}
    assert done.data["results"]["warning"].startswith("Template recognition")
    for page in ("out/results.md", "out/adapter/README.md"):
        assert "offline/majority" in Path(page).read_text()
    answers = Path("out/evaluation/results.jsonl")
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    adapter = (tmp_path / "out" / "adapter").resolve()
    assert {row["model"] for row in rows} == {f"hf/{base}", f"hf/{adapter}"}, "whole names"

    again = hipo("train", label_set, "--base", base, "-o", "out", *options,
                 "--evaluate", unseen, *asked)  # fmt: skip
    assert again.code == 0
    assert "Base and tuned model" in again.out
    assert len(rows) == len(answers.read_text().splitlines())


def test_options_of_the_evaluation_without_a_set_are_refused(hipo, label_set):
    done = hipo("train", label_set, "--base", "b", "-o", "out", "--task", "hipo-utterance")
    assert done.code == 2
    assert "are about --evaluate" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "--base", "b"), "nowhere: is not an exported data set"),
        (("SET",), "no base model is named"),
        (("SET", "--base", "./none"), "there is no folder or file ./none"),
        (("SET", "--base", "b", "--lora-rank", "0"), "--lora-rank: found 0"),
        (("SET", "--base", "b", "--lora-rank", "100000000"), "--lora-rank: found 100000000"),
        (("SET", "--base", "b", "--epochs", "inf"), "--epochs: found inf"),
        (("SET", "--base", "b", "--beta", "inf"), "--beta: found inf"),
        (("SET", "--base", "b", "--dtype", "int4"), "--dtype: found 'int4'"),
        (("SET", "--base", "b", "--config", "none.yaml"), "none.yaml: found no such file"),
        (("SET", "--base", "b", "--kind", "ppo"), "'ppo' is not one of 'sft', 'dpo'"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_made(hipo, label_set, arguments, message):
    given = [label_set if part == "SET" else part for part in arguments]
    done = hipo("train", *given, "-o", "out")
    assert done.code == 2
    assert message in done.err
    assert not Path("out").exists()


@pytest.mark.slow
@quiet_libraries
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--lora-targets", "nosuch"), "--lora-targets: Target modules {'nosuch'} not found"),
        (("--max-length", "3"), "fits into 3 tokens"),
    ],
)
def test_a_mistake_that_only_the_model_shows_leaves_nothing_either(
    hipo, label_set, base, options, message
):
    fixed = ("--steps", "1", "--accumulate", "1", "--device", "cpu", "--validation-rows", "0")
    command = ("train", label_set, "--base", base, *fixed, "-o", "new/out")
    done = hipo(*command, *options)
    assert (done.code, message in done.err) == (2, True), done.err
    assert not Path("new").exists()
    assert hipo(*command).code == 0, "the mended command is not another training"


@pytest.mark.slow
@quiet_libraries
@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% if", "its chat template cannot be used: "),
        ("{{ nothing.here }}", "its chat template cannot be used: "),
        ("", "its chat template leaves out what the "),
    ],
)
def test_a_base_whose_template_writes_no_conversation_is_refused(
    hipo, label_set, base, template, message
):
    (Path(base) / "chat_template.jinja").write_text(template)
    done = hipo("train", label_set, "--base", base, "-o", "out", "--device", "cpu")
    assert (done.code, message in done.err) == (2, True), done.err
    assert not Path("out").exists()


@pytest.mark.slow
@quiet_libraries
@pytest.mark.parametrize(
    "error",
    [
        ValueError("I/O error: No space left on device (os error 28)"),
        OSError(errno.ENOSPC, "No space left on device"),
    ],
)
def test_a_disk_that_is_full_in_training_ends_it_like_any_other_command(
    hipo, label_set, base, monkeypatch, error
):
    def full(*_):
        raise error

    monkeypatch.setattr("hipo.app.train.train_adapter", full)
    done = hipo("train", label_set, "--base", base, "-o", "out", "--device", "cpu")
    assert done.code == 7, done.err
    assert "make room on the disk" in done.err


@pytest.mark.slow
@quiet_libraries
def test_preferences_of_a_set_without_pairs_are_refused(hipo, label_set, base):
    done = hipo("train", label_set, "--base", base, "-o", "out", "--kind", "dpo")
    assert done.code == 2
    assert "has one answer, and preferences need a better and a worse one" in done.err


def test_help_imports_none_of_the_heavy_packages():
    code = (
        "import sys; from hipo.cli.main import run; run(['train', '--help']);"
        f" print([n for n in {HEAVY} if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_default_in_the_help_is_that_of_the_settings(hipo):
    told = re.sub(r"[\s│]+", " ", hipo("train", "--help-all").out)
    fields = TrainingSettings.model_fields
    for name in (
        "lora_rank",
        "lora_alpha",
        "lora_dropout",
        "batch",
        "accumulate",
        "warmup",
        "beta",
    ):
        text = told.partition(f"--{name.replace('_', '-')} ")[2][:160]
        assert re.search(rf"[Dd]efault {fields[name].default:g}\b", text), name


def test_a_summary_counts_what_rules_wrote():
    summary = TrainingSummary(
        steps=1, device="cpu", dtype="float32", max_length=9, seconds=1.0,
        train=SplitFigures(rows=5, used=5, left_out=0, limit=9),
        loss=LossFigures(), validation_loss=LossFigures(),
        models={"offline/rules": 2, "compatible/offline": 3},
    )  # fmt: skip
    assert summary.offline_rows == 2


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--beta", "0.3"), "--beta is of dpo, and this training is sft"),
        (("--epochs", "2", "--steps", "3"), "--epochs is of no use beside --steps (3)"),
    ],
)
def test_an_option_that_changes_nothing_is_refused_before_the_base_is_looked_for(
    hipo, label_set, options, named
):
    result = hipo("train", label_set, "--base", "nowhere", "-o", "out", *options)
    assert (result.code, named in result.err) == (2, True), result.err
    assert not Path("out").exists()
