"""``hipo train``: fine-tune a model on an exported set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from hipo.app.evaluation.tuned import (
    DEFAULT_TASK,
    TuningQuestion,
    evaluate_tuned,
    evaluation_command,
)
from hipo.app.options.groups import OptionGroup
from hipo.app.options.values import split
from hipo.app.train import TunedModel, train
from hipo.cli.main import command_app
from hipo.cli.options.plain import QUIET, with_group
from hipo.cli.terminal.console import Format, columns, hush, number, write_json
from hipo.cli.terminal.errors import ExitCode, StoppedEarly, say
from hipo.cli.terminal.progress import watcher
from outputs.result_tables.documents import results_as_markdown
from outputs.result_tables.model import ResultBlock
from outputs.training.summary import LossFigures
from outputs.training.trainers import TrainingInterrupted
from outputs.training.training_set import TrainingKind, TrainingSet, read_training_set
from pipeline.stopping import stop
from scenarios.errors import UsageError
from scenarios.plural import plural

app = command_app()


Options = dict[str, object]


def _model(
    *,
    base: str | None = typer.Option(
        None, "--base", metavar="PATH|ID", show_default=False,
        help="Folder of a model, a .gguf file, or an id of the Hugging Face hub.",
    ),
    lora_rank: int | None = typer.Option(None, "--lora-rank", help="Default 16."),
    lora_alpha: int | None = typer.Option(None, "--lora-alpha", hidden=True, help="Default 32."),
    lora_dropout: float | None = typer.Option(None, "--lora-dropout", hidden=True, help="Default 0.05."),
    lora_targets: str | None = typer.Option(
        None, "--lora-targets", hidden=True, metavar="NAMES", help="Modules, with commas; default all-linear."
    ),
    max_length: int | None = typer.Option(
        None, "--max-length",
        help="Tokens of a row at most; longer ones are left out whole. Default: the model's window.",
    ),
    dtype: str | None = typer.Option(
        None, "--dtype", hidden=True, help="auto (bfloat16 on a GPU that has it), float32, bfloat16, float16."
    ),
    device: str | None = typer.Option(None, "--device", help="auto (default), cpu, cuda or mps."),
) -> Options:  # fmt: skip
    return dict(locals())


def _schedule(
    *,
    learning_rate: float | None = typer.Option(
        None, "--learning-rate", help="The highest; default 2e-4 for sft, 2e-5 for dpo."
    ),
    epochs: float | None = typer.Option(None, "--epochs", help="Default 1."),
    steps: int | None = typer.Option(None, "--steps", help="Instead of epochs."),
    batch: int | None = typer.Option(None, "--batch", help="Rows at once; default 1."),
    accumulate: int | None = typer.Option(
        None, "--accumulate", hidden=True, help="Batches of which one step is made; default 16."
    ),
    warmup: float | None = typer.Option(None, "--warmup", hidden=True, help="Share of the steps; default 0.03."),
    beta: float | None = typer.Option(
        None, "--beta", help="Of dpo: how near to the base it stays; default 0.1."
    ),
    seed: int | None = typer.Option(None, "--seed", help="Of weights and order; default 0."),
    gradient_checkpointing: bool | None = typer.Option(
        None, "--gradient-checkpointing/--no-gradient-checkpointing", hidden=True, show_default=False,
        help="Less memory, a fifth more time; default no.",
    ),
    save_every: int | None = typer.Option(
        None, "--save-every", hidden=True, help="Steps between checkpoints; default a tenth of all."
    ),
    validation_rows: int | None = typer.Option(
        None, "--validation-rows", hidden=True, help="Whose loss is looked at; default 64, 0 none."
    ),
) -> Options:  # fmt: skip
    return dict(locals())


def _question(
    *,
    evaluate: str | None = typer.Option(
        None, "--evaluate", metavar="SET", show_default=False,
        help="Afterwards ask base and adapter the items of a benchmark set, or of one of its files "
        "(SET/jsonl/test.jsonl), of scenarios that were not trained on.",
    ),
    task: list[str] = typer.Option(
        [], "--task", metavar="TASK", show_default=False,
        help=f"With --evaluate: as of hipo evaluate, repeatable; default {DEFAULT_TASK}.",
    ),
    n: int | None = typer.Option(
        None, "-n", "--count", min=1, help="With --evaluate: items per task, evenly over classes; default all."
    ),
    allow_overlap: bool = typer.Option(
        False, "--allow-overlap", help="With --evaluate: also items of scenarios trained on."
    ),
    full_prompt: bool = typer.Option(
        False, "--full-prompt", hidden=True,
        help="With --evaluate: define every label, though the rows that were trained on do not.",
    ),
) -> TuningQuestion | None:  # fmt: skip
    if evaluate is None:
        if task or n is not None or allow_overlap or full_prompt:
            raise UsageError(
                "--task, -n, --allow-overlap and --full-prompt are about --evaluate",
                "name a set with --evaluate",
            )
        return None
    tasks = tuple(split(task)) or (DEFAULT_TASK,)
    return TuningQuestion(evaluate, tasks, n, allow_overlap, full_prompt)


@app.command("train")
@with_group("model", _model, heading=OptionGroup.MODELS)
@with_group("schedule", _schedule, heading=OptionGroup.TRAINING)
@with_group("question", _question, heading=OptionGroup.TASKS)
def train_command(
    *,
    data_set: Path = typer.Argument(
        ..., metavar="SET", help="A folder of hipo export --to sft or --to dpo."
    ),
    output: Path = typer.Option(..., "-o", "--output", help="The folder to make."),
    kind: TrainingKind | None = typer.Option(
        None, "--kind", show_default=False, help="Default: what the set was exported for."
    ),
    config: Path | None = typer.Option(
        None, "--config", metavar="FILE", help="Settings: the train.yaml of another training."
    ),
    model: Options,
    schedule: Options,
    question: TuningQuestion | None,
    output_format: Format = typer.Option(
        "text",
        "--format",
        rich_help_panel=OptionGroup.OUTPUT,
        help="json: see docs/training.md.",
    ),
    quiet: bool = QUIET,
) -> int:
    """Train a LoRA adapter with TRL; the same command goes on after a stop or a kill.

    Only answers are learnt, and none is cut: rows that are longer than the model reads are left
    out and counted. Needs hipo[train]; see docs/training.md.
    """
    hush()
    rows = read_training_set(data_set, kind)
    if question is not None:
        question.check(rows)  # before hours of training
    tell: Callable[[str], None] = (lambda _: None) if quiet else say
    try:
        tuned = train(data_set, output, kind=kind, config=config, tell=tell, **model, **schedule)
    except TrainingInterrupted as error:
        raise StoppedEarly(str(error), stop.INTERRUPTED) from error
    results = None
    if question is not None:
        results = evaluate_tuned(tuned, question, rows, watcher=watcher(quiet=quiet))
    if output_format == "json":
        write_json(tuned_as_json(tuned, results))
    elif not quiet:
        print(tuned_as_text(tuned, rows, results))
    return ExitCode.DONE


def tuned_as_json(tuned: TunedModel, results: ResultBlock | None = None) -> dict[str, object]:
    """Return what a training came to as plain data.

    ``folder``; ``adapter``: the folder of the weights; ``base``; ``kind``: ``sft`` or ``dpo``;
    ``steps``, ``device``, ``dtype``, ``seconds``; ``max_length``: tokens of the longest row used;
    ``train`` and ``validation`` (or null): ``rows``, ``used``, ``left_out``, ``limit``, ``tokens``
    (lengths by per cent of rows); ``validation_used``; ``loss``, ``validation_loss``: ``first``
    and ``last``, or null; ``models``, ``goals``: training rows by each; ``deceptive_rows``;
    ``results``: base and tuned model on unseen items (:class:`ResultBlock`), or null.
    """
    return {
        "folder": str(tuned.folder),
        "adapter": str(tuned.adapter),
        "base": tuned.base,
        "kind": tuned.found.kind,
        **tuned.summary.model_dump(mode="json"),
        "results": None if results is None else results.model_dump(mode="json"),
    }


def tuned_as_text(
    tuned: TunedModel, trained_on: TrainingSet, results: ResultBlock | None = None
) -> str:
    """Return what a training came to in words."""
    summary = tuned.summary
    rows = [
        [name, number(figures.rows), number(used), number(figures.left_out)]
        for name, figures, used in (
            ("train", summary.train, summary.train.used),
            ("validation", summary.validation, summary.validation_used),
        )
        if figures is not None
    ]
    lines = [
        columns(["split", "rows", "used", "too long"], rows),
        f"{summary.steps:,} steps on {summary.device} in {summary.dtype}, {summary.seconds:,.0f} s",
        *_loss_lines(summary.loss, summary.validation_loss),
    ]
    if summary.offline_rows:
        lines.append(
            f"note: {plural(summary.offline_rows, 'row')} written by rules, not by a language "
            "model: what is learnt is template recognition"
        )
    if summary.deceptive_rows:
        lines.append(
            f"note: {plural(summary.deceptive_rows, 'row')} of deception, which can teach to deceive; the card says so"
        )
    lines.append(f"{tuned.adapter}: the adapter, its tokenizer and its card (README.md)")
    if results is None:
        lines.append(
            f"what it is worth on unseen scenarios: {evaluation_command(tuned, trained_on)}"
        )
    else:
        lines += ["", results_as_markdown([results]).rstrip()]
    return "\n".join(lines)


def _loss_lines(training: LossFigures, validation: LossFigures) -> list[str]:
    named = (("loss in training", training), ("loss on validation rows", validation))
    return [
        f"{name}: {'?' if loss.first is None else f'{loss.first:.4f}'} -> {loss.last:.4f}"
        for name, loss in named
        if loss.last is not None
    ]
