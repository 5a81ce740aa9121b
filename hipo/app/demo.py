"""The demo: where its run goes, what is made of it, and which of its dialogues are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from hipo.app.evaluation.evaluate import evaluate
from hipo.app.evaluation.tables import BESIDE_A_RUN
from hipo.app.export.export import make_data_set
from hipo.app.export.options import export_options
from hipo.app.report.report import report
from hipo.app.runs.folders import RUNS
from hipo.app.runs.resumption import prepare_for
from outputs.selecting.wish import Selection
from outputs.showcase import showcased
from pipeline.recipes.recipe import Recipe
from pipeline.store.queries.report import open_figures
from pipeline.store.run_store import RunStore
from quality.verification.policy import load_policy
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError

SETS: Mapping[str, str] = {"sft": "sft", "preference": "dpo", "benchmark": "benchmark"}
"""What the demo exports: the kind of data set, by folder."""

TASKS = ("hipo-utterance", "hipo-conversation")
READERS = ("offline/judge", "offline/reader")
"""What the demo evaluates: the rules that know the library's lines by heart, and those that do not."""


def usable_folder(recipe: Recipe) -> Path:
    """Return ``runs/demo``, or the next number where another version of hipo has made that one."""
    for name in ("demo", *(f"demo-{number}" for number in range(2, 100))):
        try:
            prepared = prepare_for(RUNS / name, recipe)
        except UsageError:
            continue
        if not prepared.kept:
            return RUNS / name
    return RUNS / "demo"  # generating into it says what is wrong


def write_outputs(folder: Path, notice: Callable[[str], None]) -> tuple[str, ...]:
    """Write the data sets, an evaluation of two programs on the dialogues, and the report.

    Returns:
        The names of the sets that could be made, and of the evaluation.
    """
    parquet = find_spec("pyarrow") is not None
    made = []
    for name, kind in SETS.items():
        options = export_options(kind, parquet=parquet)
        try:
            make_data_set(
                Selection(runs=(folder,)), options, folder / name, overwrite=True, notice=notice
            )
        except UsageError as error:  # nothing to prefer in a run without votes or revisions
            notice(f"no {name} set: {error.message}")
        else:
            made.append(name)
    sets = tuple(made)
    if _evaluated(folder, notice):
        made.append(BESIDE_A_RUN)
    report(folder, exports=[folder / name for name in sets], notice=notice)
    return tuple(made)


def _evaluated(folder: Path, notice: Callable[[str], None]) -> bool:
    """Ask two programs for the labels of what was accepted; return whether there was anything."""
    try:
        evaluate(folder, tasks=TASKS, models=READERS, output=folder / BESIDE_A_RUN, resume="always")
    except UsageError as error:  # nothing was accepted
        notice(f"no evaluation: {error.message}")
        return False
    return True


def samples(folder: Path) -> Iterator[tuple[Dialogue, str]]:
    """Yield the dialogues that the report opens with, one of each strategy.

    Yields:
        A dialogue, and the strategy that played it.
    """
    with RunStore.open(folder, readonly=True) as store, open_figures(folder) as figures:
        strategies = {arm.id: arm.arm.strategy for arm in store.state().arms}
        for sample in showcased(store, figures.samples(), strategies):
            yield store.dialogue(sample.id), strategies[sample.arm]


def policy_told(recipe: Recipe) -> str:
    """Say which policy decides in the demo, what it does, and why it is this one."""
    policy = load_policy(recipe.verification.policy)
    return (
        f"policy {policy.name}: {policy.in_words}. Nobody reviews a demo, so that nothing may wait "
        "for people. The judge is a program that knows the lines written for the library by heart: "
        "that it finds their labels says nothing, only what it flags does"
    )
