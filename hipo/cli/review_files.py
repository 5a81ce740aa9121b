"""``hipo review export`` and ``hipo review import``: answers for other tools, and from them."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

import orjson
import typer

from hipo.app.reviewing import StudyWishes, open_study, run_material, scenario_finder, study_of
from hipo.app.run_folders import find_run
from hipo.cli.console import Format, columns, one_line, plural, write_json
from hipo.cli.errors import ExitCode, say
from pipeline.store.reviews import ReviewStore
from quality.review.exchange import Outgoing, outgoing
from quality.review.exhibits import Exhibits
from quality.review.export_argilla import dataset_settings, records
from quality.review.export_label_studio import labelling_config, tasks
from quality.review.import_csv import read_csv
from quality.review.import_label_studio import read_label_studio
from quality.review.importing import ImportedReviews, check_incoming, merge_all
from quality.review.scenario_reports import scenario_reports
from quality.review.spreadsheet import write_csv
from scenarios.errors import UsageError
from scenarios.reviews import ReviewStudy
from scenarios.schemes.model import Scheme

LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is imported."""
_RUN = typer.Argument(..., metavar="RUN", help="A folder, or a name under ./runs.")
_STUDY = typer.Option(None, "--study", help="Which study, where there are several.")


class ExchangeTarget(StrEnum):
    """Where answers go."""

    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"
    CSV = "csv"
    PDF = "pdf"


class StudyKind(StrEnum):
    """The two things a study can be."""

    REVIEW = "review"
    QUIZ = "quiz"


def export_answers(
    *,
    run: str = _RUN,
    to: ExchangeTarget = typer.Option(..., "--to", help="label-studio, argilla, csv or pdf."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder; default RUN/review-<study>."
    ),
    study: str | None = _STUDY,
    annotator: str | None = typer.Option(None, "--annotator", help="One code's answers only."),
    blank: bool = typer.Option(False, "--blank", help="csv: rows to fill in instead of answers."),
    blind: bool | None = typer.Option(
        None, "--blind/--declared", help="Without declared labels; default for a quiz."
    ),
    mode: StudyKind = typer.Option(
        StudyKind.REVIEW, "--mode", help="Of a study that is begun by this."
    ),
    everything: bool = typer.Option(False, "--all", help="The same: every dialogue."),
    most: int | None = typer.Option(None, "-n", min=1, help="The same: at most so many."),
    per_item: int = typer.Option(3, "--per-item", min=1, help="The same: people per item."),
) -> int:
    """Write a study for another tool, or to print: its dialogues, and the answers so far.

    A study is begun where the run has none. Annotators are codes in every file; cells that a
    spreadsheet would compute are made harmless.
    """
    folder = find_run(run)
    wishes = StudyWishes(
        mode=mode.value, name=study, everything=everything, most=most, per_item=per_item
    )
    with ReviewStore.open(folder) as store:
        material = run_material(folder)
        chosen = _existing(store, study) or open_study(store, material, wishes)
        exhibits = Exhibits(store, material.scheme, chosen, scenario_finder(material, chosen))
        dialogues = list(outgoing(store, chosen, exhibits, annotator=annotator))
        hidden = chosen.mode == "quiz" if blind is None else blind
        files = _files(to, material.scheme, chosen, dialogues, blank=blank, blind=hidden)
        where = output or folder / f"review-{chosen.id}"
        where.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (where / name).write_bytes(content)
            print(where / name)
    answers = sum(len(dialogue.sheets) for dialogue in dialogues)
    say(f"{plural(len(dialogues), 'dialogue')}, {plural(answers, 'answer')}")
    return ExitCode.DONE


