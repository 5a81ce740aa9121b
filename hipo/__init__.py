"""Turn scenarios with private knowledge into labelled dialogues, check them, and export them.

Everything the command line does can be called from Python::

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
    from hipo.app.evaluation import evaluate as evaluate
    from hipo.app.evaluation_settings import EvaluationSettings as EvaluationSettings
    from hipo.app.export import export as export
    from hipo.app.export_options import ExportExtras as ExportExtras
    from hipo.app.generation import generate as generate
    from hipo.app.plan_estimates import estimate as estimate
    from hipo.app.preview import preview as preview
    from hipo.app.report import report as report
    from hipo.app.run import Run as Run
    from hipo.app.run import open_run as open_run
    from hipo.app.study import study as study
    from hipo.app.train import train as train
    from hipo.app.verification import verify as verify
    from hipo.cli.progress import progress as progress
    from pipeline.recipe import Recipe as Recipe
    from pipeline.recipe_source import load_recipe as load_recipe
    from scenarios.errors import HipoError as HipoError
    from scenarios.errors import RunError as RunError
    from scenarios.errors import UsageError as UsageError
    from scenarios.plugins import load_plugins as load_plugins

_MODULE_OF = {
    "EvaluationSettings": "hipo.app.evaluation_settings",
    "ExportExtras": "hipo.app.export_options",
    "HipoError": "scenarios.errors",
    "Recipe": "pipeline.recipe",
    "Run": "hipo.app.run",
    "RunError": "scenarios.errors",
    "UsageError": "scenarios.errors",
    "audit": "hipo.app.audit",
    "estimate": "hipo.app.plan_estimates",
    "evaluate": "hipo.app.evaluation",
    "export": "hipo.app.export",
    "generate": "hipo.app.generation",
    "load_plugins": "scenarios.plugins",
    "load_recipe": "pipeline.recipe_source",
    "open_run": "hipo.app.run",
    "preview": "hipo.app.preview",
    "progress": "hipo.cli.progress",
    "report": "hipo.app.report",
    "study": "hipo.app.study",
    "train": "hipo.app.train",
    "verify": "hipo.app.verification",
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
