"""Read an evaluation from its folder, and write its figures, its page and its pictures."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson

from outputs.evaluation.classes import confusion_plots
from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.evaluation_page import evaluation_page
from outputs.evaluation.leaderboard import accuracy_plot
from outputs.evaluation.shown_examples import chosen_examples
from outputs.evaluation.unfolding import unfolding_plots
from outputs.plots.canvas import standalone
from outputs.report.page import render_page
from quality.evaluation.clustering import RESAMPLING
from quality.evaluation.evaluation_record import EvaluationRecord, read_record
from quality.evaluation.result_row import RESULTS, Mark, ResultRow, read_results
from quality.evaluation.scores import EvaluationScores
from quality.evaluation.scoring_results import score_results
from quality.evaluation.shown_items import read_items
from quality.statistics.bootstrap import Resampling
from scenarios.atomic_files import write_text
from scenarios.errors import InputError, Problem, UsageError
from scenarios.text_file import typed_path

SCORES = "scores.json"
PAGE = "index.html"
PLOTS = "plots"
_PUT_BACK = "put the file back that hipo evaluate wrote here, or give the folder it is from"
_LONGEST = 60
"""Characters of a model's name, of a task or a label in the name of a file."""


@dataclass(frozen=True, slots=True)
class WrittenEvaluation:
    """What was written about an evaluation."""

    page: Path
    scores: Path
    plots: tuple[Path, ...]
    evaluated: Evaluated


def write_evaluation(folder: Path, version: str, how: Resampling = RESAMPLING) -> WrittenEvaluation:
    """Score the rows of an evaluation anew, and write figures, page and pictures beside them.

    Args:
        folder: of the evaluation; holds record, rows of results and items.
        version: of the code, for the footer.
        how: how intervals are bootstrapped.

    Raises:
        UsageError: it holds no evaluation, or rows of another set.
        InputError: a file of it is damaged.
    """
    evaluated = score_evaluation(folder, how)
    plain = orjson.dumps(evaluated.scores.to_dict(), option=orjson.OPT_INDENT_2)
    write_text(folder / SCORES, plain.decode() + "\n")
    plots = _write_plots(folder / PLOTS, evaluated.shown)
    write_text(folder / PAGE, render_page(evaluation_page(evaluated.shown, version)))
    return WrittenEvaluation(folder / PAGE, folder / SCORES, plots, evaluated)


def score_evaluation(folder: Path, how: Resampling = RESAMPLING) -> Evaluated:
    """Read an evaluation, compute its figures, and choose the items to show.

    Raises:
        UsageError: the folder holds no evaluation, or rows of another set.
        InputError: a file of it is damaged.
    """
    record = read_record(folder)
    rows = sorted_results(folder, record)
    examples = chosen_examples(rows, partial(read_items, folder))
    scores = _scores(rows, record, how)
    return Evaluated(record, scores, examples, _marks(rows))


def read_evaluation(folder: Path) -> Evaluated:
    """Read an evaluation with the figures that stand beside it, and without items to show.

    Figures that are missing, or older than the rows, are computed.

    Raises:
        UsageError: the folder holds no evaluation, or rows of another set.
        InputError: a file of it is damaged.
    """
    record = read_record(folder)
    rows = sorted_results(folder, record)
    file = folder / SCORES
    if not file.exists() or file.stat().st_mtime_ns < (folder / RESULTS).stat().st_mtime_ns:
        scores = _scores(rows, record)
        return Evaluated(record, scores, marks=_marks(rows))
    try:
        data = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        found = f"what is no JSON ({error})"
        hint = f"hipo evaluate report {typed_path(folder)} writes it anew"
        raise InputError([Problem(str(file), None, "", found, "a JSON object", hint)]) from error
    scores = EvaluationScores.from_dict(data, source=str(file))
    return Evaluated(record, scores, marks=_marks(rows))


