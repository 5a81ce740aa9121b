"""``hipo demo``: a small corpus in seconds, offline, without a key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from hipo.app.demo import SETS, policy_told, samples, usable_folder, write_outputs
from hipo.app.options.verification import VerificationOverrides
from hipo.app.report.report import REPORT
from hipo.app.runs.resumption import prepare_for
from hipo.cli.generate.run import run_prepared
from hipo.cli.main import command_app
from hipo.cli.show.dialogue_view import Heading, render
from hipo.cli.terminal.console import hush
from hipo.cli.terminal.errors import ExitCode, say
from hipo.cli.verify.run import run_verification
from outputs.kinds.export_kind import KINDS
from pipeline.recipes.source import load_recipe
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from scenarios.text_file import typed_path

app = command_app()


@app.command("demo")
def demo(
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder of the run; default ./runs/demo."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="No progress, no samples."),
) -> int:
    """Generate, verify, export and evaluate a small corpus offline, with a report about it.

    It has every category, strategy, goal and length.
    The dialogues are made by rules, not by a language model: they show how everything fits
    together and are no training data.
    """
    hush()
    if not quiet:
        say("generating offline, with rules instead of a language model ...")
    recipe = load_recipe("demo")
    folder = output or usable_folder(recipe)
    code = run_prepared(prepare_for(folder, recipe), folder, quiet=quiet)
    if not quiet:
        say(
            f"verifying: a judge labels every line blind, and rules look on; {policy_told(recipe)} ..."
        )
    code = max(code, run_verification(folder, VerificationOverrides(), quiet=quiet))
    made = write_outputs(folder, say)
    if not quiet:
        _show_samples(folder)
        _say_what_next(folder, made)
    return ExitCode(code)


def _show_samples(folder: Path) -> None:
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
    for dialogue, strategy in samples(folder):
        heading = Heading(
            id=dialogue.id,
            arm=f"{strategy} offline/rules",
            scenario=material.stored_scenario(dialogue.case),
        )
        print(f"\n{'-' * 78}\n{render(dialogue, heading, trace=True)}")


def _say_what_next(folder: Path, made: Sequence[str]) -> None:
    """Print what to do with the run, and how to go on with a model."""
    print(f"\n{'-' * 78}\nThe dialogues are in {folder}, and with them")
    for name, content in (
        (REPORT, "one page about the run"),
        *((n, KINDS.get(SETS[n]).about) for n in made if n in SETS),
        *((f"{n}/index.html", "two programs on its items") for n in made if n not in SETS),
    ):
        print(f"  {(folder / name)!s:<58}  {content}")
    print("What next:")
    typed = typed_path(folder)
    for command, purpose in (
        (f"hipo runs show {typed}", "the state of the run"),
        (f"hipo show {typed}", "its dialogues; add an id and --trace to read one"),
        ("hipo models", "the models that could play instead"),
        ("hipo generate --model openai/gpt-4o-mini -n 10 --dry-run", "what that would cost"),
    ):
        print(f"  {command.ljust(58)}  {purpose}")
