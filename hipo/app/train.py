"""Fine-tune a model on an exported set: check everything, train an adapter, describe it."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outputs.audit.set_corpus import scheme_of
from outputs.export.facts import code_version
from outputs.kinds.split_shares import Split
from outputs.training.adapter_card import CARD, adapter_card
from outputs.training.base_model import BaseText, check_packages, find_base, open_text
from outputs.training.lengths import (
    LengthPlan,
    check_something_left,
    length_limit,
    plan_lengths,
)
from outputs.training.log import LOG, TrainingLog
from outputs.training.settings import (
    RECORD,
    SetRecord,
    TrainingRecord,
    TrainingSettings,
    differences,
    read_record,
    record_text,
    set_record,
    settings_with,
)
from outputs.training.summary import (
    SUMMARY,
    RowTally,
    TrainingSummary,
    split_figures,
    training_loss,
    validation_loss,
)
from outputs.training.trainers import (
    Trained,
    TrainingJob,
    last_checkpoint,
    train_adapter,
    versions,
)
from outputs.training.training_set import TrainingKind, TrainingSet, read_training_set
from pipeline.providers.hf.location import ModelSource
from pipeline.store.locks import LOCK, RunLock
from pipeline.torch_setup import keep_quiet
from scenarios.atomic_files import made_folder, new_folder, write_text
from scenarios.errors import DISK_FULL, NoRoom, UsageError
from scenarios.log import logger

ADAPTER = "adapter"
_SPLITS: tuple[Split, ...] = ("train", "validation")
_RESPONDER = ("actor", "preference")
"""Tasks in which the responder's own words are learnt."""
_FULL = re.compile(
    rf"os error (?:{'|'.join(map(str, sorted(DISK_FULL)))})\b|PytorchStreamWriter failed writing"
)
"""What safetensors, tokenizers and torch say of a disk without room."""
_log = logger("train")


@dataclass(frozen=True, slots=True)
class TunedModel:
    """An adapter that is finished, and what it came from."""

    folder: Path
    """What was given as output: the record, the log, the checkpoints and the adapter."""
    record: TrainingRecord
    found: SetRecord
    summary: TrainingSummary

    @property
    def adapter(self) -> Path:
        """The folder of the adapter, its tokenizer and its card."""
        return self.folder / ADAPTER

    @property
    def base(self) -> str:
        """The base model, as it was named."""
        return self.record.settings.base


def train(
    data_set: str | Path,
    output: str | Path,
    *,
    kind: TrainingKind | None = None,
    config: str | Path | None = None,
    tell: Callable[[str], None] = _log.info,
    **options: Any,
) -> TunedModel:
    """Train a LoRA adapter on an exported set; called again, it goes on where it was stopped.

    Example::

        tuned = train("sets/sft", "tuned/first", base="models/smollm2", steps=200)
        print(tuned.adapter, tuned.summary.validation_loss)

    Args:
        data_set: the folder of ``hipo export --to sft`` or ``--to dpo``.
        output: the folder to make.
        kind: ``sft`` or ``dpo``; None: what the set was exported for.
        config: a file of settings, e.g. the ``train.yaml`` of another training.
        tell: is told what happens, a line at a time.
        options: fields of :class:`outputs.training.settings.TrainingSettings`; ``base`` is needed,
            here or in the file.

    Raises:
        UsageError: something does not fit; nothing was trained.
        RunError: the training failed or was stopped; what was saved is gone on with.
    """
    unknown = sorted(set(options) - set(TrainingSettings.model_fields))
    if unknown:
        raise UsageError(f"a training has no setting {unknown[0]!r}")
    check_packages()
    rows = read_training_set(Path(data_set), kind)
    settings = settings_with(_from_file(config, rows, tell), options)
    _check_used(options, settings, rows)
    source = find_base(settings.base)
    folder = Path(output)
    record = TrainingRecord(
        settings=settings,
        set=set_record(rows),
        versions={"hipo": code_version(), **versions()},
        commit=source.commit,
    )
    with _held(folder, record):
        done = finished(folder)
        if done is not None:
            tell(f"{folder / ADAPTER}: is finished, nothing is left to train")
            return done
        return _train(rows, source, record, folder, tell)


def _check_used(options: Mapping[str, Any], settings: TrainingSettings, rows: TrainingSet) -> None:
    """Do nothing unless an option was given that this training makes nothing of.

    Raises:
        UsageError: one was.
    """
    if options.get("beta") is not None and rows.kind != "dpo":
        raise UsageError(f"--beta is of dpo, and this training is {rows.kind}", "leave --beta out")
    if options.get("epochs") is not None and settings.steps is not None:
        raise UsageError(
            f"--epochs is of no use beside --steps ({settings.steps}), which go before it",
            "give one of them; with --config, take steps out of the file",
        )


def finished(folder: Path) -> TunedModel | None:
    """Return the adapter of a folder; None where it is not finished.

    Raises:
        InputError: the record of the folder is damaged.
    """
    if not (folder / ADAPTER / "adapter_config.json").is_file():
        return None
    record = read_record(folder / RECORD)
    summary = TrainingSummary.model_validate_json((folder / SUMMARY).read_bytes())
    if record.set is None:
        raise UsageError(f"{folder / RECORD}: does not say what was trained on", "train anew")
    return TunedModel(folder, record, record.set, summary)