def _scores(
    rows: Iterable[ResultRow], record: EvaluationRecord, how: Resampling = RESAMPLING
) -> EvaluationScores:
    asked = record.set
    return score_results(
        rows,
        asked.labels,
        several=asked.several,
        drawn=asked.drawn,
        planned={(task.id, task.mode): task.items * task.draws for task in record.tasks},
        how=how,
    )


def results_of(folder: Path, record: EvaluationRecord) -> Iterator[ResultRow]:
    """Yield the rows of an evaluation.

    Raises:
        UsageError: a row is about another set, or of another scheme, than the record; or an answer
            stands there twice, which would count it twice.
        InputError: a row is damaged.
    """
    seen: set[tuple[str, str, str, str, int, int]] = set()
    for number, row in enumerate(read_results(folder), 1):
        if row.set != record.set.fingerprint:
            raise UsageError(
                f"{folder / RESULTS}:{number}: is about another set: its items are those of "
                f"{row.set or 'no set'}, this evaluation is of {record.set.fingerprint} "
                f"({record.set.name})",
                _PUT_BACK,
            )
        answer = (row.item, row.task, row.mode, row.model, row.draw, row.repeat)
        if answer in seen:
            raise UsageError(
                f"{folder / RESULTS}:{number}: the answer of {row.model} about {row.item} stands "
                f"there twice ({row.task}, {row.mode}, draw {row.draw}, repeat {row.repeat})",
                _PUT_BACK,
            )
        seen.add(answer)
        yield row


def sorted_results(folder: Path, record: EvaluationRecord) -> list[ResultRow]:
    """Return the rows of an evaluation in one order, whatever order they were answered in.

    Raises:
        UsageError: as of :func:`results_of`.
        InputError: as of :func:`results_of`.
    """
    tasks = [(task.id, task.mode) for task in record.tasks]
    models = [model.name for model in record.models]
    places: dict[object, int] = {name: n for n, name in enumerate((*tasks, *models))}

    def place(row: ResultRow) -> tuple[int, int, str, int, int]:
        task = places.get((row.task, row.mode), len(places))
        return task, places.get(row.model, len(places)), row.item, row.draw, row.repeat

    return sorted(results_of(folder, record), key=place)


def _marks(rows: Sequence[ResultRow]) -> dict[str, tuple[Mark, ...]]:
    """Return by model what part it had in the making of the set, as far as it had any."""
    marks: dict[str, dict[Mark, None]] = {}
    for row in rows:
        marks.setdefault(row.model, {}).update(dict.fromkeys(row.marks))
    return {model: tuple(found) for model, found in marks.items() if found}


def _write_plots(folder: Path, evaluated: Evaluated) -> tuple[Path, ...]:
    """Write every picture as a file of its own; those of an earlier page go away.

    Of a link only the link goes away, and nothing is written to where it leads.
    """
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    paths: dict[str, Path] = {}
    for parts, svg in _plots(evaluated):
        plain = "-".join(re.sub(r"[^A-Za-z0-9._]+", "_", part)[-_LONGEST:] for part in parts)
        name, number = plain, 2
        while name.lower() in paths:  # some file systems do not tell A from a
            name, number = f"{plain}-{number}", number + 1
        paths[name.lower()] = folder / f"{name}.svg"
        write_text(paths[name.lower()], standalone(svg))
    return tuple(paths.values())


def _plots(evaluated: Evaluated) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every picture with the parts of its name."""
    for task in evaluated.tasks:
        for dimension in evaluated.dimensions(task.id):
            what = (task.id, dimension)
            yield ("accuracy", *what), accuracy_plot(evaluated, task.id, dimension).svg
            for mode, plot in unfolding_plots(evaluated, task.id, dimension).items():
                yield ("by_turn", *what, mode), plot.svg
            for view in evaluated.references(task.id, dimension):
                found = confusion_plots(evaluated, task.id, dimension, view)
                for one, plot in found.items():
                    yield ("confusion", *what, view.name, one.model, one.mode), plot.svg
