"""Benchmark items for lm-evaluation-harness: rows, and the task files that read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from outputs.dataset.manifest import ExportedFile
from outputs.export.nothing_left import READERS_SETS
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.lm_eval.choice_prompts import ChoicePrompts
from outputs.lm_eval.task_files import task_files
from outputs.rows.benchmark_set import BenchmarkRows
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme


def _choices(scheme: Scheme, options: ExportOptions) -> ChoicePrompts:
    """Return the prompts of all tasks.

    Raises:
        UsageError: there is not one task.
    """
    prompts = ChoicePrompts(scheme, options.aspects, listed=options.listed)
    if not any(prompts.asked.values()):
        raise UsageError(
            f"the scheme {scheme.name} has no labels to choose from that a speaker declares or a case"
            f" assigns ({', '.join(options.aspects)})",
            READERS_SETS,
        )
    return prompts


def _rows(scheme: Scheme, options: ExportOptions) -> BenchmarkRows:
    prompts = _choices(scheme, options)
    return BenchmarkRows(scheme, options.aspects, prompts=prompts, subset="lm-eval")


def _prompts(scheme: Scheme, options: ExportOptions) -> str:
    return _choices(scheme, options).fingerprint


def _files(
    scheme: Scheme, options: ExportOptions, files: Sequence[ExportedFile], folder: Path
) -> dict[str, str]:
    return task_files(scheme, _choices(scheme, options), files, folder)


KIND = ExportKind(
    name="lm-eval",
    about="benchmark items as tasks of lm-evaluation-harness",
    tasks=(ExportTask(_rows, options=frozenset({"aspects"}), prompts=_prompts, companions=_files),),
    hub_tasks=("text-classification",),
    fractions=(0, 0, 1),
)
