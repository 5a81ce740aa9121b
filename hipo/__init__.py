"""Turn scenarios with private knowledge into labelled dialogues, check them, and export them.

Every step of a run can be called from Python::

    from hipo import evaluate, export, generate, load_recipe, report, verify

    run = generate(load_recipe("hipo-paper").with_changes({"n": 10}), output="runs/trial")
    verify(run, judges=["openai/o4-mini"])
    export(run, "sft", "sets/sft")
    print(report(run).path)

Nothing is imported before it is used. What a user did wrong is a :class:`UsageError`, what went
wrong meanwhile a :class:`RunError`; both are a :class:`HipoError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from hipo.name_clash import check_names

if TYPE_CHECKING:
    from hipo.app.audit import audit as audit
    from hipo.app.comparing import compare as compare
    from hipo.app.evaluation.evaluate import evaluate as evaluate
    from hipo.app.evaluation.settings import EvaluationSettings as EvaluationSettings
    from hipo.app.export.export import export as export
    from hipo.app.export.options import ExportExtras as ExportExtras
    from hipo.app.generation.generate import generate as generate
    from hipo.app.generation.plan_estimates import estimate as estimate
    from hipo.app.generation.preview import preview as preview
    from hipo.app.generation.quota import plan_quota as plan_quota
    from hipo.app.generation.quota import quota_fill as quota_fill
    from hipo.app.generation.saturation import SaturatedPlay as SaturatedPlay
    from hipo.app.generation.verified import VerifiedPlay as VerifiedPlay
    from hipo.app.options.verification import VerificationOverrides as VerificationOverrides
    from hipo.app.preparation.prepared import prepare as prepare
    from hipo.app.report.report import report as report
    from hipo.app.runs.run import Run as Run
    from hipo.app.runs.run import open_run as open_run
    from hipo.app.study import study as study
    from hipo.app.train import train as train
    from hipo.app.verification.verify import verify as verify
    from hipo.cli.terminal.progress import progress as progress
    from pipeline.recipes.recipe import Recipe as Recipe
    from pipeline.recipes.source import load_recipe as load_recipe
    from scenarios.errors import HipoError as HipoError
    from scenarios.errors import RunError as RunError
    from scenarios.errors import UsageError as UsageError
    from scenarios.plugins import load_plugins as load_plugins

_MODULE_OF = {
    "EvaluationSettings": "hipo.app.evaluation.settings",
    "ExportExtras": "hipo.app.export.options",
    "HipoError": "scenarios.errors",
    "Recipe": "pipeline.recipes.recipe",
    "Run": "hipo.app.runs.run",
    "RunError": "scenarios.errors",
    "SaturatedPlay": "hipo.app.generation.saturation",
    "UsageError": "scenarios.errors",
    "VerificationOverrides": "hipo.app.options.verification",
    "VerifiedPlay": "hipo.app.generation.verified",
    "audit": "hipo.app.audit",
    "compare": "hipo.app.comparing",
    "estimate": "hipo.app.generation.plan_estimates",
    "evaluate": "hipo.app.evaluation.evaluate",
    "export": "hipo.app.export.export",
    "generate": "hipo.app.generation.generate",
    "load_plugins": "scenarios.plugins",
    "load_recipe": "pipeline.recipes.source",
    "open_run": "hipo.app.runs.run",
    "plan_quota": "hipo.app.generation.quota",
    "prepare": "hipo.app.preparation.prepared",
    "preview": "hipo.app.generation.preview",
    "progress": "hipo.cli.terminal.progress",
    "quota_fill": "hipo.app.generation.quota",
    "report": "hipo.app.report.report",
    "study": "hipo.app.study",
    "train": "hipo.app.train",
    "verify": "hipo.app.verification.verify",
}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> object:
    """Import what is asked for by name."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'hipo' has no attribute {name!r}")
    check_names()
    value: object = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the names that can be imported."""
    return sorted({*globals(), *_MODULE_OF})
