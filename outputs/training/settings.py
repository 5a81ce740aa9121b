"""How a model is fine-tuned: settings with defaults, from a file and from options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, Field, ValidationError

from outputs.training.training_set import TrainingKind, TrainingSet
from scenarios.errors import UsageError
from scenarios.located import Located, shortened
from scenarios.located_validation import validate_model
from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml

RECORD = "train.yaml"
"""The file beside an adapter that says how it was made."""
_RATES: Mapping[TrainingKind, float] = {"sft": 2e-4, "dpo": 2e-5}
_HEAD = """\
# How this adapter is made. To make it again: hipo train SET --config {name} -o ANOTHER_FOLDER
# A file given with --config may leave out everything but `settings`.
"""

Positive = Annotated[int, Field(ge=1)]
MOST_EPOCHS = 1_000_000
MOST_RANK = 65_536
"""No model has a layer as wide as this."""


def _several(value: object) -> object:
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


class TrainingSettings(Strict):
    """Everything that can be chosen; what a training is asked for, not what came of it."""

    base: str = ""
    """An id of the hub, a folder, or a ``.gguf`` file."""
    lora_rank: Annotated[int, Field(ge=1, le=MOST_RANK)] = 16
    lora_alpha: Positive = 32
    lora_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    lora_targets: Annotated[tuple[str, ...], BeforeValidator(_several)] = ("all-linear",)
    """Names of modules; ``all-linear`` alone: every linear layer but the last."""
    learning_rate: Annotated[float, Field(gt=0, le=1)] | None = None
    """None: 2e-4 for sft, 2e-5 for dpo."""
    epochs: Annotated[float, Field(gt=0, le=MOST_EPOCHS)] = 1.0
    steps: Positive | None = None
    """Optimiser steps, instead of epochs."""
    batch: Positive = 1
    """Rows at once on the device."""
    accumulate: Positive = 16
    """Batches of which one step is made."""
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.03
    """Share of the steps in which the learning rate rises; it then falls as a cosine."""
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    max_gradient: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    beta: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.1
    """Of dpo: how near to the base the model is held."""
    max_length: Positive | None = None
    """Tokens of a row at most; None: the window of the base."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    gradient_checkpointing: bool = False
    save_every: Positive | None = None
    """Steps from one checkpoint to the next; None: a tenth of all."""
    validation_rows: Annotated[int, Field(ge=0)] = 64
    """Rows of the validation split that its loss is of, drawn by the seed; it is looked at before
    the first step and after each quarter. 0: none."""

    def rate(self, kind: TrainingKind) -> float:
        """Return the highest learning rate."""
        return _RATES[kind] if self.learning_rate is None else self.learning_rate


class SetRecord(Strict):
    """Which set was trained on."""

    folder: str
    sha256: str
    """Of its manifest."""
    kind: TrainingKind
    task: str
    scheme: str
    runs: tuple[str, ...]


class TrainingRecord(Strict):
    """What stands in ``train.yaml``: the settings, what they were applied to, and by what."""

    settings: TrainingSettings
    set: SetRecord | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    commit: str | None = None
    """Of the base, where it is of the hub."""


def set_record(found: TrainingSet) -> SetRecord:
    """Return what is recorded of a set."""
    return SetRecord(
        folder=str(found.folder),
        sha256=found.sha256,
        kind=found.kind,
        task=found.task,
        scheme=found.scheme,
        runs=found.runs,
    )


def read_record(path: Path) -> TrainingRecord:
    """Read settings, or the record of a training, from a file.

    Raises:
        InputError: it is no such file; every problem with its line.
    """
    located: Located = read_yaml(path)
    return validate_model(TrainingRecord, located)


def record_text(record: TrainingRecord) -> str:
    """Return the record as YAML; the same record gives the same bytes."""
    plain = record.model_dump(mode="json")
    return _HEAD.format(name=RECORD) + yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)


def settings_with(below: TrainingSettings, options: Mapping[str, Any]) -> TrainingSettings:
    """Return settings with the options that were given (not None) laid over them.

    Raises:
        UsageError: a value is not allowed, or no base is named.
    """
    given = {name: value for name, value in options.items() if value is not None}
    try:
        settings = TrainingSettings.model_validate(below.model_dump() | given)
    except ValidationError as error:
        lines = [
            f"--{str(detail['loc'][0]).replace('_', '-')}: found {shortened(detail['input'])}, "
            f"expected {str(detail['msg']).removeprefix('Input should be ')}"
            for detail in error.errors()
        ]
        raise UsageError("\n".join(dict.fromkeys(lines))) from None
    if not settings.base:
        raise UsageError(
            "no base model is named", "give --base: a folder, a .gguf file or an id of the hub"
        )
    return settings


def differences(before: TrainingRecord, now: TrainingRecord) -> list[str]:
    """Return what of two trainings is not the same, a line each; where they run does not count."""
    old, new = _decisive(before), _decisive(now)
    return [
        f"{name}: was {shortened(old.get(name))}, is {shortened(new.get(name))}"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _decisive(record: TrainingRecord) -> dict[str, object]:
    decisive: dict[str, object] = record.settings.model_dump(exclude={"device"})
    decisive["commit of the base"] = record.commit
    if record.set is not None:
        decisive |= {"set (manifest)": record.set.sha256, "kind": record.set.kind}
    return decisive
