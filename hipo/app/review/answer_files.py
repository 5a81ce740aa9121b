"""Answers of reviewers for other tools, and from them."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import orjson

from hipo.app.options.values import AnswerFormat
from hipo.app.review.reviewing import (
    ReviewOptions,
    open_study,
    run_material,
    scenario_finder,
    study_of,
)
from pipeline.store.reviews import ReviewStore
from quality.review.exhibits import Exhibits
from quality.review.export_argilla import dataset_settings, records
from quality.review.export_label_studio import labelling_config, tasks
from quality.review.import_csv import read_csv
from quality.review.import_label_studio import read_label_studio
from quality.review.importing import ImportedReviews, check_incoming, merge_all
from quality.review.outgoing import Outgoing, outgoing
from quality.review.scenario_reports import ScenarioReport, scenario_reports
from quality.review.spreadsheet import answer_lines, blank_lines
from scenarios.atomic_files import new_file
from scenarios.errors import UsageError
from scenarios.plural import plural
from scenarios.reviews import ReviewStudy
from scenarios.schemes.model import Scheme
from scenarios.spelling import suggestion
from scenarios.text_file import in_utf16, read_bytes

_ENDINGS: dict[AnswerFormat, str] = {
    "label-studio": ".json",
    "argilla": ".jsonl",
    "csv": ".csv",
    "pdf": ".pdf",
}
"""How the file of each tool ends."""
LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is imported."""


@dataclass(frozen=True, slots=True)
class WrittenAnswers:
    """A study that was written for another tool."""

    paths: tuple[Path, ...]
    dialogues: int
    answers: int


def export_answers(
    folder: Path,
    to: AnswerFormat,
    output: Path | None,
    options: ReviewOptions,
    *,
    annotator: str | None = None,
    blank: bool = False,
    blind: bool | None = None,
    told: Collection[str] = (),
) -> WrittenAnswers:
    """Write a study for another tool; it is begun where the run has none.

    Args:
        folder: the run.
        to: the tool.
        output: the folder to write to, or the file, if it ends like the tool's (``tasks.json``):
            what belongs to it lies beside it; None is ``review-<study>`` in the folder of the run.
        options: which study, and how one that is begun is made.
        annotator: one code whose answers are written only; None is all.
        blank: whether rows to fill in are written instead of answers (csv).
        blind: whether declared labels are left out; None: in every mode but ``review``.
        told: the fields of ``options`` that the user gave; a study that was begun otherwise is refused.

    Raises:
        UsageError: there is nothing to review, no such study among those there are, or one that was
            begun otherwise; nobody of that code has answered; a package is missing, the file's
            ending is another tool's, it cannot be written, or a sheet to fill in is there already.
    """
    if blank and (to != "csv" or annotator is not None):
        raise UsageError(
            "--blank makes a sheet to fill in, without answers",
            "it goes with --to csv, and without --annotator",
        )
    if output is not None:
        _check_ending(to, output)
    with ReviewStore.open(folder) as store:
        material = run_material(folder)
        has_studies = bool(store.studies.all())
        chosen = (
            study_of(store, options.name) if has_studies else open_study(store, material, options)
        )
        exhibits = Exhibits(store, material.scheme, chosen, scenario_finder(material, chosen))
        _check_begun(chosen, options, told, len(store.sheets.items(chosen)))
        if annotator is not None:
            _check_answered(store, chosen, annotator)
        counts: Counter[str] = Counter()
        dialogues = _counted(outgoing(store, chosen, exhibits, annotator=annotator), counts)
        hidden = chosen.mode != "review" if blind is None else blind
        files = _files(to, material.scheme, chosen, dialogues, blank=blank, blind=hidden)
        paths = _paths(output or folder / f"review-{chosen.id}", to, list(files))
        for path, content in zip(paths, files.values(), strict=True):
            if blank and path.exists():
                _check_not_filled_in(path, b"".join(content))
                continue
            with new_file(path, 0o600) as file:  # it holds notes in people's own words
                file.writelines(content)
    return WrittenAnswers(paths, counts["dialogues"], counts["answers"])


def _counted(dialogues: Iterable[Outgoing], counts: Counter[str]) -> Iterator[Outgoing]:
    """Yield dialogues, and count them and their answers."""
    for dialogue in dialogues:
        counts["dialogues"] += 1
        counts["answers"] += len(dialogue.sheets)
        yield dialogue


def _check_answered(store: ReviewStore, study: ReviewStudy, annotator: str) -> None:
    """Do nothing where somebody of this code has answered.

    Raises:
        UsageError: nobody has.
    """
    who = {sheet.annotator for sheet in store.sheets.sheets(study)}
    if annotator not in who:
        raise UsageError(
            f"the study {study.id} holds no answer of {annotator!r}",
            suggestion(annotator, sorted(who), listing="who answered") or "leave --annotator out",
        )