def _from_file(
    config: str | Path | None, rows: TrainingSet, tell: Callable[[str], None]
) -> TrainingSettings:
    if config is None:
        return TrainingSettings()
    record = read_record(Path(config))
    if record.set is not None and record.set.sha256 != rows.sha256:
        tell(f"note: {config} was made for another set, {record.set.folder}")
    return record.settings


@contextmanager
def _held(folder: Path, record: TrainingRecord) -> Iterator[None]:
    """Hold a folder for this training alone, once it is empty or holds the same one.

    Raises:
        UsageError: it holds something else, another training, or is in use.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "choose another one with -o")
    if folder.is_dir() and any(folder.iterdir()):
        _check_same(folder, record)
    is_begun = (folder / RECORD).is_file()
    with made_folder(folder):
        lock = RunLock(folder)
        try:
            yield
        except (UsageError, NoRoom):
            if not is_begun and last_checkpoint(folder) is None:
                _unbegin(folder)
            raise
        finally:
            lock.release()


def _unbegin(folder: Path) -> None:
    """Remove what was written before a mistake was found: mended, it would be another training."""
    for name in (RECORD, LOG, LOCK):
        (folder / name).unlink(missing_ok=True)


def _check_same(folder: Path, record: TrainingRecord) -> None:
    if not (folder / RECORD).is_file():
        if all(path.name == LOCK for path in folder.iterdir()):
            return  # was stopped before anything was decided
        raise UsageError(
            f"{folder} holds something that is not a training", "choose a new folder with -o"
        )
    differing = differences(read_record(folder / RECORD), record)
    if differing:
        raise UsageError(
            f"{folder} holds another training:\n  " + "\n  ".join(differing),
            "give the same set and settings to go on with it, or choose another folder with -o",
        )


def _train(
    rows: TrainingSet,
    source: ModelSource,
    record: TrainingRecord,
    folder: Path,
    tell: Callable[[str], None],
) -> TunedModel:
    """Train what is not finished, and write everything that describes it."""
    settings = record.settings
    keep_quiet()
    text = open_text(source)
    limit = length_limit(text.window, settings.max_length)
    tally = RowTally()
    plans = _plans(rows, text, limit, tally)
    check_something_left(plans["train"], asked=settings.max_length)
    for line in (*text.remarks, *(told for s, plan in plans.items() for told in plan.told(s))):
        tell(line)
    if not (folder / RECORD).is_file():
        write_text(folder / RECORD, record_text(record))
    found = record.set or set_record(rows)
    with _asked_to_stop(tell) as stopping:
        job = TrainingJob(settings, source, text, rows, plans, folder, tell, stopping)
        with new_folder(folder / ADAPTER, lambda _: None) as draft:
            with _told_of_full_disk(folder):
                done = train_adapter(job, draft)
            summary = _summary(job, done, tally)
            write_text(folder / SUMMARY, summary.model_dump_json(indent=2) + "\n")
            write_text(draft / CARD, adapter_card(record, found, summary))
    TrainingLog(folder).draw()
    return TunedModel(folder, record, found, summary)


@contextmanager
def _told_of_full_disk(folder: Path) -> Iterator[None]:
    """Say that no room is left where a library says it with an exception of its own."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        if _FULL.search(str(error)) is None:
            raise
        advice = "make room on the disk, then the same command"
        raise NoRoom(f"{folder} cannot be written: {error}", advice) from error


def _plans(
    rows: TrainingSet, text: BaseText, limit: int, tally: RowTally
) -> dict[Split, LengthPlan]:
    """Count the tokens of the rows that are learnt and of those whose loss is looked at."""
    plans: dict[Split, LengthPlan] = {}
    for split in _SPLITS:
        if not rows.files_of(split):
            continue
        rows.check(split)
        found = rows.rows(split)
        plans[split] = plan_lengths(
            tally.counting(found) if split == "train" else found, text.count, limit
        )
    return plans


def _summary(job: TrainingJob, done: Trained, tally: RowTally) -> TrainingSummary:
    logged = TrainingLog(job.folder).rows()
    validation = job.plans.get("validation")
    return TrainingSummary(
        steps=done.steps,
        device=done.device,
        dtype=done.dtype,
        max_length=job.max_length,
        seconds=round(done.seconds, 1),
        train=split_figures(job.plans["train"]),
        validation=None if validation is None else split_figures(validation),
        validation_used=len(job.validation),
        loss=training_loss(logged),
        validation_loss=validation_loss(logged),
        models=dict(tally.models),
        goals=dict(tally.goals),
        deceptive_rows=_deceptive(job.rows, tally.goals),
    )


def _deceptive(rows: TrainingSet, goals: Mapping[str, int]) -> int:
    """Count the rows that teach to say what may deceive."""
    if rows.task not in _RESPONDER or not rows.includes_deception:
        return 0
    scheme = scheme_of(rows.folder)
    truthful = () if scheme is None else scheme.truthful_goals
    return sum(n for goal, n in goals.items() if goal not in truthful)


@contextmanager
def _asked_to_stop(tell: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Give what says whether a signal asked for an end; a second one ends the process at once."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def handle(number: int, _: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        tell("stopping: this step is finished and saved; interrupt again to leave now")

    before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
