"""The card says what an adapter was made from and what it is not for, and shows no path of a machine."""

from __future__ import annotations

import pytest
import yaml

from outputs.training.adapter_card import adapter_card
from outputs.training.settings import SetRecord, TrainingRecord, TrainingSettings
from outputs.training.summary import LossFigures, SplitFigures, TrainingSummary

TOKENS = {"50": 800, "90": 850, "99": 870, "100": 900}
SUMMARY = TrainingSummary(
    steps=30, device="cpu", dtype="float32", max_length=900, seconds=61.0,
    train=SplitFigures(rows=1200, used=1199, left_out=1, limit=8192, tokens=TOKENS),
    validation=SplitFigures(rows=40, used=40, left_out=0, limit=8192, tokens=TOKENS),
    validation_used=8,
    loss=LossFigures(first=1.25, last=0.5),
    validation_loss=LossFigures(first=1.0, last=0.25),
    models={"compatible/<b>m</b>": 1200}, goals={"deception": 700, "none": 500},
)  # fmt: skip


def card(base="lab/small", results="", record=None, **figures):
    settings = TrainingSettings(base=base, seed=9)
    found = SetRecord(
        folder="/home/me/sets/label", sha256="ab" * 32, kind="sft", task="label",
        scheme="hipo@2", runs=("r",),
    )  # fmt: skip
    made = TrainingRecord(settings=settings, set=found, versions={"trl": "1.2.3"}, **record or {})
    return adapter_card(made, found, SUMMARY.model_copy(update=figures), results)


def header(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_rows_losses_and_settings_are_told():
    text = card()
    assert "| train | 1,200 | 1,199 | 1 | 8,192 | 800 | 850 | 900 |" in text
    assert "| validation | 40 | 8 | 0 |" in text
    assert "| training | 1.2500 | 0.5000 |" in text
    assert "| validation | 1.0000 | 0.2500 |" in text
    assert "| seed | 9 |" in text
    assert "| learning rate | 0.0002 |" in text
    assert "| version of trl | 1.2.3 |" in text
    assert "Not evaluated yet" in text
    assert text == card()


def test_no_path_of_this_machine_is_published(tmp_path):
    text = card(base=str(tmp_path / "my-model"))
    assert str(tmp_path) not in text
    assert "/home/me" not in text
    assert "| Base | my-model |" in text
    assert "| Set | label |" in text
    assert "base_model" not in header(text)


def test_a_base_of_the_hub_is_named_for_the_hub():
    text = card(record={"commit": "c0ffee"})
    assert header(text)["base_model"] == "lab/small"
    assert "lab/small, commit c0ffee" in text


@pytest.mark.parametrize(
    ("figures", "warning"),
    [
        (
            {"models": {"offline/rules": 900, "compatible/m": 300}},
            "900 of 1,200 training rows were",
        ),
        ({"deceptive_rows": 700}, "**Learns to deceive.** 700 training rows"),
    ],
)
def test_what_it_is_not_for_is_said_first(figures, warning):
    assert warning in card(**figures).partition("## Made from")[0]
    assert warning not in card()


def test_names_are_shown_and_not_run():
    assert "<b>" not in card()
    assert "compatible/&lt;b&gt;m&lt;/b&gt;" in card()


def test_results_stand_below_their_headline():
    text = card(results="# Base and tuned model: own items\n\n| a |\n")
    assert "### Base and tuned model: own items" in text
    assert "Not evaluated yet" not in text
