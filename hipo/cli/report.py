"""``hipo report``: one page about a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import typer

from hipo.app.run_folders import find_run
from hipo.cli.console import Format, hush, write_json
from hipo.cli.errors import ExitCode, say
from hipo.cli.models import EMBEDDING_PACKAGES
from outputs.export import code_version
from outputs.report.build import build_report
from outputs.report.cumulative import read_scores
from outputs.report.exported import exported_dialogues
from outputs.report.gathered import ReportOptions
from outputs.report.page import GENERATOR
from pipeline.embeddings import BatchingEncoder, sentence_encoder
from pipeline.material import load_material
from pipeline.recipe import Recipe
from pipeline.store.run_store import RunStore
from scenarios.atomic_files import write_text
from scenarios.errors import UsageError

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("report")
def report(
    *,
    run: str = typer.Argument(..., metavar="RUN", help="A folder, or a name under ./runs."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="The HTML file; default report.html in the folder of the run."
    ),
    samples: int = typer.Option(10, "--samples", min=0, help="How many dialogues to show."),
    export: list[Path] = typer.Option(
        [],
        "--export",
        metavar="DIR",
        help="A folder that hipo export wrote: counts it; repeatable.",
    ),
    benchmark: Path | None = typer.Option(
        None,
        "--benchmark",
        metavar="CSV",
        help="What models scored: columns model, dimension, turns, correct, items.",
    ),
    no_embeddings: bool = typer.Option(
        False, "--no-embeddings", help="Do not embed answers to see how varied they are: quicker."
    ),
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json prints report (the file), bytes, and run (the folder)."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Say nothing."),
) -> int:
    """Write one self-contained page about a run: what was generated, how good it is, what it took.

    It loads nothing, can be printed and read on a phone, and works on a run that has only been
    generated: what needs judges or people says how to get there.
    """
    hush()
    folder = find_run(run)
    target = output or folder / "report.html"
    size = write_report(
        folder,
        target,
        name=run,
        samples=samples,
        exports=export,
        benchmark=benchmark,
        embeddings=not no_embeddings,
    )
    if output_format is Format.JSON:
        write_json({"report": str(target), "bytes": size, "run": str(folder)})
    elif not quiet:
        print(f"report: {target}")
    return ExitCode.DONE


def write_report(
    folder: Path,
    target: Path,
    *,
    name: str,
    samples: int = 10,
    exports: Sequence[Path] = (),
    benchmark: Path | None = None,
    embeddings: bool = True,
) -> int:
    """Write the report of the run in ``folder`` to ``target``; return its size in bytes.

    Raises:
        UsageError: the target is not a report of ours, or a file that is named cannot be read.
    """
    check_target(target)
    with RunStore.open(folder, readonly=True) as store:
        material, run_name = load_material(store), store.state().name
    options = ReportOptions(
        samples=samples,
        worst=samples,
        exported=exported_dialogues(exports, run_name) if exports else None,
        cumulative=() if benchmark is None else read_scores(benchmark, material.scheme),
    )
    encoder = available_encoder(material.recipe) if embeddings else None
    text = asyncio.run(_built(folder, options, name, encoder))
    write_text(target, text)
    return len(text.encode())


async def _built(
    folder: Path, options: ReportOptions, name: str, encoder: BatchingEncoder | None
) -> str:
    try:
        return await build_report(
            folder, options, name=name, version=code_version(), encoder=encoder
        )
    finally:
        if encoder is not None:
            await encoder.close()


def available_encoder(recipe: Recipe) -> BatchingEncoder | None:
    """Return what embeds answers, as the run's recipe says; None where it is not installed."""
    if not all(map(find_spec, EMBEDDING_PACKAGES)):
        say("answers are not embedded: install hipo[embeddings] to see how far they are spread")
        return None
    return sentence_encoder(recipe.embedding.model, recipe.embedding.device)


def check_target(path: Path, ours: Sequence[str] = (GENERATOR,)) -> None:
    """Do nothing where a file can be written: none is there, or one that we wrote before.

    Args:
        path: the file.
        ours: what the beginning of a file of ours contains one of.

    Raises:
        UsageError: something else is there, or its folder cannot be made.
    """
    above = path.parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise UsageError(f"{above} is a file, so {path} cannot be made", "choose another -o")
    if path.is_dir():
        raise UsageError(f"{path} is a folder", "name a file with -o")
    if path.exists():
        with path.open("rb") as file:
            head = file.read(4096).decode("utf-8", "replace")
        if not any(sign in head for sign in ours):
            raise UsageError(
                f"{path} is there already and is no file of hipo's", "choose another -o"
            )
