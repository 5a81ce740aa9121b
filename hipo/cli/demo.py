"""``hipo demo``: a small corpus in seconds, offline, without a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import typer

from hipo.app.generation import open_run
from hipo.app.preparation import prepare
from hipo.app.resumption import check_resumable
from hipo.app.run_folders import RUNS
from hipo.app.verification import Wishes
from hipo.cli.console import hush
from hipo.cli.dialogue_view import Heading, render
from hipo.cli.errors import ExitCode, say
from hipo.cli.generate import run_recipe
from hipo.cli.report import write_report
from hipo.cli.show import played_scenario
from hipo.cli.verify import run_verification
from outputs.dataset.documents import Documents
from outputs.export import ExportOptions, Kind, export
from outputs.selection import Selection
from pipeline.recipe import Recipe
from pipeline.recipe_source import load_recipe
from pipeline.store.run_store import RunStore
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.run_configuration import RunConfiguration

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

REPORT = "report.html"
SETS: Mapping[str, tuple[Kind, str]] = {
    "sft": ("sft", "training rows: an evaluator's prompt and the labels"),
    "preference": ("dpo", "pairs of honest answers, the better one and the worse one"),
    "benchmark": ("benchmark", "benchmark items for utterance, cumulative and conversation"),
}
"""What the demo exports, by folder: the kind of data set, and what its rows are."""
SAMPLE_TURNS = 2
"""Length of the sample dialogues: enough to see a conversation."""


@app.command("demo")
def demo(
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder of the run; default ./runs/demo."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="No progress, no samples."),
) -> int:
    """Generate, verify and export a small corpus offline, and write a report about it.

    It has every category, strategy, goal and length.
    The dialogues are made by rules, not by a language model: they show how everything fits
    together and are no training data.
    """
    hush()
    if not quiet:
        say("generating offline, with rules instead of a language model ...")
    recipe = load_recipe("demo")
    folder = output or _usable_folder(recipe)
    code = run_recipe(recipe, folder, quiet=quiet)
    if not quiet:
        say("verifying: two judgements of every turn, and rules ...")
    code = max(code, run_verification(folder, Wishes(), quiet=quiet))
    made = _write_outputs(folder)
    if not quiet:
        _show_samples(folder)
        _say_what_next(folder, made)
    return ExitCode(code)


def _usable_folder(recipe: Recipe) -> Path:
    """Return ``runs/demo``, or the next number where another version of hipo has made that one."""
    prepared = prepare(recipe)
    for name in ("demo", *(f"demo-{number}" for number in range(2, 100))):
        try:
            check_resumable(RUNS / name, prepared, "if-possible")
        except UsageError:
            continue
        return RUNS / name
    return RUNS / "demo"  # generating into it says what is wrong


def _write_outputs(folder: Path) -> tuple[str, ...]:
    """Write what leaves a run, and return the names of the data sets that could be made."""
    parquet = find_spec("pyarrow") is not None
    made = []
    for name, (kind, _) in SETS.items():
        options = ExportOptions(kind, parquet=parquet)
        try:
            export(
                Selection(runs=(folder,)), options, folder / name,
                overwrite=True, document=Documents(),
            )  # fmt: skip
        except UsageError as error:  # nothing to prefer in a run without votes or revisions
            say(f"no {name} set: {error.message}")
        else:
            made.append(name)
    write_report(
        folder,
        folder / REPORT,
        name=folder.name,
        exports=[folder / name for name in made],
    )
    return tuple(made)


def _show_samples(folder: Path) -> None:
    """Print two dialogues: a deception that was voted on, and a truthful one that was revised."""
    with RunStore.open(folder, readonly=True) as store:
        arms = {arm.id: arm.description for arm in store.state().arms}
        config = store.config.config
    wanted = {"consistency": "deception", "reflective": "truthful non-disclosure"}
    for dialogue in open_run(folder).dialogues():
        strategy = str(arms[dialogue.arm]["strategy"])
        if wanted.get(strategy) != dialogue.case.goal or dialogue.case.turns != SAMPLE_TURNS:
            continue
        del wanted[strategy]
        _print_sample(dialogue, strategy, config=config)
        if not wanted:
            return


def _print_sample(dialogue: Dialogue, strategy: str, config: RunConfiguration) -> None:
    heading = Heading(
        id=f"{dialogue.case.id}/{dialogue.arm}",
        arm=f"{strategy} offline/rules",
        scenario=played_scenario(dialogue.case, config),
    )
    print(f"\n{'-' * 78}\n{render(dialogue, heading, trace=True)}")


def _say_what_next(folder: Path, made: Sequence[str]) -> None:
    """Print what to do with the run, and how to go on with a model."""
    print(f"\n{'-' * 78}\nThe dialogues are in {folder}, and with them")
    for name, content in ((REPORT, "one page about the run"), *((n, SETS[n][1]) for n in made)):
        print(f"  {(folder / name)!s:<58}  {content}")
    print("What next:")
    for command, purpose in (
        (f"hipo runs show {folder}", "the state of the run"),
        (f"hipo show {folder}", "its dialogues; add an id and --trace to read one"),
        ("hipo models", "the models that could play instead"),
        ("hipo generate --model openai/gpt-4o-mini -n 10 --dry-run", "what that would cost"),
    ):
        print(f"  {command.ljust(58)}  {purpose}")
