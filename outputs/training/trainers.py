"""Fine-tuning with TRL and PEFT: an adapter is trained, checkpointed, and gone on with."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from outputs.kinds.split_shares import Split
from outputs.training.base_model import (
    BaseText,
    chosen_device,
    chosen_dtype,
    load_base,
    name_of,
)
from outputs.training.lengths import LengthPlan
from outputs.training.log import TrainingLog
from outputs.training.settings import TrainingSettings
from outputs.training.training_set import TrainingRow, TrainingSet
from pipeline.providers.hf.location import ModelSource
from pipeline.stopping.stop import INTERRUPTED
from pipeline.torch_setup import keep_quiet
from scenarios.errors import RunError, UsageError

if TYPE_CHECKING:
    from datasets import Dataset
    from trl import DPOTrainer, SFTTrainer

CHECKPOINTS = "checkpoints"
_LOSSES = frozenset({"loss", "eval_loss"})
_STATE = "trainer_state.json"
_NEEDED = (_STATE, "optimizer.pt", "scheduler.pt", "adapter_model.safetensors")
_SAVES = 10
"""Checkpoints of a training, where nothing else was asked for."""
_LOOKS = 4
"""Validation losses of a training, beside the one before the first step."""
_TOLD = 50
"""Lines about progress at most, beside those about validation."""


class TrainingInterrupted(RunError):
    """The training was asked to stop, has saved where it is, and can be gone on with."""

    code = INTERRUPTED


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """One training: what is learnt, from which base, how, and where it is kept."""

    settings: TrainingSettings
    source: ModelSource
    text: BaseText
    rows: TrainingSet
    plans: dict[Split, LengthPlan]
    """Which rows of a split are used: ``train``, and ``validation`` where there is one."""
    folder: Path
    tell: Callable[[str], None]
    stopping: Callable[[], bool] = field(default=lambda: False)
    """Whether somebody has asked for an end."""

    @property
    def validation(self) -> tuple[int, ...]:
        """The numbers of the validation rows whose loss is looked at."""
        plan = self.plans.get("validation")
        kept = () if plan is None else plan.kept
        most = self.settings.validation_rows
        if len(kept) <= most:
            return kept
        return tuple(sorted(random.Random(self.settings.seed).sample(kept, most)))

    @property
    def max_length(self) -> int:
        """Tokens of the longest row that is used: nothing of any is cut."""
        return max(plan.longest_kept for plan in self.plans.values())

    @property
    def steps(self) -> int:
        """Optimiser steps in all."""
        chosen = self.settings
        if chosen.steps is not None:
            return chosen.steps
        batches = -(-len(self.plans["train"].kept) // chosen.batch)
        return max(1, int(-(-batches // chosen.accumulate) * chosen.epochs + 1e-9))


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training came to."""

    steps: int
    device: str
    dtype: str
    seconds: float
    """Of this process; what was done before a kill is not in it."""


def versions() -> dict[str, str]:
    """Return the versions of what decides the numbers."""
    return {name: version(name) for name in ("torch", "transformers", "peft", "trl")}


def last_checkpoint(folder: Path) -> Path | None:
    """Return the newest checkpoint that was written to its end; a kill may leave one that was not."""
    found: list[tuple[int, Path]] = []
    for path in (folder / CHECKPOINTS).glob("checkpoint-*"):
        try:
            state = orjson.loads((path / _STATE).read_bytes())
            step = int(state["global_step"])
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            continue
        if all((path / name).is_file() for name in _NEEDED):
            found.append((step, path))
    return max(found)[1] if found else None


def train_adapter(job: TrainingJob, adapter: Path) -> Trained:
    """Train an adapter, from the last checkpoint where there is one, and write it to a folder.

    Args:
        job: what to do.
        adapter: an empty folder.

    Raises:
        UsageError: the base cannot be loaded, or what was asked of it does not fit.
        TrainingInterrupted: it was asked to stop.
    """
    from datasets import disable_progress_bars  # noqa: PLC0415
    from transformers import PrinterCallback  # noqa: PLC0415

    keep_quiet()
    disable_progress_bars()
    began = time.monotonic()
    device = chosen_device(job.settings.device)
    dtype = chosen_dtype(job.settings.dtype, device)
    log = TrainingLog(job.folder)
    checkpoint = last_checkpoint(job.folder)
    done = 0 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])
    log.begin_again(done)
    if checkpoint is not None:
        job.tell(f"going on from step {done} of {job.steps}")
    trainer = make_trainer(job, log, device, dtype)
    trainer.remove_callback(PrinterCallback)  # it prints every row of the log to standard output
    _check_nothing_lost(trainer, job)
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    if trainer.state.global_step < job.steps:
        raise TrainingInterrupted(
            f"after step {trainer.state.global_step} of {job.steps}, which is saved"
        )
    if job.validation and not _is_validated(log, job.steps):
        trainer.evaluate()  # the last step is no multiple of those at which it is looked at
    trainer.model.save_pretrained(str(adapter))
    job.text.tokenizer.save_pretrained(str(adapter))
    return Trained(job.steps, device, dtype, time.monotonic() - began)


def _is_validated(log: TrainingLog, step: int) -> bool:
    return any(row["step"] == step and "eval_loss" in row for row in log.rows())


