"""Write one page about a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipo.app.evaluation.tables import BESIDE_A_RUN, evaluation_folder
from hipo.app.generation.quota import QuotaFill, quota_fill
from hipo.app.generation.quota_table import HEADER, NOTE, quota_row
from hipo.app.generation.saturation import curve_of
from hipo.app.report.label_sections import statistics_sections
from hipo.app.running.waiting import waited_for
from hipo.app.runs.run import RunLike, folder_of
from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.run_section import evaluation_section
from outputs.evaluation.writing import read_evaluation
from outputs.export.facts import code_version
from outputs.export.recorded import recorded_exports
from outputs.report.build import build_report
from outputs.report.cumulative import read_scores
from outputs.report.exported import exported_dialogues, still_there
from outputs.report.gathered import ReportOptions
from outputs.report.page import GENERATOR, ReportSection, Table
from outputs.report.saturation import saturation_section
from pipeline.embeddings.embeddings import BatchingEncoder, installed_encoder
from pipeline.recipes.recipe import Recipe
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from quality.evaluation.evaluation_record import RECORD
from quality.saturation import SaturationCurve
from scenarios.atomic_files import check_place, write_text
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.schemes.model import Scheme
from scenarios.text_file import typed_path

REPORT = "report.html"
_log = logger("report")


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report on disk."""

    path: Path
    size: int
    """In bytes."""
    run: Path
    """The folder of the run."""
    curve: SaturationCurve | None = None
    """How many distinct dialogues the run yields the longer it goes on; None: it has too few."""


def report(
    run: RunLike,
    output: str | Path | None = None,
    *,
    samples: int = 10,
    exports: Sequence[str | Path] = (),
    benchmark: str | Path | None = None,
    evaluations: Sequence[str | Path] = (),
    embeddings: bool = True,
    notice: Callable[[str], None] = _log.warning,
) -> WrittenReport:
    """Write one self-contained HTML page about a run: what was made, how good it is, what it took.

    Example::

        print(report("runs/trial").path)  # runs/trial/report.html

    Args:
        run: what :func:`hipo.generate` returned, a folder, or a name under ``./runs``.
        output: the file; None is ``report.html`` in the folder of the run.
        samples: how many dialogues to show.
        exports: folders that were exported from the run; their dialogues are counted. None: those
            that are recorded in the run, still there and sound.
        benchmark: a CSV of what models scored: model, dimension, turns, correct, items.
        evaluations: folders that ``hipo evaluate`` wrote; none: the folder ``evaluation`` of the
            run, if there is one.
        embeddings: whether answers are embedded to see how far they are spread, if installed.
        notice: is called with what could not be done.

    Raises:
        UsageError: there is no run, the file is not a report of ours, or a file cannot be read.
    """
    folder = folder_of(run)
    target = Path(output) if output is not None else folder / REPORT
    check_target(target)
    with RunStore.open(folder, readonly=True) as store:
        material, run_name = load_material(store), store.state().name
    recorded = recorded_exports(folder)
    folders = [Path(export) for export in exports] or still_there(folder, recorded)
    name = typed_path(run if isinstance(run, str) else folder)
    curve = curve_of(folder)
    evaluated = list(_evaluations(folder, evaluations, material.scheme))
    options = ReportOptions(
        samples=samples,
        worst=samples,
        exports=tuple(recorded),
        exported=exported_dialogues(folders, run_name, None if exports else notice),
        cumulative=() if benchmark is None else read_scores(Path(benchmark), material.scheme),
        evaluation=evaluation_section(evaluated, name),
        statistics=tuple(statistics_sections(folder, name, material.scheme, notice)),
        yields=(
            *_quota_section(quota_fill(folder)),
            saturation_section(curve, material.recipe.vary),
        ),
    )
    encoder = _encoder(material.recipe, notice) if embeddings else None
    text = waited_for(_built(folder, options, name, encoder))
    write_text(target, text)
    return WrittenReport(target, len(text.encode()), folder, curve)


def _evaluations(run: Path, named: Sequence[str | Path], scheme: Scheme) -> Iterator[Evaluated]:
    """Yield the evaluations that are named, or the one that lies in the folder of the run."""
    beside = run / BESIDE_A_RUN
    found = [evaluation_folder(name) for name in named]
    if not found and (beside / RECORD).exists():
        found = [beside]
    for folder in found:
        one = read_evaluation(folder)
        if one.record.set.scheme != scheme.name:
            raise UsageError(
                f"{folder} is about labels of {one.record.set.scheme}, the run has {scheme.name}",
                "leave it out: its figures say nothing about this run",
            )
        yield one.shown


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


def _encoder(recipe: Recipe, notice: Callable[[str], None]) -> BatchingEncoder | None:
    """Return what embeds answers, as the run's recipe says; None where it is not installed."""
    encoder = installed_encoder(recipe.embedding.model, recipe.embedding.device)
    if encoder is None:
        notice("answers are not embedded: install hipo[embeddings] to see how far they are spread")
    return encoder


def check_target(path: Path) -> None:
    """Do nothing where a file can be written: none is there, or one that we wrote before.

    Raises:
        UsageError: something else is there, or its folder cannot be made.
    """
    check_place(path)
    if path.exists():
        with path.open("rb") as file:
            head = file.read(4096).decode("utf-8", "replace")
        if GENERATOR not in head:
            raise UsageError(
                f"{path} is there already and is no file of hipo's", "choose another -o"
            )


def _quota_section(fill: QuotaFill | None) -> tuple[ReportSection, ...]:
    """Return the section about a quota; none where the run has none."""
    if fill is None:
        return ()
    filled = len(fill.of_state("filled"))
    caption = f"{filled:,} of {len(fill.cells):,} cells filled"
    table = Table(caption, HEADER, tuple(map(quota_row, fill.cells)))
    return (ReportSection("quota", "Quota", f"What was drawn for. {NOTE}", (table,)),)