def _check_begun(
    study: ReviewStudy, options: ReviewOptions, told: Collection[str], dialogues: int
) -> None:
    """Do nothing where a study is as the options would begin it.

    Raises:
        UsageError: it was begun otherwise.
    """
    differing = [
        f"{option} {getattr(study, name)}"
        for name, option in (("mode", "--mode"), ("per_item", "--per-item"))
        if name in told and getattr(study, name) != getattr(options, name)
    ]
    if options.most is not None and dialogues > options.most:
        differing.append(plural(dialogues, "dialogue"))
    if differing:
        raise UsageError(
            f"the study {study.id} was begun with {', '.join(differing)}, and stays as it is",
            "leave --mode, --per-item and -n out; hipo review serve --study NAME begins another",
        )


def import_answers(folder: Path, file: Path, study: str | None = None) -> ImportedReviews:
    """Take in answers that were given in Label Studio (JSON) or a spreadsheet (CSV).

    The whole file is checked before anything is stored; the same file again changes nothing.

    Raises:
        UsageError: there is no such study, or the file cannot be read.
        InputError: lines of the file that cannot be used, all of them.
    """
    with ReviewStore.open(folder) as store:
        chosen = study_of(store, study)
        material = run_material(folder)
        exhibits = Exhibits(store, material.scheme, chosen, scenario_finder(material, chosen))
        text = _read(file)
        reader = read_csv if file.suffix.casefold() == ".csv" else read_label_studio
        incoming = reader(text, material.scheme, str(file))
        checked = check_incoming(store, chosen, material.scheme, exhibits, incoming, file=str(file))
        return merge_all(store, chosen, checked, origin=f"import:{file.name}")


def reported_scenarios(folder: Path, study: str | None = None) -> list[ScenarioReport]:
    """Return what reviewers found wrong with scenarios."""
    with ReviewStore.open(folder) as store:
        return scenario_reports(store, store.sheets.sheets(study_of(store, study)))


def _check_not_filled_in(path: Path, content: bytes) -> None:
    """Do nothing where a sheet is as it would be written.

    Raises:
        UsageError: it is no blank sheet, or somebody has filled it in.
    """
    if not path.is_file() or path.read_bytes() != content:
        raise UsageError(
            f"{path} is there already, and may have been filled in",
            "name another file with -o, or move it away",
        )


def _is_file(output: Path) -> bool:
    return output.suffix.casefold() in _ENDINGS.values() and not output.is_dir()


def _check_ending(to: AnswerFormat, output: Path) -> None:
    """Do nothing where a file may be called like this, or where a folder is meant.

    Raises:
        UsageError: it ends like the file of another tool.
    """
    if _is_file(output) and output.suffix.casefold() != _ENDINGS[to]:
        raise UsageError(
            f"-o {output}: found a file that ends in {output.suffix}, and {to} is written to one"
            f" that ends in {_ENDINGS[to]}",
            f"name it {output.with_suffix(_ENDINGS[to]).name}, or name a folder",
        )


def _paths(output: Path, to: AnswerFormat, names: Sequence[str]) -> tuple[Path, ...]:
    """Return where each file goes: into a folder, or the first one where it is to be."""
    if not _is_file(output):
        return tuple(output / name for name in names)
    first, *others = names
    begun = first.removesuffix(_ENDINGS[to])
    return (output, *(output.with_name(output.stem + name.removeprefix(begun)) for name in others))


def _files(
    to: AnswerFormat,
    scheme: Scheme,
    study: ReviewStudy,
    dialogues: Iterable[Outgoing],
    *,
    blank: bool,
    blind: bool,
) -> dict[str, Iterable[bytes]]:
    """Return the files of an export by name, each as the parts that it is written in."""
    if to == "label-studio":
        return {
            "label-studio.json": _as_array(tasks(scheme, study, dialogues, blind=blind)),
            "label-studio.xml": [labelling_config(scheme, study).encode()],
        }
    if to == "argilla":
        rows = records(scheme, study, dialogues, blind=blind)
        settings = dataset_settings(scheme, study)
        return {
            "argilla.jsonl": (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows),
            "argilla.settings.json": [orjson.dumps(settings, option=orjson.OPT_INDENT_2)],
        }
    if to == "csv":
        lines = blank_lines(scheme, study, dialogues) if blank else answer_lines(scheme, dialogues)
        # Excel takes a table for UTF-8 only if it begins with this mark.
        marked = chain([b"\xef\xbb\xbf"], (line.encode() for line in lines))
        return {"blank.csv" if blank else "answers.csv": marked}
    if importlib.util.find_spec("reportlab") is None:
        raise UsageError("a PDF needs reportlab", 'pip install "hipo[review]"')
    from quality.review.export_pdf import write_pdf  # noqa: PLC0415 - optional

    return {"form.pdf": [write_pdf(scheme, study, dialogues)]}


def _as_array(rows: Iterable[object]) -> Iterator[bytes]:
    """Yield a JSON array with indentation, row by row: all of them need not be in memory."""
    before = b"["
    for row in rows:
        # Of an array of one, what stands between "[" and "\n]".
        yield before + orjson.dumps([row], option=orjson.OPT_INDENT_2)[1:-2]
        before = b","
    yield b"[]" if before == b"[" else b"\n]"


def _read(file: Path) -> str:
    data = read_bytes(file, LARGEST)
    wide = in_utf16(data)
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{file}:{line}: found letters in another encoding than UTF-8",
            "save it as UTF-8; Excel calls that CSV UTF-8",
        ) from error