def make_trainer(
    job: TrainingJob, log: TrainingLog, device: str, dtype: str
) -> SFTTrainer | DPOTrainer:
    """Return the trainer of the kind, which holds every row that is used, as tokens.

    Raises:
        UsageError: the base cannot be loaded, or has no such modules as are to be adapted.
    """
    import trl  # noqa: PLC0415
    from peft import LoraConfig  # noqa: PLC0415

    chosen = job.settings
    targets = "all-linear" if chosen.lora_targets == ("all-linear",) else list(chosen.lora_targets)
    lora = LoraConfig(
        r=chosen.lora_rank,
        lora_alpha=chosen.lora_alpha,
        lora_dropout=chosen.lora_dropout,
        target_modules=targets,
        task_type="CAUSAL_LM",
        base_model_name_or_path=name_of(job.source, pinned=False),
        revision=job.source.commit,
    )
    model = load_base(job.source, dtype, device)
    held_out = _data(job, "validation", job.validation) if job.validation else None
    common = {
        "model": model,
        "train_dataset": _data(job, "train", job.plans["train"].kept),
        "eval_dataset": held_out,
        "processing_class": job.text.tokenizer,
        "peft_config": lora,
        "callbacks": [_callback(job, log)],
    }
    options = _arguments(job, device, dtype, evaluated=held_out is not None)
    try:
        if job.rows.kind == "dpo":
            made = trl.DPOConfig(**options, beta=chosen.beta)
            return trl.DPOTrainer(args=made, **common)
        return trl.SFTTrainer(args=trl.SFTConfig(**options, completion_only_loss=True), **common)
    except ValueError as error:
        if "arget modules" in str(
            error
        ):  # PEFT: "Target modules {...} not found in the base model"
            raise UsageError(
                f"--lora-targets: {str(error).partition('. ')[0]}", "leave it out for all-linear"
            ) from error
        raise


def _arguments(job: TrainingJob, device: str, dtype: str, *, evaluated: bool) -> dict[str, Any]:
    """Return what both trainers are told; nothing is left to defaults that lose answers."""
    chosen = job.settings
    every = chosen.save_every or max(1, -(-job.steps // _SAVES))
    return {
        "output_dir": str(job.folder / CHECKPOINTS),
        "max_length": job.max_length,
        "learning_rate": chosen.rate(job.rows.kind),
        "lr_scheduler_type": "cosine",
        "warmup_steps": round(chosen.warmup * job.steps),
        "weight_decay": chosen.weight_decay,
        "max_grad_norm": chosen.max_gradient,
        "max_steps": job.steps,
        "per_device_train_batch_size": chosen.batch,
        "per_device_eval_batch_size": chosen.batch,
        "gradient_accumulation_steps": chosen.accumulate,
        "gradient_checkpointing": chosen.gradient_checkpointing,
        "bf16": dtype == "bfloat16",
        "fp16": dtype == "float16",
        "use_cpu": device == "cpu",
        "seed": chosen.seed,
        "data_seed": chosen.seed,
        "logging_steps": 1,
        "logging_first_step": True,
        "save_strategy": "steps",
        "save_steps": every,
        "save_total_limit": 2,  # should a kill cut the newest short, the one before is whole
        "eval_strategy": "steps" if evaluated else "no",
        "eval_steps": max(1, -(-job.steps // _LOOKS)),
        "eval_on_start": evaluated and last_checkpoint(job.folder) is None,
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": device == "cuda",
    }


def _data(job: TrainingJob, split: Split, numbers: tuple[int, ...]) -> Dataset:
    """Return some rows of a split as TRL reads them."""
    from datasets import Dataset  # noqa: PLC0415

    return Dataset.from_list([_example(row, job.text) for row in _chosen(job, split, numbers)])


def _chosen(job: TrainingJob, split: Split, numbers: tuple[int, ...]) -> Iterator[TrainingRow]:
    wanted = set(numbers)
    return (row for number, row in enumerate(job.rows.rows(split)) if number in wanted)


def _example(row: TrainingRow, text: BaseText) -> dict[str, object]:
    said = [[{"role": "assistant", "content": answer}] for answer in row.answers]
    prompt = text.shaped(row.prompt)
    if len(said) == 2:
        return {"prompt": prompt, "chosen": said[0], "rejected": said[1]}
    return {"prompt": prompt, "completion": said[0]}


def _check_nothing_lost(trainer: SFTTrainer | DPOTrainer, job: TrainingJob) -> None:
    """Compare the rows that the trainer holds with those it was given: it drops some in silence.

    Raises:
        RunError: rows are missing.
    """
    given = len(job.plans["train"].kept)
    held = len(trainer.train_dataset)
    if held != given:
        raise RunError(
            f"the trainer dropped {given - held} of {given} rows, whose answers were cut"
        )


def _callback(job: TrainingJob, log: TrainingLog) -> Any:
    """Return what writes the log, tells of progress, and stops the trainer when that is asked."""
    from transformers import TrainerCallback  # noqa: PLC0415

    told_every = max(1, job.steps // _TOLD)

    class Following(TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            step = state.global_step
            row = log.add(step, given["logs"]) if _LOSSES & set(given["logs"]) else {}
            if "eval_loss" in row:
                job.tell(f"step {step:,} of {job.steps:,}: validation loss {row['eval_loss']:.4f}")
            elif "loss" in row and step % told_every == 0:
                job.tell(f"step {step:,} of {job.steps:,}: loss {row['loss']:.4f}")

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            if job.stopping():
                control.should_save = control.should_training_stop = True
            return control

    return Following()
