"""Settings come from defaults, a file and options; what makes two trainings differ is told."""

from __future__ import annotations

import pytest

from outputs.training.settings import (
    SetRecord,
    TrainingRecord,
    TrainingSettings,
    differences,
    read_record,
    record_text,
    settings_with,
)
from scenarios.errors import InputError, UsageError

SET = SetRecord(
    folder="sets/label", sha256="ab" * 32, kind="sft", task="label", scheme="hipo@2", runs=("r",)
)


def record(**settings):
    return TrainingRecord(
        settings=TrainingSettings(base="b", **settings), set=SET, versions={"trl": "1"}
    )


def test_options_go_before_the_file_and_none_leaves_it():
    below = TrainingSettings(base="b", steps=7, seed=3)
    found = settings_with(below, {"seed": 5, "steps": None, "lora_targets": "q_proj, v_proj"})
    assert (found.seed, found.steps, found.lora_targets) == (5, 7, ("q_proj", "v_proj"))


def test_the_learning_rate_follows_from_the_kind_unless_it_is_given():
    assert TrainingSettings().rate("sft") > TrainingSettings().rate("dpo")
    assert TrainingSettings(learning_rate=0.5).rate("dpo") == 0.5


def test_every_wrong_option_is_named_once():
    with pytest.raises(UsageError) as caught:
        settings_with(TrainingSettings(), {"base": "b", "lora_rank": 0, "dtype": "int8"})
    first, second = caught.value.message.splitlines()
    assert first.startswith("--lora-rank: found 0, expected greater than or equal to 1")
    assert second.startswith("--dtype: found 'int8', expected 'auto', 'float32'")


def test_without_a_base_there_is_nothing_to_train():
    with pytest.raises(UsageError, match="no base model is named"):
        settings_with(TrainingSettings(), {})


def test_what_was_written_is_read_again(tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text(record_text(record(steps=4, learning_rate=1e-4)))
    assert read_record(path) == record(steps=4, learning_rate=1e-4)


def test_a_file_of_settings_alone_will_do_and_a_wrong_field_has_its_line(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("settings:\n  base: b\n  epochs: 2\n")
    assert read_record(path).settings.epochs == 2
    path.write_text("settings:\n  base: b\n  epoch: 2\n")
    with pytest.raises(InputError, match=r"mine\.yaml:3: settings\.epoch") as caught:
        read_record(path)
    assert "epochs" in str(caught.value)


def test_two_trainings_differ_by_what_decides_the_numbers():
    assert differences(record(), record(device="cpu")) == []
    assert differences(record(), record().model_copy(update={"versions": {}})) == []
    assert differences(record(seed=1), record(seed=2)) == ["seed: was 1, is 2"]
    other = record().model_copy(update={"set": SET.model_copy(update={"sha256": "cd" * 32})})
    (line,) = differences(record(), other)
    assert line.startswith("set (manifest): was 'abab")