def import_answers(
    run: str = _RUN,
    file: Path = typer.Argument(..., metavar="FILE", help="Label Studio's .json, or a .csv."),
    study: str | None = _STUDY,
) -> int:
    """Bring answers in that were given in Label Studio or a spreadsheet.

    The whole file is checked before anything is stored. Parts of a study are welcome; the same
    file again changes nothing. Exit code 1 where answers were left out.
    """
    folder = find_run(run)
    with ReviewStore.open(folder) as store:
        chosen = study_of(store, study)
        material = run_material(folder)
        exhibits = Exhibits(store, material.scheme, chosen, scenario_finder(material, chosen))
        text = _read(file)
        reader = read_csv if file.suffix.casefold() == ".csv" else read_label_studio
        incoming = reader(text, material.scheme, str(file))
        checked = check_incoming(store, chosen, material.scheme, exhibits, incoming, file=str(file))
        done = merge_all(store, chosen, checked, origin=f"import:{file.name}")
    return _report(done)


def list_reports(
    run: str = _RUN,
    study: str | None = _STUDY,
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json: see quality.review.scenario_reports.ScenarioReport."
    ),
) -> None:
    """List what reviewers find wrong with scenarios, for their authors."""
    with ReviewStore.open(find_run(run)) as store:
        reports = scenario_reports(store, store.sheets.sheets(study_of(store, study)))
    if output_format is Format.JSON:
        write_json([asdict(report) for report in reports])
    elif not reports:
        print("nobody has reported a scenario")
    else:
        rows = [[r.scenario, r.fact, r.annotator, one_line(r.problem, 100)] for r in reports]
        print(columns(["scenario", "fact", "by", "what is wrong"], rows))


def _existing(store: ReviewStore, name: str | None) -> ReviewStudy | None:
    """Return the study meant, or None where one has to be begun."""
    studies = store.studies.all()
    if not studies or (name is not None and name not in {study.id for study in studies}):
        return None
    return study_of(store, name)


def _files(
    to: ExchangeTarget,
    scheme: Scheme,
    study: ReviewStudy,
    dialogues: Sequence[Outgoing],
    *,
    blank: bool,
    blind: bool,
) -> dict[str, bytes]:
    """Return the files of an export by name."""
    if to is ExchangeTarget.LABEL_STUDIO:
        rows = tasks(scheme, study, dialogues, blind=blind)
        return {
            "label-studio.json": orjson.dumps(rows, option=orjson.OPT_INDENT_2),
            "label-studio.xml": labelling_config(scheme, study).encode(),
        }
    if to is ExchangeTarget.ARGILLA:
        lines = [orjson.dumps(r) for r in records(scheme, study, dialogues, blind=blind)]
        settings = dataset_settings(scheme, study)
        return {
            "argilla.jsonl": b"\n".join(lines) + b"\n",
            "argilla.settings.json": orjson.dumps(settings, option=orjson.OPT_INDENT_2),
        }
    if to is ExchangeTarget.CSV:
        name = "blank.csv" if blank else "answers.csv"
        # Excel takes a table for UTF-8 only if it begins with this mark.
        return {name: b"\xef\xbb\xbf" + write_csv(scheme, dialogues, blank=blank).encode()}
    if importlib.util.find_spec("reportlab") is None:
        raise UsageError("a PDF needs reportlab", 'pip install "hipo[review]"')
    from quality.review.export_pdf import write_pdf  # noqa: PLC0415 - optional

    return {"form.pdf": write_pdf(scheme, study, dialogues)}


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > LARGEST:
            raise UsageError(f"{file} is larger than 256 MiB", "import it in parts")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error


def _report(done: ImportedReviews) -> int:
    counts = done.outcomes
    print(
        f"{plural(counts['added'], 'answer')} added, {counts['changed']} changed,"
        f" {counts['unchanged']} known already"
    )
    for why, left_out in (
        ("the item has all its annotators", done.surplus),
        ("an expert has settled the item", done.closed),
    ):
        for answer in left_out:
            say(f"left out: {answer}: {why}")
    return ExitCode.FAILED_CASES if done.surplus or done.closed else ExitCode.DONE
